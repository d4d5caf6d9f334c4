// Frames around the playback position: chunks are read ahead and evicted least recently used first.
import type { Sample } from "../state/source";
import type { Frame } from "../wire/frame";
import type { LoadedChunk } from "./columns";
import type { Recording } from "./recording";

const BUDGET = 384 * 2 ** 20; // bytes
const MAX_CONCURRENT = 3; // concurrent reads

class ChunkCache {
  private readonly loaded = new Map<number, LoadedChunk>(); // most recently used last
  private readonly reading = new Set<number>();
  private readonly failed = new Set<number>();
  private wanted: readonly number[] = [];
  private waiters: (() => void)[] = [];

  constructor(
    private readonly read: (chunk: number) => Promise<LoadedChunk>,
    private readonly onFailure: (chunk: number) => void,
    private readonly budget = BUDGET,
  ) {}

  get(chunk: number): LoadedChunk | undefined {
    const frames = this.loaded.get(chunk);
    if (frames !== undefined) {
      this.loaded.delete(chunk);
      this.loaded.set(chunk, frames);
    }
    return frames;
  }

  all(): Iterable<LoadedChunk> {
    return this.loaded.values();
  }

  /** Whether a chunk is loaded or has failed. */
  settled(chunk: number): boolean {
    return this.loaded.has(chunk) || this.failed.has(chunk);
  }

  hasFailed(chunk: number): boolean {
    return this.failed.has(chunk);
  }

  /** Set the chunks to read, most important first; replaces earlier requests. */
  want(chunks: readonly number[]): void {
    this.wanted = chunks;
    this.readNext();
  }

  /** Resolves when another chunk is loaded or has failed. */
  next(): Promise<void> {
    return new Promise((resolve) => this.waiters.push(resolve));
  }

  clear(): void {
    this.wanted = [];
    this.loaded.clear();
    this.wake();
  }

  private readNext(): void {
    for (const chunk of this.wanted) {
      if (this.reading.size >= MAX_CONCURRENT) return;
      if (!this.settled(chunk) && !this.reading.has(chunk)) void this.readOne(chunk);
    }
  }

  private async readOne(chunk: number): Promise<void> {
    this.reading.add(chunk);
    try {
      this.loaded.set(chunk, await this.read(chunk));
      this.evict();
    } catch {
      this.failed.add(chunk);
      this.onFailure(chunk);
    }
    this.reading.delete(chunk);
    this.wake();
    this.readNext();
  }

  private evict(): void {
    let bytes = 0;
    for (const chunk of this.loaded.values()) bytes += chunk.bytes;
    for (const [number, chunk] of this.loaded) {
      if (bytes <= this.budget) return;
      if (this.wanted.includes(number)) continue;
      this.loaded.delete(number);
      bytes -= chunk.bytes;
    }
  }

  private wake(): void {
    const waiters = this.waiters;
    this.waiters = [];
    for (const waiter of waiters) waiter();
  }
}

// frames -------------------------------------------------------------------------------------------------------------

const AHEAD = 4; // s of real time read ahead, also while paused
const MOST_AHEAD = 40; // chunks; about 10 s of 10,000 vehicles fit the budget

export class FrameCache {
  private readonly cache: ChunkCache;
  private shown: Frame | null = null;

  constructor(
    private readonly recording: Recording,
    onFailure: (chunk: number) => void,
  ) {
    this.cache = new ChunkCache((chunk) => recording.frames(chunk), onFailure);
  }

  /** The frames to show at a time and speed: the nearest available ones until the right ones are loaded. */
  sample(time: number, speed: number): Sample | null {
    const at = this.recording.sampleAt(time);
    this.cache.want(this.wanted(at, time, speed));
    const from = this.frame(at);
    if (from === null) return this.alone(this.nearest(time));
    const to = this.follows(at) ? this.frame(at + 1) : null;
    if (to === null || to.roster !== from.roster || to.run !== from.run) return this.alone(from);
    this.shown = from;
    const [first, last] = [this.time(at), this.time(at + 1)];
    return { from, to, mix: Math.min(Math.max((time - first) / (last - first), 0), 1) };
  }

  /** The frame of a sample once loaded; the previous readable one if it is damaged. */
  async load(at: number): Promise<Frame | null> {
    for (let chunk = this.recording.chunkOf(at); ; chunk = this.readable(chunk)) {
      while (!this.cache.settled(chunk)) {
        this.cache.want([chunk]);
        await this.cache.next();
      }
      if (this.readable(chunk) === chunk) return this.frame(at);
    }
  }

  /** The frame of a sample if loaded. */
  frame(at: number): Frame | null {
    const chunk = this.recording.chunkOf(at);
    return this.cache.get(chunk)?.frames[at - this.recording.firstSample(chunk)] ?? null;
  }

  close(): void {
    this.cache.clear();
  }

  private alone(frame: Frame | null): Sample | null {
    this.shown = frame ?? this.shown;
    return this.shown === null ? null : { from: this.shown, to: this.shown, mix: 0 };
  }

  /** Whether motion between two samples can be interpolated: not over a reset. */
  private follows(at: number): boolean {
    if (at + 1 >= this.recording.times.length) return false;
    return this.recording.sectionAt(this.time(at)) === this.recording.sectionAt(this.time(at + 1));
  }

  private time(at: number): number {
    return this.recording.times[at] ?? 0;
  }

  private wanted(at: number, time: number, speed: number): number[] {
    const { recording } = this;
    const next = Math.min(at + 1, recording.times.length - 1);
    const chunks = [this.readable(recording.chunkOf(at)), this.readable(recording.chunkOf(next))];
    const goal = recording.chunkOf(recording.sampleAt(time + (speed || 1) * AHEAD));
    const step = speed < 0 ? -1 : 1;
    for (let k = 1; k <= MOST_AHEAD; k++) {
      const chunk = (chunks[0] as number) + step * k;
      // one chunk beyond, so that the next one is always loaded
      if (chunk < 0 || chunk >= recording.chunks || step * (chunk - goal) > 1) break;
      if (recording.holds(chunk, "state")) chunks.push(chunk);
    }
    return [...new Set(chunks)];
  }

  /** A chunk, or the last one before it that is not damaged. */
  private readable(chunk: number): number {
    let before = chunk;
    while (before >= 0 && (this.cache.hasFailed(before) || !this.recording.holds(before, "state"))) before -= 1;
    return before < 0 ? chunk : before;
  }

  private nearest(time: number): Frame | null {
    let best: Frame | null = null;
    let least = Number.POSITIVE_INFINITY;
    for (const chunk of this.cache.all()) {
      const first = this.recording.firstSample(chunk.number);
      chunk.frames.forEach((frame, k) => {
        const distance = Math.abs(this.time(first + k) - time);
        if (frame !== null && distance < least) [best, least] = [frame, distance];
      });
    }
    return best;
  }
}
