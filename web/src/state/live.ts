// The present of the run: frames as they arrive, shown about one frame late so that motion between them is smooth.
import { signal } from "@preact/signals";
import type { Frame } from "./frame";
import { Roster } from "./roster";
import type { RosterBook } from "./rosters";
import type { Sample } from "./source";

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
