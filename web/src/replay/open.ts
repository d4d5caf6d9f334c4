// Opening recordings: as what the page shows, or as a ghost over it. What is wrong is told in one line.
import { reasonOf } from "../net/rpc";
import { showLive } from "../state/run";
import { ghosts, select, source, tell } from "../state/store";
import { GhostSource } from "./ghost";
import { NotARecording } from "./mcap";
import { Recording } from "./recording";
import { RecordingSource } from "./source";

export { GhostSource, RecordingSource };

const KEPT_GHOSTS = 4;

/** Show a file that was recorded, or add it as a ghost; never rejects: the person is told what is wrong. */
export async function openRecording(file: Blob & { name?: string }, as: "main" | "ghost" = "main"): Promise<void> {
  const name = file.name ?? "recording";
  try {
    const recording = await Recording.open(file);
    if (as === "main") showRecording(name, recording);
    else addGhost(name, recording);
    if (!recording.complete) tell("warning", `${name} was cut off: it is shown as far as it goes`);
  } catch (error) {
    tell("error", `${name} ${error instanceof NotARecording ? error.message : `cannot be read: ${reasonOf(error)}`}`);
  }
}

/** Back to what the server shows. */
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
  opened.answerWishes();
  select([]); // its ids are others'
  source.value = opened;
  if (before instanceof RecordingSource) before.close();
}

function addGhost(name: string, recording: Recording): void {
  const ghost = new GhostSource(name, recording, damageTeller(name));
  const kept = ghosts.value.slice(1 - KEPT_GHOSTS);
  for (const other of ghosts.value) if (!kept.includes(other)) other.close();
  ghosts.value = [...kept, ghost];
}

/** Tells once that something is damaged, not for every chunk. */
function damageTeller(name: string): (from: number, to: number) => void {
  let told = false;
  return (from, to) => {
    if (told) return;
    told = true;
    tell("warning", `${name} is damaged: at least ${from.toFixed(1)} s to ${to.toFixed(1)} s cannot be shown`);
  };
}
