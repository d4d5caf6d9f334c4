// Ghosts on the strip: which recordings lie over what is shown, how far they are, and how they are shifted in time.
import type { GhostSource } from "../replay/ghost";
import { reasonOf } from "../state/caller";
import type { FrameSource } from "../state/source";
import { focus, ghosts, tell } from "../state/store";
import { Button } from "./parts";

/** Let the person choose a recording to compare with. */
export function chooseGhost(): void {
  const input = document.createElement("input");
  input.type = "file";
  input.accept = ".mcap";
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    if (file !== undefined) void openGhost(file);
  });
  input.click();
}

async function openGhost(file: File): Promise<void> {
  try {
    await (await import("../replay/open")).openRecording(file, "ghost");
  } catch (error) {
    tell("error", `${file.name} cannot be opened: ${reasonOf(error)}`);
  }
}

export function GhostRows() {
  const shown = ghosts.value.filter(isGhost);
  if (shown.length === 0) return null;
  return (
    <div class="timeline-ghosts">
      {shown.map((ghost, k) => (
        <GhostRow key={`${k} ${ghost.label}`} ghost={ghost} />
      ))}
    </div>
  );
}

function isGhost(source: FrameSource): source is GhostSource {
  return "gap" in source;
}

function GhostRow({ ghost }: { ghost: GhostSource }) {
  const remove = () => void import("../replay/open").then((module) => module.removeGhost(ghost));
  return (
    <div class="timeline-ghost" role="group" aria-label={`Ghost ${ghost.label}`}>
      <span class="ellipsis" title={ghost.label}>
        {ghost.label}
        {ghost.standing.value !== "" && <span class="faint"> ({ghost.standing.value})</span>}
      </span>
      <label>
        <span class="faint">shifted by</span>
        <input
          type="number"
          class="field small"
          step={0.1}
          aria-label={`s by which ${ghost.label} is ahead`}
          value={ghost.offset.value}
          onInput={({ currentTarget }) => shift(ghost, currentTarget.valueAsNumber)}
        />
        <span class="faint">s</span>
      </label>
      <GapWords ghost={ghost} />
      <Button look="bare small" icon="close" label={`Remove the ghost ${ghost.label}`} onClick={remove} />
    </div>
  );
}

function shift(ghost: GhostSource, seconds: number): void {
  if (Number.isFinite(seconds)) ghost.offset.value = seconds;
}

function GapWords({ ghost }: { ghost: GhostSource }) {
  const gap = ghost.gap.value;
  if (ghost.standing.value !== "") return null; // it stands: how far it is says nothing
  const nothing = focus.value === null ? "select a vehicle to compare" : "not in this ghost";
  if (gap === null) return <span class="faint">{nothing}</span>;
  const seconds = gap.seconds;
  const way = seconds === null ? "" : `${Math.abs(seconds).toFixed(2)} s ${seconds >= 0 ? "behind" : "ahead"}`;
  return (
    <span class="number" title="From the selected vehicle to the one of the same name in the ghost">
      {gap.distance.toFixed(2)} m{way === "" ? "" : `, ${way}`}
    </span>
  );
}
