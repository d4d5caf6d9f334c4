// The run that the server shows: its frames, its buffer, and the two sources made of them.
import { signal } from "@preact/signals";
import type { RecordingTree } from "../net/schema";
import { clockFromFrame } from "./clock";
import { colourFrame } from "./colouring";
import { deliver } from "./columns";
import { drew } from "./drawn";
import { clearEvents, events } from "./events";
import type { Frame } from "./frame";
import { History } from "./history";
import { LiveFrames } from "./live";
import { MarkerBoard } from "./markers";
import { Playback } from "./playback";
import { Roster } from "./roster";
import { RosterBook } from "./rosters";
import { ServedTimeline } from "./served";
import type { FrameSource, Sample, Timeline } from "./source";
import { clock, source } from "./store";

export const book = new RosterBook();
export const frames = new LiveFrames(book);
export const history = new History();
export const markers = new MarkerBoard();
const playback = new Playback(history.start, history.end);
const bufferRoster = signal(Roster.empty);
const EXPIRE_EVERY = 100; // ms
let expiredAt = 0;

frames.paused = () => clock.peek().paused;
frames.drawn = drew;

// sources -------------------------------------------------------------------------------------------------------------

function present(kind: "live" | "recording", label: string, timeline: Timeline | null): FrameSource {
  let last: { now: number; sample: Sample | null } | null = null;
  const sample = (now: number) => {
    if (last?.now !== now) last = { now, sample: frames.sample(now) }; // ghosts ask again: that is no further drawing
    return last.sample;
  };
  return { label, kind, roster: frames.roster, markers, events, timeline, sample, close: () => {} };
}

let current = present("live", "live", null);
let moving: ServedTimeline | null = null; // the time of a recording that the server plays
let served = ""; // path of the recording that the server plays

/** The live run's last minutes. */
export const buffer: FrameSource = {
  label: "buffer",
  kind: "buffer",
  roster: bufferRoster,
  markers,
  events,
  timeline: playback,
  sample: sampleBuffer,
  close: () => showLive(),
};

/** Show what the server shows now. */
export function showLive(): void {
  playback.pause();
  source.value = current;
}

/** Look back: stands at a simulated time of the buffer, or at its end. */
export function showBuffer(time = history.end.peek()): Timeline {
  playback.seek(time);
  if (history.length > 0) source.value = buffer;
  return playback;
}

/** What the server plays: a recording has a time to move in, a run has not. */
export function showServed(recording: RecordingTree | null): void {
  const path = recording?.path ?? "";
  const shown = source.peek();
  const unchanged = path === served && shown !== null;
  if (unchanged) return;
  const before = current;
  served = path;
  const name = path.split("/").at(-1) ?? path;
  moving = recording && new ServedTimeline(recording, () => frames.breakOff());
  current = recording ? present("recording", name, moving) : present("live", "live", null);
  if (shown === null || shown === before || shown === buffer) showLive();
}

function sampleBuffer(now: number): Sample | null {
  const time = playback.advance(now);
  drew();
  const found = history.around(time);
  if (found === null) return null;
  const [from, to] = found;
  bufferRoster.value = book.get(from.roster) ?? Roster.empty;
  if (from === to || from.roster !== to.roster) return { from, to: from, mix: 1 };
  return { from, to, mix: Math.min((time - from.time) / (to.time - from.time), 1) };
}

/** Whether wishes for columns are the server's to answer: a recording that the page has opened answers by itself. */
export function serverAnswers(): boolean {
  const shown = source.value;
  return shown === null || shown === current || shown === buffer;
}

// what arrives --------------------------------------------------------------------------------------------------------

/** A frame has arrived; false when it does not fit its roster, and is not used. */
export function takeFrame(frame: Frame, now: number): boolean {
  if (!frames.push(frame, now)) return false;
  clockFromFrame(frame, now);
  if (moving === null) history.add(frame);
  else moving.saw(frame.time);
  if (now - expiredAt >= EXPIRE_EVERY) {
    expiredAt = now;
    markers.expire(frame.time);
  }
  if (serverAnswers()) {
    deliver(frame);
    colourFrame(frame);
  }
  return true;
}

/** Time has jumped: nothing that was kept belongs to what comes. */
export function runRestarted(): void {
  history.clear();
  clearEvents();
}

/** What was looked at is no longer there. */
history.cleared = () => {
  if (source.peek() === buffer) showLive();
};
