// Signals that panels, scene and controls share.
import { computed, type Signal, signal } from "@preact/signals";
import { connection } from "../net/connection";
import type { FiguresTree, MetadataTree, OrderTree, RouteTree } from "../wire/schema";
import { Roster } from "./roster";
import type { FrameSource } from "./source";

export interface Spawning {
  model: string; // "": nothing chosen yet
  preset: string; // "": the model's own
  name: string; // "": made from the model
  count: number;
  heading: number; // rad, counter-clockwise from east
  height: number | null; // m; null: on the ground
}

export const spawning = signal<Spawning>({ model: "", preset: "", name: "", count: 1, heading: 0, height: null });

// the server ----------------------------------------------------------------------------------------------------------

/** What the server does before it can answer; "": nothing. */
export const preparing = computed(() => (connection.value.state === "connecting" && connection.value.note) || "");
export const metadata = signal<MetadataTree | null>(null);
export const figures = signal<FiguresTree | null>(null);
export const routes = signal<readonly RouteTree[]>([]);
export const orders = signal<readonly OrderTree[]>([]);

/** How time passes in the live run. */
export interface Clock {
  tick: number;
  time: number; // simulated s
  run: number;
  rate: number; // ticks per simulated s
  pace: number; // wanted simulated s per s; 0: as fast as possible
  paused: boolean;
  owner: string; // who has the clock; "": nobody in particular
  factor: number; // measured simulated s per s
}

export const clock = signal<Clock>({ tick: 0, time: 0, run: 0, rate: 1, pace: 1, paused: false, owner: "", factor: 0 });

/** How the page itself keeps up. */
export interface Pulse {
  frames: number; // drawn per s
  arriving: number; // groups per s
  granted: number; // groups per s asked for
  age: number; // s from publication to arrival, newest
  skipped: number; // groups that were replaced before they were drawn
  slowed: boolean; // the rate was lowered because the page could not keep up
}

export const pulse = signal<Pulse>({ frames: 0, arriving: 0, granted: 0, age: 0, skipped: 0, slowed: false });

// what is shown -------------------------------------------------------------------------------------------------------

export const source: Signal<FrameSource | null> = signal(null);
export const ghosts = signal<readonly FrameSource[]>([]);
export const roster = computed(() => source.value?.roster.value ?? Roster.empty);
/** Whether what is shown is the present of the simulation, which can be commanded. */
export const live = computed(() => source.value?.kind === "live");
/** Why what is shown takes no commands; "": it does. */
export const deaf = computed(() => {
  if (source.value === null || source.value.kind === "live") return "";
  return source.value.kind === "recording" ? "this is a recording" : "this is the past: go back to the present first";
});
/** Nobody runs the simulation by the clock: a program steps it when it likes. */
export const idle = computed(() => live.value && figures.value?.running === false);

// what the person has chosen ------------------------------------------------------------------------------------------

export const selection = signal<ReadonlySet<number>>(new Set()); // vehicle ids
export const focus = signal<number | null>(null); // the id that inspector and cameras follow
export const hovered = signal<number | null>(null);

export type CameraMode = "orbit" | "chase" | "top" | "fpv";
export const camera = signal<CameraMode>("orbit");

export type Tool = "select" | "box" | "go" | "route" | "spawn" | "task";
export const tool = signal<Tool>("select");

export type ColouringKind = "fleet" | "speed" | "battery" | "altitude" | "signal" | "state";
export const colouring = signal<ColouringKind>("fleet");

export interface Layers {
  grid: boolean;
  trails: boolean;
  headings: boolean;
  names: boolean;
  routes: boolean;
  tasks: boolean;
  zones: boolean;
  markers: boolean;
  axes: boolean;
  minimap: boolean;
}

export const layers = signal<Layers>({
  grid: true,
  trails: true,
  headings: false,
  names: false,
  routes: true,
  tasks: true,
  zones: true,
  markers: true,
  axes: false,
  minimap: true,
});

export type Theme = "dark" | "light";
export const theme = signal<Theme>("dark");

// what the page tells -------------------------------------------------------------------------------------------------

export interface Notice {
  number: number;
  kind: "info" | "warning" | "error";
  text: string;
  until: number; // performance.now(); Infinity: until dismissed
}

export const notices = signal<readonly Notice[]>([]);
let numbers = 0;

/** Tell the person something; the same words are not told twice at once. */
export function tell(kind: Notice["kind"], text: string, seconds = kind === "error" ? 10 : 5): void {
  const until = performance.now() + 1000 * seconds;
  const others = notices.value.filter((notice) => notice.text !== text);
  notices.value = [...others, { number: ++numbers, kind, text, until }].slice(-5);
}

/** Take back what no longer applies. */
export function untell(text: string): void {
  if (notices.value.some((notice) => notice.text === text)) {
    notices.value = notices.value.filter((notice) => notice.text !== text);
  }
}

export function dismiss(number: number): void {
  notices.value = notices.value.filter((notice) => notice.number !== number);
}

/** Choose vehicles; the last one is the one that is followed. */
export function select(ids: Iterable<number>, add = false): void {
  const chosen = new Set(add ? selection.value : []);
  let last: number | null = null;
  for (const id of ids) {
    chosen.add(id);
    last = id;
  }
  selection.value = chosen;
  focus.value = last ?? (add ? focus.value : null);
}

/** Add to window.paddock, which tests and benchmarks read. */
export function expose(parts: Record<string, unknown>): void {
  const page = globalThis as { paddock?: Record<string, unknown> };
  page.paddock = Object.assign(page.paddock ?? {}, parts);
}
