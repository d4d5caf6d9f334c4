// The run of the server: live frames, buffer, and the sources made of them.
import { signal } from "@preact/signals";
import type { Frame } from "../wire/frame";
import type { RecordingTree, RosterTree } from "../wire/schema";
import { clockFromFrame } from "./clock";
import { colourFrame } from "./colouring";
import { deliver } from "./columns";
import { clearEvents, events } from "./events";
import { History } from "./history";
import { MarkerBoard } from "./markers";
import { Roster, RosterBook } from "./roster";
import { type FrameSource, Playback, type Sample, ServedTimeline, type Timeline } from "./source";
import { clock, source } from "./store";

const after = new Set<() => void>();
let count = 0;

/** A source says that it was looked at for a drawing. */
export function drew(): void {
  count += 1;
  for (const callback of after) callback();
}

export function onDrawn(callback: () => void): () => void {
  after.add(callback);
  return () => after.delete(callback);
}

/** Pictures since the page was opened. */
export function pictures(): number {
  return count;
}

// live frames --------------------------------------------------------------------------------------------------------

const KEPT = 4; // frames: the playhead may be two of them behind
const PAUSE_MS = 1000; // a longer gap is not glided over
const SOFTLY_MS = 250; // within which the playhead gets to where it should be
const LEARN = 0.2; // share of a new measurement

export class LiveFrames {
  readonly roster = signal(Roster.empty);
  /** Whether time stands still; then the last frame is shown exactly. */
  paused: () => boolean = () => false;
  /** After each drawing. */
  drawn: () => void = () => {};
  private frames: Frame[] = [];
  private arrived = 0; // ms, of the last frame
  private period = 1000 / 30; // ms between frames
  private jitter = 0; // ms, how much that differs
  private factor = 1; // simulated s per s
  private playhead = 0; // simulated s
  private looked = 0; // ms, of the last sample
  private broken = false;

  constructor(private readonly book: RosterBook) {}

  get newest(): Frame | undefined {
    return this.frames.at(-1);
  }

  /** Take the next frame; false when it does not fit the roster that it names. */
  push(frame: Frame, now: number): boolean {
    const roster = this.book.get(frame.roster);
    if (roster === undefined || roster.size !== frame.count) return false;
    const last = this.newest;
    const gap = now - this.arrived;
    const smooth = !this.broken && gap < PAUSE_MS && last !== undefined && follows(last, frame);
    if (smooth) this.learn(last, frame, gap);
    else this.jump(frame);
    this.arrived = now;
    this.frames.push(frame);
    if (this.frames.length > KEPT) this.frames.shift();
    this.roster.value = roster;
    return true;
  }

  /** What comes next does not continue what is shown. */
  breakOff(): void {
    this.broken = true;
  }

  sample(now: number): Sample | null {
    const last = this.newest;
    if (last === undefined) return null;
    this.advance(last, now);
    const sample = this.around(this.playhead);
    this.drawn();
    return sample;
  }

  private jump(frame: Frame): void {
    this.frames = [];
    this.playhead = frame.time;
    this.broken = false;
  }

  private learn(last: Frame, frame: Frame, gap: number): void {
    this.jitter += LEARN * (Math.abs(gap - this.period) - this.jitter);
    this.period += LEARN * (gap - this.period);
    const wall = frame.wall - last.wall; // as published: the way here makes it uneven
    if (wall > 0.001) this.factor += LEARN * ((frame.time - last.time) / wall - this.factor);
  }

  private advance(last: Frame, now: number): void {
    const passed = Math.max(now - this.looked, 0);
    this.looked = now;
    if (this.paused()) {
      this.playhead = last.time;
      return;
    }
    const delay = this.period + Math.min(2 * this.jitter, this.period); // else every late frame would be a halt
    const wanted = last.time + ((now - this.arrived - delay) / 1000) * this.factor;
    const next = this.playhead + (passed / 1000) * this.factor;
    const better = next + (wanted - next) * Math.min(passed / SOFTLY_MS, 1);
    const first = this.frames[0] as Frame;
    this.playhead = Math.min(Math.max(better, this.playhead, first.time), last.time);
  }

  private around(time: number): Sample {
    let at = this.frames.length - 1;
    while (at > 1 && (this.frames[at - 1] as Frame).time >= time) at -= 1;
    const to = this.frames[at] as Frame;
    const from = this.frames[Math.max(at - 1, 0)] as Frame;
    if (time >= to.time || from === to) return { from: to, to, mix: 1 };
    return { from, to, mix: Math.max((time - from.time) / (to.time - from.time), 0) };
  }
}

/** Whether there may be motion between them. */
function follows(before: Frame, after: Frame): boolean {
  return before.run === after.run && before.roster === after.roster && after.time > before.time;
}

// run ----------------------------------------------------------------------------------------------------------------

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

/** A known number with other vehicles belongs to another server. */
export function enterRoster(tree: RosterTree): void {
  if (!book.put(tree)) runRestarted();
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
