// Frame sources (live run, buffer, recording) and their timelines. The scene knows only these.
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { call } from "../net/connection";
import { reasonOf } from "../net/rpc";
import type { Frame } from "../wire/frame";
import type { EventTree, RecordingTree } from "../wire/schema";
import { clockJumped, pause, play, setPace } from "./clock";
import type { MarkerBoard } from "./markers";
import type { Roster } from "./roster";
import { clock, tell } from "./store";

/** Two moments and how far between them (0 to 1) it is now. Both have the same roster; they may be the same frame. */
export interface Sample {
  from: Frame;
  to: Frame;
  mix: number;
}

/** Time that can be moved in. All times are simulated s. */
export interface Timeline {
  readonly start: ReadonlySignal<number>;
  readonly end: ReadonlySignal<number>;
  readonly position: ReadonlySignal<number>;
  readonly playing: ReadonlySignal<boolean>;
  readonly speed: ReadonlySignal<number>; // s per s
  seek(time: number): void;
  play(): void;
  pause(): void;
  setSpeed(speed: number): void;
}

export type Standing = "" | "not begun" | "ended";

export interface FrameSource {
  readonly label: string; // for people: "live", "race.mcap"
  readonly kind: "live" | "buffer" | "recording";
  readonly roster: ReadonlySignal<Roster>;
  readonly markers: MarkerBoard;
  readonly events: ReadonlySignal<readonly EventTree[]>;
  readonly timeline: Timeline | null; // null: only the present
  /** Where a run that follows another's time stands because it has nothing for it; "": it goes along. */
  readonly standing?: ReadonlySignal<Standing>;
  /** What to draw at a moment of performance.now(); null before anything has arrived. */
  sample(now: number): Sample | null;
  close(): void;
}

// playback -----------------------------------------------------------------------------------------------------------

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

// recording played by the server -------------------------------------------------------------------------------------

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
      await call("seek", { position }).catch((error: unknown) => tell("error", reasonOf(error)));
    }
    this.seeking = false;
  }
}
