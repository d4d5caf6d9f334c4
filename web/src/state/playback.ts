// A playhead that a person moves: play at any speed, seek, pause. The buffer and opened recordings share it.
import { type ReadonlySignal, signal } from "@preact/signals";
import type { Timeline } from "./source";

export class Playback implements Timeline {
  readonly position = signal(0);
  readonly playing = signal(false);
  readonly speed = signal(1);
  private looked: number | null = null; // ms

  constructor(
    readonly start: ReadonlySignal<number>,
    readonly end: ReadonlySignal<number>,
  ) {}

  seek(time: number): void {
    this.position.value = this.within(time);
  }

  play(): void {
    const [first, last] = this.speed.peek() < 0 ? [this.end, this.start] : [this.start, this.end];
    if (this.position.peek() === last.peek()) this.seek(first.peek());
    this.looked = null;
    this.playing.value = true;
  }

  pause(): void {
    this.playing.value = false;
  }

  setSpeed(speed: number): void {
    if (Number.isFinite(speed) && speed !== 0) this.speed.value = speed;
  }

  /** Where it is at a moment of performance.now(), s. */
  advance(now: number): number {
    const passed = this.looked === null ? 0 : Math.max(now - this.looked, 0) / 1000;
    this.looked = now;
    const wanted = this.position.peek() + (this.playing.peek() ? passed * this.speed.peek() : 0);
    const reached = this.within(wanted);
    this.position.value = reached;
    if (this.playing.peek() && reached !== wanted) this.playing.value = false; // at the end, or at the start backwards
    return reached;
  }

  private within(time: number): number {
    return Math.min(Math.max(time, this.start.peek()), this.end.peek());
  }
}
