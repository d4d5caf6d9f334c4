// Frame sources (live run, buffer, recording) and their timelines. The scene knows only these.
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { call, reasonOf } from "../net/connection";
import type { Frame } from "../wire/frame";
import type {
  ArrayTree,
  EventRecord,
  PlannedRoute,
  RadioTree,
  RecordingTree,
  SceneryTree,
  StandingsTree,
} from "../wire/schema";
import type { Appearance } from "./appearance";
import { clockJumped, pause, play, setPace } from "./clock";
import type { MarkerBoard } from "./markers";
import type { Roster } from "./roster";
import { clock, showNotice } from "./store";

/** Two frames and the interpolation factor (0 to 1). Both have the same roster; they may be the same frame. */
export interface Sample {
  from: Frame;
  to: Frame;
  mix: number;
}

/** A seekable timeline. All times are simulated s. */
export interface Timeline {
  readonly start: ReadonlySignal<number>;
  readonly end: ReadonlySignal<number>;
  readonly position: ReadonlySignal<number>;
  readonly playing: ReadonlySignal<boolean>;
  readonly speed: ReadonlySignal<number>; // simulated s per s
  seek(time: number): void;
  play(): void;
  pause(): void;
  setSpeed(speed: number): void;
}

export type Standing = "" | "not begun" | "ended";

/** The scenery of a recording with the scenario's section `world.ground`. */
export type RecordedScenery = SceneryTree & { readonly section: Readonly<Record<string, unknown>> };

/** What the standings of a recording need besides its samples and events. */
export interface RecordedRace {
  discipline: string;
  track: string;
  laps: number;
  sectors: number; // 0: not timed
  cone_penalty: number; // s, as the others
  off_course_penalty: number;
  unsafe_stop_penalty: number;
}

export interface FrameSource {
  readonly label: string; // shown to the user: "live", "race.mcap"
  readonly kind: "live" | "buffer" | "recording";
  readonly roster: ReadonlySignal<Roster>;
  readonly markers: MarkerBoard;
  readonly events: ReadonlySignal<readonly EventRecord[]>;
  readonly timeline: Timeline | null; // null: not seekable
  /** Recorded routes, of a recording opened in the page; otherwise the server has them. */
  readonly routes?: readonly PlannedRoute[];
  /** Recorded scenery, and what fleets look like, where there are routes. */
  readonly scenery?: RecordedScenery | null;
  readonly looks?: ReadonlyMap<string, Appearance>;
  /** Arrays of sensors, by fleet, and ticks per simulated s; where there are routes. */
  readonly arrays?: ReadonlyMap<string, readonly ArrayTree[]>;
  readonly rate?: number;
  /** Radio, stations and jammers at the shown position; where there are routes. */
  readonly radio?: ReadonlySignal<RadioTree | null>;
  /** Schedules, sweeps and vehicles of jammers and spoofers in the scenario; where there are routes. */
  readonly radioSection?: unknown;
  /** Simulated s at a position of the timeline; null: not known yet. Without it they are the same. */
  simulated?(position: number): number | null;
  /** Standings of the race at the shown position; where there are routes. */
  readonly standings?: ReadonlySignal<StandingsTree | null>;
  /** State of a ghost that has no data for the main source's time; "": it follows. */
  readonly standing?: ReadonlySignal<Standing>;
  /** What to draw at a time of performance.now(); null before the first frame. */
  sample(now: number): Sample | null;
  /** The frames around a simulated time, if they are loaded, and values in them (NaN: unknown); where there are routes. */
  around?(time: number): readonly [Frame, Frame] | null;
  columnValues?(frame: Frame, vehicle: number, names: readonly string[]): ArrayLike<number>;
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

  /** Position at a time of performance.now(), s. */
  advance(now: number): number {
    const passed = this.looked === null ? 0 : Math.max(now - this.looked, 0) / 1000;
    this.looked = now;
    const wanted = this.position.peek() + (this.playing.peek() ? passed * this.speed.peek() : 0);
    const reached = this.within(wanted);
    this.position.value = reached;
    if (this.playing.peek() && reached !== wanted) this.playing.value = false; // reached the end, or the start when playing backwards
    return reached;
  }

  private within(time: number): number {
    return Math.min(Math.max(time, this.start.peek()), this.end.peek());
  }
}

// recording played by the server -------------------------------------------------------------------------------------

const OFTEN = 1 / 30; // s between samples, until measured

export class ServedTimeline implements Timeline {
  readonly start;
  readonly end;
  readonly position = computed(() => clock.value.time);
  readonly playing = computed(() => !clock.value.paused);
  readonly speed = computed(() => clock.value.pace);
  private last = Number.NaN; // simulated s of the last frame
  private period = Number.POSITIVE_INFINITY; // s between samples
  private stepped = Number.NaN; // start of the last step, simulated s
  private reach = 0; // s, length of the last forward step
  private seeking = false;
  private next: number | null = null; // next seek target

  /** `jumped`: motion is not continuous. */
  constructor(
    { start, duration }: RecordingTree,
    private readonly jumped: () => void,
  ) {
    this.start = signal(start);
    this.end = signal(start + duration);
  }

  /** While a slider is dragged only the newest position is requested. */
  seek(time: number): void {
    this.next = Math.min(Math.max(time, this.start.value), this.end.value) - this.start.value;
    if (!this.seeking) void this.seekNext();
  }

  play(): void {
    void play();
  }

  pause(): void {
    if (this.playing.peek()) void pause(); // otherwise the response would give the time before a seek
  }

  setSpeed(speed: number): void {
    void setPace(speed);
  }

  /** Observe a frame: the smallest step is the sample period. */
  observe(time: number): void {
    const step = time - this.last;
    const plays = !clock.peek().paused && !this.seeking; // otherwise it was a seek
    if (plays && step > 1e-6) this.period = Math.min(this.period, step);
    this.last = plays ? time : Number.NaN;
  }

  /** Go to the next or previous sample; the server shows the last sample at or before a time. */
  step(way: 1 | -1): void {
    const now = this.position.peek();
    const between = Number.isFinite(this.period) ? this.period : OFTEN;
    // no new sample was reached: the samples are farther apart than assumed
    this.reach = way > 0 && now === this.stepped ? 2 * this.reach : 1.01 * between;
    this.stepped = now;
    this.seek(now + (way > 0 ? this.reach : -1e-4));
  }

  private async seekNext(): Promise<void> {
    this.seeking = true;
    while (this.next !== null) {
      const position = this.next;
      this.next = null;
      this.jumped();
      clockJumped();
      await call("seek", { position }).catch((error: unknown) => showNotice("error", reasonOf(error)));
    }
    this.seeking = false;
  }
}
