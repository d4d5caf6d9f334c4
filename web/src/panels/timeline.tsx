// The timeline below the view, with ghosts.

import { useComputed } from "@preact/signals";
import { connection, reasonOf } from "../net/connection";
import type { GhostSource } from "../replay/ghost";
import { selectFile } from "../state/files";
import { formatCount, formatTime } from "../state/format";
import type { FrameSource } from "../state/source";
import { focus, ghosts, showNotice, source } from "../state/store";
import { backToLive, jumpToEvent, type Mode, modeOf, shownTime, stepSample } from "./timeline-model";
import { TimelineTrack } from "./timeline-track";
import { Button } from "./widgets";

/** Open a recording for comparison. */
async function openGhost(file: File): Promise<void> {
  try {
    await (await import("../replay/open")).openRecording(file, "ghost");
  } catch (error) {
    showNotice("error", `Cannot open ${file.name}: ${reasonOf(error)}`);
  }
}

function GhostRows() {
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
        <span class="faint">offset</span>
        <input
          type="number"
          class="field small"
          step={0.1}
          aria-label={`Offset of ${ghost.label}, s`}
          value={ghost.offset.value}
          onInput={({ currentTarget }) => shift(ghost, currentTarget.valueAsNumber)}
        />
        <span class="faint">s</span>
      </label>
      <GapText ghost={ghost} />
      <Button look="bare small" icon="close" label={`Remove the ghost ${ghost.label}`} onClick={remove} />
    </div>
  );
}

function shift(ghost: GhostSource, seconds: number): void {
  if (Number.isFinite(seconds)) ghost.offset.value = seconds;
}

function GapText({ ghost }: { ghost: GhostSource }) {
  const gap = ghost.gap.value;
  if (ghost.standing.value !== "") return null; // it stands: the gap means nothing
  const nothing = focus.value === null ? "select a vehicle to compare" : "not in this ghost";
  if (gap === null) return <span class="faint">{nothing}</span>;
  const seconds = gap.seconds;
  const way = seconds === null ? "" : `${Math.abs(seconds).toFixed(2)} s ${seconds >= 0 ? "behind" : "ahead"}`;
  return (
    <span class="number" title="Gap between the selected vehicle and the one of the same name in the ghost">
      {gap.distance.toFixed(2)} m{way === "" ? "" : `, ${way}`}
    </span>
  );
}

// timeline -----------------------------------------------------------------------------------------------------------

const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100];
const BACKWARDS = [-0.25, -1, -5];

export function TimelineStrip() {
  const mode = modeOf(source.value);
  return (
    <section class={`timeline ${mode}`} aria-label="Timeline">
      <div class="timeline-row">
        <Playing mode={mode} />
        <TimelineTrack />
        <Readout />
        <Ends mode={mode} />
      </div>
      <GhostRows />
    </section>
  );
}

/**
 * Steps and speed of playback; the top bar plays and pauses. Of the live run only steps back, into its buffer: the space
 * is reserved then, so that the track does not shrink under the pointer.
 */
function Playing({ mode }: { mode: Mode }) {
  const timeline = source.value?.timeline ?? null;
  return (
    <div class="timeline-buttons">
      <span class="mirrored">
        <Button look="bare small" icon="steps" label="Previous event (Page up)" onClick={() => jumpToEvent(-1)} />
        <Button look="bare small" icon="step" label="Previous sample (,)" onClick={() => stepSample(-1)} />
      </span>
      <span class={timeline === null ? "timeline-past reserved" : "timeline-past"}>
        <Button
          look="bare small"
          icon="step"
          label="Next sample (.)"
          disabled={timeline === null}
          onClick={() => stepSample(1)}
        />
        <Button
          look="bare small"
          icon="steps"
          label="Next event (Page down)"
          disabled={timeline === null}
          onClick={() => jumpToEvent(1)}
        />
        <Speed mode={mode} />
      </span>
    </div>
  );
}

function Speed({ mode }: { mode: Mode }) {
  const timeline = source.value?.timeline ?? null;
  const speed = timeline?.speed.value ?? 1;
  const offered = mode === "served" ? SPEEDS : [...BACKWARDS, ...SPEEDS];
  const all = offered.includes(speed) ? offered : [...offered, speed].sort((a, b) => a - b);
  return (
    <select
      class="select small"
      aria-label="Speed"
      title="Speed"
      value={String(speed)}
      disabled={timeline === null}
      onChange={({ currentTarget }) => timeline?.setSpeed(Number(currentTarget.value))}>
      {all.map((choice) => (
        <option key={choice} value={String(choice)}>
          {nameOf(choice)}
        </option>
      ))}
    </select>
  );
}

function nameOf(speed: number): string {
  return speed === 0 ? "max" : `${String(speed).replace("-", "−")}×`;
}

function Readout() {
  const shown = useComputed(() => shownTime(source.value)).value;
  return (
    <output class="timeline-readout number" aria-label="Time shown">
      <span>{formatTime(shown.time)}</span>
      <span class="faint">
        tick {formatCount(shown.tick)}
        {shown.run !== null && `, run ${shown.run}`}
      </span>
    </output>
  );
}

function LiveBadge() {
  const open = connection.value.state === "open";
  return <span class={open ? "timeline-badge" : "timeline-badge off"}>{open ? "live" : "offline"}</span>;
}

function Ends({ mode }: { mode: Mode }) {
  const label = source.value?.label ?? "";
  return (
    <div class="timeline-ends">
      {mode === "served" || mode === "opened" ? (
        <span class="ellipsis timeline-name" title={label}>
          {label}
        </span>
      ) : null}
      {mode !== "served" && (
        <span class="timeline-live">
          {mode === "live" ? (
            <LiveBadge />
          ) : (
            <Button look="small" icon="back" text="Live" label="Back to live" onClick={() => void backToLive()} />
          )}
        </span>
      )}
      <Button
        look="bare small"
        icon="ghost"
        label="Compare with a recording"
        onClick={() => selectFile(".mcap", (file) => void openGhost(file))}
      />
    </div>
  );
}
