// Chunks that are in memory: those wanted most are read first, those not looked at for longest go first.
import type { LoadedChunk } from "./loaded";

const BUDGET = 384 * 2 ** 20; // bytes
const AT_ONCE = 3; // chunks being read

export class ChunkCache {
  private readonly loaded = new Map<number, LoadedChunk>(); // the one looked at last comes last
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
    const found = this.loaded.get(chunk);
    if (found !== undefined) {
      this.loaded.delete(chunk);
      this.loaded.set(chunk, found);
    }
    return found;
  }

  all(): Iterable<LoadedChunk> {
    return this.loaded.values();
  }

  /** Whether nothing more will come of a chunk. */
  settled(chunk: number): boolean {
    return this.loaded.has(chunk) || this.failed.has(chunk);
  }

  hasFailed(chunk: number): boolean {
    return this.failed.has(chunk);
  }

  /** Which chunks are to be read, the most wanted first; those wanted before and not named any more are not. */
  want(chunks: readonly number[]): void {
    this.wanted = chunks;
    this.readNext();
  }

  /** Resolves when another chunk has come, or failed. */
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
      if (this.reading.size >= AT_ONCE) return;
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
