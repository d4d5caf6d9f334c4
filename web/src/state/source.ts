// What the page shows: the live run, a moment of its buffer, or a recording. The scene knows only this.
import type { ReadonlySignal } from "@preact/signals";
import type { EventTree } from "../net/schema";
import type { Frame } from "./frame";
import type { MarkerBoard } from "./markers";
import type { Roster } from "./roster";

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
