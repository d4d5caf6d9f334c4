// Time of a recording that the server plays: moving in it is asked of the server.
import { computed, signal } from "@preact/signals";
import type { RecordingTree } from "../net/schema";
import { ask, reasonOf } from "./caller";
import { clockJumped, pause, play, setPace } from "./clock";
import type { Timeline } from "./source";
import { clock, tell } from "./store";

const OFTEN = 1 / 30; // s between samples, until they tell

export class ServedTimeline implements Timeline {
  readonly start;
  readonly end;
  readonly position = computed(() => clock.value.time);
  readonly playing = computed(() => !clock.value.paused);
  readonly speed = computed(() => clock.value.pace);
  private last = Number.NaN; // simulated s of the last frame
  private period = Number.POSITIVE_INFINITY; // s between samples
  private stepped = Number.NaN; // where the last step began, simulated s
  private reach = 0; // s, of the last step on
  private seeking = false;
  private next: number | null = null; // where to go when the server is there

  /** `jumped`: what is shown does not go on smoothly. */
  constructor(
    { start, duration }: RecordingTree,
    private readonly jumped: () => void,
  ) {
    this.start = signal(start);
    this.end = signal(start + duration);
  }

  /** While a slider is dragged only the newest place is asked for. */
  seek(time: number): void {
    this.next = Math.min(Math.max(time, this.start.value), this.end.value) - this.start.value;
    if (!this.seeking) void this.goThere();
  }

  play(): void {
    void play();
  }

  pause(): void {
    if (this.playing.peek()) void pause(); // else its answer would tell where it stood before a jump
  }

  setSpeed(speed: number): void {
    void setPace(speed);
  }

  /** A frame of it has come: the smallest step seen is how far samples are apart. */
  saw(time: number): void {
    const step = time - this.last;
    const plays = !clock.peek().paused && !this.seeking; // else it was a jump
    if (plays && step > 1e-6) this.period = Math.min(this.period, step);
    this.last = plays ? time : Number.NaN;
  }

  /** To the next sample, or the one before; the server shows the last one that is not after a time. */
  step(way: 1 | -1): void {
    const now = this.position.peek();
    const between = Number.isFinite(this.period) ? this.period : OFTEN;
    // where a step led nowhere, samples are farther apart than was thought
    this.reach = way > 0 && now === this.stepped ? 2 * this.reach : 1.01 * between;
    this.stepped = now;
    this.seek(now + (way > 0 ? this.reach : -1e-4));
  }

  private async goThere(): Promise<void> {
    this.seeking = true;
    while (this.next !== null) {
      const position = this.next;
      this.next = null;
      this.jumped();
      clockJumped();
      await ask("seek", { position }).catch((error: unknown) => tell("error", reasonOf(error)));
    }
    this.seeking = false;
  }
}
