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
import { Roster, RosterIndex } from "./roster";
import { type FrameSource, Playback, type Sample, ServedTimeline, type Timeline } from "./source";
import { clock, source } from "./store";

const after = new Set<() => void>();
let count = 0;

/** Called by a source when it is sampled for drawing. */
export function markDrawn(): void {
  count += 1;
  for (const callback of after) callback();
}

export function onDrawn(callback: () => void): () => void {
  after.add(callback);
  return () => after.delete(callback);
}

/** Drawn frames since the page was opened. */
export function drawnCount(): number {
  return count;
}

// live frames --------------------------------------------------------------------------------------------------------

const KEPT = 4; // frames: the playhead may be two frames behind
const PAUSE_MS = 1000; // motion is not interpolated over longer gaps
const SOFTLY_MS = 250; // time constant for correcting the playhead
const LEARN = 0.2; // weight of a new measurement

export class LiveFrames {
  readonly roster = signal(Roster.empty);
  /** While paused the last frame is shown exactly. */
  paused: () => boolean = () => false;
  /** Called after each drawing. */
  drawn: () => void = () => {};
  private frames: Frame[] = [];
  private arrived = 0; // ms, of the last frame
  private period = 1000 / 30; // ms between frames
  private jitter = 0; // ms, deviation of the period
  private factor = 1; // simulated s per s
  private playhead = 0; // simulated s
  private looked = 0; // ms, of the last sample
  private broken = false;

  constructor(private readonly book: RosterIndex) {}

  get newest(): Frame | undefined {
    return this.frames.at(-1);
  }

  /** Add a frame; return false if it does not match its roster. */
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

  /** The next frame does not continue the motion. */
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
    const wall = frame.wall - last.wall; // publication time: transmission adds jitter
    if (wall > 0.001) this.factor += LEARN * ((frame.time - last.time) / wall - this.factor);
  }

  private advance(last: Frame, now: number): void {
    const passed = Math.max(now - this.looked, 0);
    this.looked = now;
    if (this.paused()) {
      this.playhead = last.time;
      return;
    }
    const delay = this.period + Math.min(2 * this.jitter, this.period); // otherwise each late frame would stop the motion
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

/** Whether motion between the frames can be interpolated. */
function follows(before: Frame, after: Frame): boolean {
  return before.run === after.run && before.roster === after.roster && after.time > before.time;
}

// run ----------------------------------------------------------------------------------------------------------------

export const rosters = new RosterIndex();
export const frames = new LiveFrames(rosters);
export const history = new History();
export const markers = new MarkerBoard();
const playback = new Playback(history.start, history.end);
const bufferRoster = signal(Roster.empty);
const EXPIRE_EVERY = 100; // ms
let expiredAt = 0;

frames.paused = () => clock.peek().paused;
frames.drawn = markDrawn;

// sources -------------------------------------------------------------------------------------------------------------

function present(kind: "live" | "recording", label: string, timeline: Timeline | null): FrameSource {
  let last: { now: number; sample: Sample | null } | null = null;
  const sample = (now: number) => {
    if (last?.now !== now) last = { now, sample: frames.sample(now) }; // ghosts sample again for the same drawing
    return last.sample;
  };
  return { label, kind, roster: frames.roster, markers, events, timeline, sample, close: () => {} };
}

let current = present("live", "live", null);
let moving: ServedTimeline | null = null; // timeline of a recording played by the server
let served = ""; // path of a recording played by the server

/** The live run's last minutes. */
const buffer: FrameSource = {
  label: "buffer",
  kind: "buffer",
  roster: bufferRoster,
  markers,
  events,
  timeline: playback,
  sample: sampleBuffer,
  close: () => showLive(),
};

/** Show the server's current frames. */
export function showLive(): void {
  playback.pause();
  source.value = current;
}

/** Show the buffer at a simulated time, or at its end. */
export function showBuffer(time = history.end.peek()): Timeline {
  playback.seek(time);
  if (history.length > 0) source.value = buffer;
  return playback;
}

/** Show what the server plays: a recording has a timeline, a live run does not. */
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
  markDrawn();
  const samples = history.around(time);
  if (samples === null) return null;
  const [from, to] = samples;
  bufferRoster.value = rosters.get(from.roster) ?? Roster.empty;
  if (from === to || from.roster !== to.roster) return { from, to: from, mix: 1 };
  return { from, to, mix: Math.min((time - from.time) / (to.time - from.time), 1) };
}

/** Whether the server responds to column requests; a recording opened in the page responds itself. */
export function serverProvidesColumns(): boolean {
  const shown = source.value;
  return shown === null || shown === current || shown === buffer;
}

// what arrives --------------------------------------------------------------------------------------------------------

/** Take an arrived frame; return false if it does not match its roster. */
export function takeFrame(frame: Frame, now: number): boolean {
  if (!frames.push(frame, now)) return false;
  clockFromFrame(frame, now);
  if (moving === null) history.add(frame);
  else moving.observe(frame.time);
  if (now - expiredAt >= EXPIRE_EVERY) {
    expiredAt = now;
    markers.expire(frame.time);
  }
  if (serverProvidesColumns()) {
    deliver(frame);
    colourFrame(frame);
  }
  return true;
}

/** A known number with other vehicles belongs to another server. */
export function enterRoster(tree: RosterTree): void {
  if (!rosters.put(tree)) runRestarted();
}

/** Time jumped: drop the buffer and the events. */
export function runRestarted(): void {
  history.clear();
  clearEvents();
}

/** The buffer is gone. */
history.cleared = () => {
  if (source.peek() === buffer) showLive();
};
