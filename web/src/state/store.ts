// Signals that panels, scene and controls share.
import { computed, type Signal, signal } from "@preact/signals";
import { connection } from "../net/connection";
import type { BehaviourOverride, FiguresTree, MetadataTree, PlannedRoute } from "../wire/schema";
import { Roster } from "./roster";
import type { FrameSource } from "./source";

export interface Spawning {
  model: string; // "": none selected
  preset: string; // "": the model's default
  name: string; // "": derived from the model
  count: number;
  heading: number; // rad, counter-clockwise from east
  height: number | null; // m; null: on the ground
}

export const spawning = signal<Spawning>({ model: "", preset: "", name: "", count: 1, heading: 0, height: null });

// the server ----------------------------------------------------------------------------------------------------------

/** What the server prepares or starts before it can respond; "": nothing. */
export const preparing = computed(() => {
  const now = connection.value;
  return ((now.state === "connecting" || now.state === "lost") && now.note) || "";
});
export const metadata = signal<MetadataTree | null>(null);
export const figures = signal<FiguresTree | null>(null);
export const routes = signal<readonly PlannedRoute[]>([]);
export const overrides = signal<readonly BehaviourOverride[]>([]);

/** The clock of the live run. */
export interface Clock {
  tick: number;
  time: number; // simulated s
  run: number;
  rate: number; // ticks per simulated s
  pace: number; // target simulated s per s; 0: unlimited
  paused: boolean;
  owner: string; // client that owns the clock; "": none
  factor: number; // measured simulated s per s
}

export const clock = signal<Clock>({ tick: 0, time: 0, run: 0, rate: 1, pace: 1, paused: false, owner: "", factor: 0 });

/** Rates and delays of the page. */
export interface PageRates {
  frames: number; // drawn per s
  arriving: number; // frames per s from the server
  granted: number; // frames per s granted by the server
  age: number; // s from publication to arrival, newest
  skipped: number; // frames replaced before they were drawn
  slowed: boolean; // the rate was reduced because the page could not keep up
}

export const pageRates = signal<PageRates>({ frames: 0, arriving: 0, granted: 0, age: 0, skipped: 0, slowed: false });

// shown source ------------------------------------------------------------------------------------------------------

export const source: Signal<FrameSource | null> = signal(null);
export const ghosts = signal<readonly FrameSource[]>([]);
export const roster = computed(() => source.value?.roster.value ?? Roster.empty);
/** Whether the live run is shown, which accepts commands. */
export const live = computed(() => source.value?.kind === "live");
/** Why the shown source accepts no commands; "": it does. */
export const readOnlyReason = computed(() => {
  if (source.value === null || source.value.kind === "live") return "";
  return source.value.kind === "recording"
    ? "recordings are read-only"
    : "the buffer is read-only: return to live first";
});
/** A program steps the simulation; it does not run by itself. */
export const externallyStepped = computed(() => live.value && figures.value?.running === false);

// user choices ------------------------------------------------------------------------------------------------------

export const selection = signal<ReadonlySet<number>>(new Set()); // vehicle ids
export const focus = signal<number | null>(null); // the vehicle shown in the inspector and followed by cameras
export const hovered = signal<number | null>(null);

export type CameraMode = "orbit" | "chase" | "top" | "fpv";
export const camera = signal<CameraMode>("orbit");

export type Tool = "select" | "box" | "go" | "route" | "spawn" | "task" | "track";
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
  roads: boolean;
  friction: boolean;
  obstacles: boolean;
  contacts: boolean;
  scans: boolean;
  clouds: boolean;
  detections: boolean;
  truth: boolean;
  links: boolean;
  stations: boolean;
  ranges: boolean;
  jamming: boolean;
  coverage: boolean;
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
  roads: true,
  friction: true,
  obstacles: true,
  contacts: true,
  scans: true,
  clouds: true,
  detections: true,
  truth: false,
  links: true,
  stations: true,
  ranges: false,
  jamming: true,
  coverage: false,
});

/** Shadows; auto: unless rendering is done in software or is slow. */
export type Shadows = "auto" | "on" | "off";
export const shadows = signal<Shadows>("auto");

export type Theme = "dark" | "light";
export const theme = signal<Theme>("dark");

// notices -----------------------------------------------------------------------------------------------------------

export interface Notice {
  number: number;
  kind: "info" | "warning" | "error";
  text: string;
  until: number; // performance.now(); Infinity: until dismissed
  action?: NoticeAction | undefined;
}

/** What the user can do about a notice. */
export interface NoticeAction {
  text: string;
  act(): void;
}

export const notices = signal<readonly Notice[]>([]);
let numbers = 0;

/** Show a notice to the user; a repeated text replaces the earlier notice. */
export function showNotice(
  kind: Notice["kind"],
  text: string,
  seconds = kind === "error" ? 10 : 5,
  action?: NoticeAction,
): void {
  const until = performance.now() + 1000 * seconds;
  const others = notices.value.filter((notice) => notice.text !== text);
  notices.value = [...others, { number: ++numbers, kind, text, until, action }].slice(-5);
}

/** Remove a notice that no longer applies. */
export function withdrawNotice(text: string): void {
  if (notices.value.some((notice) => notice.text === text)) {
    notices.value = notices.value.filter((notice) => notice.text !== text);
  }
}

export function dismissNotice(number: number): void {
  notices.value = notices.value.filter((notice) => notice.number !== number);
}

/** Select vehicles; the last one gets the focus. */
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
