// Time of a recording that the server plays: moving in it is asked of the server.
import { computed, signal } from "@preact/signals";
import type { RecordingTree } from "../net/schema";
import { ask, reasonOf } from "./caller";
import { pause, play, setPace } from "./clock";
import type { Timeline } from "./source";
import { clock, tell } from "./store";

export class ServedTimeline implements Timeline {
  readonly start;
  readonly end;
  readonly position = computed(() => clock.value.time);
  readonly playing = computed(() => !clock.value.paused);
  readonly speed = computed(() => clock.value.pace);
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
    void pause();
  }

  setSpeed(speed: number): void {
    void setPace(speed);
  }

  private async goThere(): Promise<void> {
    this.seeking = true;
    while (this.next !== null) {
      const position = this.next;
      this.next = null;
      this.jumped();
      await ask("seek", { position }).catch((error: unknown) => tell("error", reasonOf(error)));
    }
    this.seeking = false;
  }
}
