// The track editor: cones and start pose with undo, checked by the server. Loaded when a track is edited.
import { computed, signal } from "@preact/signals";
import { call, reasonOf } from "../net/connection";
import type { TrackCheckTree, TrackFileTree, TrackTree } from "../wire/schema";
import { draftTrack, scenery } from "./scenery";

export const CONE_COLOURS = ["blue", "yellow", "orange", "big_orange", "unknown"] as const;
export type ConeColour = (typeof CONE_COLOURS)[number];
export type TrackFormat = TrackFileTree["format"];
type Place = readonly [number, number];

type Spread = readonly [number, number, number];

/** Cones and start pose; positions in m, yaw in rad. */
export interface TrackDraft {
  cones: readonly Place[];
  colours: readonly ConeColour[];
  covariances?: readonly Spread[]; // xx, yy, xy of each cone, m2, of a file that has them
  start: readonly [number, number, number];
  startless?: true; // the file had no start pose, and none has been set
}

const EMPTY: TrackDraft = { cones: [], colours: [], start: [0, 0, 0] };
const EXACT: Spread = [0, 0, 0];
const MOST_STEPS = 200; // that can be undone
const NO_LINES = { centre: [], left_width: [], right_width: [], left: [], right: [], left_cones: [], right_cones: [] };

export const draft = signal<TrackDraft>(EMPTY);
export const colour = signal<ConeColour>("blue"); // of the next cone
export const chosenCone = signal<number | null>(null);
export const placingStart = signal(false); // the next click sets the start pose
export const check = signal<TrackCheckTree | null>(null); // of the newest draft that was checked
export const checkFailure = signal("");
export const format = signal<TrackFormat>("csv"); // of files that are written
export const fileFailure = signal(""); // why the last file was not opened
export const fileNotes = signal<readonly string[]>([]); // what of it is left out
const past = signal<readonly TrackDraft[]>([]);
const future = signal<readonly TrackDraft[]>([]);
export const canUndo = computed(() => past.value.length > 0);
export const canRedo = computed(() => future.value.length > 0);

/** Edit the run's track, the draft from before, or an empty one; `fresh`: a new, empty track. */
export function openDraft(fresh = false): void {
  const shown = scenery.peek()?.track ?? null;
  if (fresh) reset(EMPTY);
  else if (!canUndo.peek() && shown) {
    reset(draftOf(shown));
    check.value = { track: shown, problems: [], warnings: [] }; // until it is checked
  }
  show();
  void verify();
}

export function closeDraft(): void {
  draftTrack.value = null;
  chosenCone.value = null;
  placingStart.value = false;
}

export function draftOf({ cones, colours, colour_names, start }: TrackTree): TrackDraft {
  const named = colours.map((k) => (colour_names[k] ?? "unknown") as ConeColour);
  return { cones, colours: named, start };
}

function reset(to: TrackDraft): void {
  draft.value = to;
  past.value = future.value = [];
  forgetFile();
  forgetCheck();
}

function forgetCheck(): void {
  check.value = null;
  subject += 1;
}

function forgetFile(): void {
  fileFailure.value = "";
  fileNotes.value = [];
}

// edits --------------------------------------------------------------------------------------------------------------

/** Replace the draft; `from`: the state to return to, if it differs from the present one (after a drag). */
export function edit(next: TrackDraft, from: TrackDraft = draft.peek()): void {
  past.value = [...past.peek(), from].slice(-MOST_STEPS);
  future.value = [];
  apply(next);
}

/** Show a draft during a drag, without a step to undo. */
export function apply(next: TrackDraft): void {
  draft.value = next;
  if ((chosenCone.peek() ?? -1) >= next.cones.length) chosenCone.value = null;
  show();
  void verify();
}

export function undo(): void {
  const before = past.peek().at(-1);
  if (before === undefined) return;
  past.value = past.peek().slice(0, -1);
  future.value = [...future.peek(), draft.peek()];
  apply(before);
}

export function redo(): void {
  const next = future.peek().at(-1);
  if (next === undefined) return;
  future.value = future.peek().slice(0, -1);
  past.value = [...past.peek(), draft.peek()];
  apply(next);
}

export function placeCone(x: number, y: number): void {
  const now = draft.peek();
  const { cones, colours } = now;
  const next = { ...now, cones: [...cones, [round(x), round(y)] as const], colours: [...colours, colour.peek()] };
  edit(now.covariances ? { ...next, covariances: [...now.covariances, EXACT] } : next);
  chosenCone.value = placed = cones.length;
}

let placed: number | null = null; // the chosen cone, if it was just placed: another colour is then that of the next one

export function chooseCone(k: number): void {
  placed = null;
  chosenCone.value = k;
}

/** A cone that was moved is where it was put: the covariance of a measurement no longer holds. */
export function movedCone(from: TrackDraft, k: number, x: number, y: number): TrackDraft {
  const next = { ...from, cones: from.cones.map((cone, at) => (at === k ? ([round(x), round(y)] as const) : cone)) };
  const { covariances } = from;
  return covariances
    ? { ...next, covariances: covariances.map((covariance, at) => (at === k ? EXACT : covariance)) }
    : next;
}

export function removeCone(k: number): void {
  const now = draft.peek();
  if (k >= now.cones.length) return;
  chosenCone.value = null;
  const others = <T>(list: readonly T[]): T[] => list.filter((_, at) => at !== k);
  const next = { ...now, cones: others(now.cones), colours: others(now.colours) };
  edit(now.covariances ? { ...next, covariances: others(now.covariances) } : next);
}

/** The colour of the next cone, and of a chosen one. */
export function chooseColour(next: ConeColour): void {
  colour.value = next;
  placingStart.value = false;
  const [k, now] = [chosenCone.peek(), draft.peek()];
  if (k === placed) chosenCone.value = null;
  else if (k !== null && now.colours[k] !== next) {
    edit({ ...now, colours: now.colours.map((colour, at) => (at === k ? next : colour)) });
  }
}

export function startAt(from: TrackDraft, x: number, y: number, yaw: number): TrackDraft {
  const { startless: _, ...rest } = from;
  return { ...rest, start: [round(x), round(y), Math.round(yaw * 1e4) / 1e4] };
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

// check --------------------------------------------------------------------------------------------------------------

let checking = false;
let subject = 0; // counts the tracks that were opened
const checked = signal<TrackDraft | null>(null);
/** Whether the check of the present draft is awaited. */
export const unchecked = computed(() => checked.value !== draft.value);

/** Ask the server about the newest draft; one request at a time. */
async function verify(): Promise<void> {
  if (checking) return;
  checking = true;
  try {
    while (checked.peek() !== draft.peek() && draftTrack.peek() !== null) {
      const [now, of] = [draft.peek(), subject];
      const answer = await call("check_track", requestOf(now)).catch(reasonOf);
      if (of !== subject) continue; // about another track
      checkFailure.value = typeof answer === "string" ? answer : "";
      check.value = typeof answer === "string" ? null : answer.check;
      checked.value = now;
      show();
    }
  } finally {
    checking = false;
  }
}

export function requestOf({ cones, colours, start }: TrackDraft): {
  cones: readonly Place[];
  colours: readonly ConeColour[];
  start: readonly number[];
} {
  return { cones, colours, start };
}

/** Cones as they are now, boundaries of the newest check. */
function show(): void {
  const { cones, colours, start } = draft.peek();
  const known = check.peek()?.track;
  const lines = known ?? { name: "draft", closed: false, length: 0, gates: [], ...NO_LINES };
  draftTrack.value = {
    ...lines,
    start,
    cones,
    colours: colours.map((colour) => CONE_COLOURS.indexOf(colour)),
    colour_names: CONE_COLOURS,
    movable: false,
  };
}

// files --------------------------------------------------------------------------------------------------------------

const LARGEST = 1_000_000; // bytes: what a message to the server may have

/** The text of a track file. */
export async function trackText(format: TrackFormat): Promise<string> {
  const now = draft.peek();
  return (await call("write_track", { ...requestOf(now), format, covariances: now.covariances ?? null })).text;
}

/** Replace the draft by the contents of a file, as a step to undo; return false, with `fileFailure`, if it has errors. */
export async function openTrackFile(file: File): Promise<boolean> {
  forgetFile();
  try {
    const read = await readTrackFile(file);
    const { cones, colours, covariances, start, notes } = read;
    format.value = read.format;
    fileNotes.value = notes;
    chosenCone.value = null;
    forgetCheck();
    edit({
      ...{ cones, colours, start: start ?? EMPTY.start },
      ...(covariances && { covariances }),
      ...(start === null && { startless: true as const }),
    });
    return true;
  } catch (error) {
    fileFailure.value = reasonOf(error);
    return false;
  }
}

async function readTrackFile(file: File): Promise<TrackFileTree> {
  const { name, size } = file;
  if (size > LARGEST) throw new Error(`${name}: a track file has at most 1 MB here`);
  const bytes = new Uint8Array(await file.arrayBuffer());
  const odd = notText(bytes);
  if (odd !== null) throw new Error(`${name}:${odd.line}:${odd.column}: not UTF-8 text`);
  const text = new TextDecoder().decode(bytes).trimEnd();
  if (text === "") throw new Error(`${name}:1:1: the file is empty`);
  return (await call("read_track", { text, name: name.slice(-100) })).file;
}

/** Line and byte in it, from 1, of the first character that is not UTF-8; null: it is text. */
export function notText(bytes: Uint8Array): { line: number; column: number } | null {
  const isText = (part: Uint8Array): boolean => {
    try {
      new TextDecoder("utf-8", { fatal: true }).decode(part);
      return true;
    } catch {
      return false;
    }
  };
  if (isText(bytes)) return null;
  for (let line = 1, first = 0; ; line++) {
    const end = bytes.indexOf(10, first);
    const own = end < 0 ? bytes.subarray(first) : bytes.subarray(first, end);
    if (!isText(own)) {
      const decoder = new TextDecoder("utf-8", { fatal: true });
      let whole = 0; // bytes of complete characters
      try {
        own.forEach((_, k) => {
          if (decoder.decode(own.subarray(k, k + 1), { stream: true }) !== "") whole = k + 1;
        });
      } catch {
        // the character after the complete ones
      }
      return { line, column: whole + 1 };
    }
    if (end < 0) return null;
    first = end + 1;
  }
}

/** A scenario's text with its section `track` replaced; `surface`: its friction, if it has one. */
export function withTrack(scenario: string, file: string, text: string, surface: unknown = null): string {
  const block = [
    "track:",
    `  file: ${JSON.stringify(file)}`,
    ...(surface === null || surface === undefined ? [] : [`  surface: ${JSON.stringify(surface)}`]),
    "  text: |",
    ...text
      .trimEnd()
      .split("\n")
      .map((line) => `    ${line}`),
  ];
  const lines = scenario.trimEnd().split("\n");
  const first = lines.findIndex((line) => /^track\s*:/.test(line));
  if (first < 0) return `${[...lines, ...block].join("\n")}\n`;
  const rest = lines.slice(first + 1);
  const length = rest.findIndex((line) => /^[^\s#}\]]/.test(line));
  const after = length < 0 ? [] : rest.slice(length);
  return `${[...lines.slice(0, first), ...block, ...after].join("\n")}\n`;
}
