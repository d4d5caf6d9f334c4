// Opening recordings, as the shown source or as a ghost. Errors are shown as notices.
import { reasonOf } from "../net/connection";
import { showLive } from "../state/run";
import { ghosts, select, showNotice, source } from "../state/store";
import { GhostSource } from "./ghost";
import { InvalidRecording } from "./mcap";
import { Recording } from "./recording";
import { RecordingSource } from "./source";

export { GhostSource, RecordingSource };

const KEPT_GHOSTS = 4;

/** Show a recording or add it as a ghost; never rejects, errors become notices. */
export async function openRecording(file: Blob & { name?: string }, as: "main" | "ghost" = "main"): Promise<void> {
  const name = file.name ?? "recording";
  try {
    const recording = await Recording.open(file);
    if (as === "main") showRecording(name, recording);
    else addGhost(name, recording);
    if (!recording.complete) showNotice("warning", `${name} is truncated; showing the readable part`);
  } catch (error) {
    showNotice(
      "error",
      `${name} ${error instanceof InvalidRecording ? error.message : `cannot be read: ${reasonOf(error)}`}`,
    );
  }
}

/** Return to the server's run. */
export function closeRecording(): void {
  const shown = source.peek();
  select([]);
  showLive();
  if (shown instanceof RecordingSource) shown.close();
}

export function removeGhost(ghost: GhostSource): void {
  ghosts.value = ghosts.value.filter((other) => other !== ghost);
  ghost.close();
}

function showRecording(name: string, recording: Recording): void {
  const before = source.peek();
  const opened = new RecordingSource(name, recording, damageTeller(name));
  opened.answerColumnRequests();
  select([]); // its ids belong to other vehicles
  source.value = opened;
  if (before instanceof RecordingSource) before.close();
}

function addGhost(name: string, recording: Recording): void {
  const ghost = new GhostSource(name, recording, damageTeller(name));
  const kept = ghosts.value.slice(1 - KEPT_GHOSTS);
  for (const other of ghosts.value) if (!kept.includes(other)) other.close();
  ghosts.value = [...kept, ghost];
}

/** Report damage once, not for each chunk. */
function damageTeller(name: string): (from: number, to: number) => void {
  let reported = false;
  return (from, to) => {
    if (reported) return;
    reported = true;
    showNotice("warning", `${name} is damaged: at least ${from.toFixed(1)} s to ${to.toFixed(1)} s cannot be shown`);
  };
}
