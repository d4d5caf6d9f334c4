// The live run's buffer: its last minutes, thinned out when large.
import { signal } from "@preact/signals";
import type { Frame } from "../wire/frame";

const MOST_BYTES = 256e6;
const MOST_SECONDS = 600; // simulated
const OVERHEAD = 400; // bytes of a frame besides its arrays

export class History {
  readonly start = signal(0); // simulated s
  readonly end = signal(0);
  /** Called after everything was dropped. */
  cleared: () => void = () => {};
  private frames: Frame[] = [];
  private bytes = 0;

  constructor(
    private readonly mostBytes = MOST_BYTES,
    private readonly mostSeconds = MOST_SECONDS,
  ) {}

  get length(): number {
    return this.frames.length;
  }

  get size(): number {
    return this.bytes;
  }

  /** Add a frame; a frame of another run or an earlier time clears the buffer first. */
  add(frame: Frame): void {
    const last = this.frames.at(-1);
    if (last !== undefined && (last.run !== frame.run || frame.tick < last.tick)) this.clear();
    else if (last !== undefined && last.tick === frame.tick) this.drop(this.frames.length - 1); // same time as the last frame
    this.frames.push(frame);
    this.bytes += sizeOf(frame);
    this.forget(frame.time);
    this.start.value = this.frames[0]?.time ?? 0;
    this.end.value = frame.time;
  }

  clear(): void {
    this.frames = [];
    this.bytes = 0;
    this.cleared();
  }

  /** All frames of one run, oldest first. */
  all(): readonly Frame[] {
    return this.frames;
  }

  /** The last frame at or before a time and the next one; the same frame twice at the ends. */
  around(time: number): [Frame, Frame] | null {
    const first = this.frames[0];
    if (first === undefined) return null;
    const at = this.indexBefore(time);
    const from = this.frames[at] ?? first;
    return [from, time <= from.time ? from : (this.frames[at + 1] ?? from)];
  }

  /** Frames from one time to another, at most so far as they are kept; oldest first. */
  between(from: number, to: number): readonly Frame[] {
    const last = this.indexBefore(to);
    let first = last;
    while (first > 0 && (this.frames[first - 1] as Frame).time >= from) first -= 1;
    return this.frames.slice(first, last + 1);
  }

  private indexBefore(time: number): number {
    let low = 0;
    let high = this.frames.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.frames[middle] as Frame).time <= time) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  private forget(now: number): void {
    while (this.frames.length > 2 && (this.frames[0] as Frame).time < now - this.mostSeconds) this.drop(0);
    while (this.frames.length > 2 && this.bytes > this.mostBytes) this.drop(this.leastMissed(now));
  }

  /**
   * The frame whose removal leaves the smallest gap relative to its age: old data gets coarse, recent data stays fine.
   */
  private leastMissed(now: number): number {
    let best = 1;
    let least = Number.POSITIVE_INFINITY;
    for (let k = 1; k < this.frames.length - 1; k++) {
      const time = (this.frames[k] as Frame).time;
      const gap = (this.frames[k + 1] as Frame).time - (this.frames[k - 1] as Frame).time;
      const missed = gap / (now - time + 1);
      if (missed < least) [best, least] = [k, missed];
    }
    return best;
  }

  private drop(at: number): void {
    const [frame] = this.frames.splice(at, 1);
    if (frame !== undefined) this.bytes -= sizeOf(frame);
  }
}

/** The poses keep the memory of the whole message alive. */
function sizeOf(frame: Frame): number {
  return frame.columns.reduce((sum, { values }) => sum + values.byteLength, OVERHEAD + frame.poses.buffer.byteLength);
}
