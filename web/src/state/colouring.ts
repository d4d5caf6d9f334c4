// Colouring by a number: which column it needs, the number of each row when it arrives, and the range of the scale.
import { computed, effect, signal } from "@preact/signals";
import { type Frame, floatsOf, WORDS } from "../wire/frame";
import { type Want, want, wholeColumn } from "./columns";
import { CONDUCTS, conducts } from "./overrides";
import type { Roster } from "./roster";
import { type ColouringKind, colouring, metadata, orders, roster, source } from "./store";

export interface Scale {
  kind: ColouringKind;
  label: string;
  unit: string;
  low: number;
  high: number;
  words?: readonly string[]; // what 0, 1, 2 and so on mean, where they are no amounts
}

export interface Scalars extends Scale {
  frame: Frame;
  values: Float32Array; // by row; NaN: not known
}

interface Way {
  label: string;
  unit: string;
  columns: readonly string[]; // the first that a fleet has
  everywhere: boolean; // also of fleets that do not list it
  fixed: readonly [low: number, high: number] | null; // null: as the values are
}

const WAYS: Readonly<Record<Exclude<ColouringKind, "fleet">, Way>> = {
  speed: { label: "speed", unit: "m/s", columns: ["speed"], everywhere: true, fixed: null },
  battery: { label: "battery", unit: "", columns: ["charge"], everywhere: false, fixed: [0, 1] },
  altitude: { label: "altitude", unit: "m", columns: [], everywhere: true, fixed: null },
  signal: { label: "signal", unit: "", columns: ["signal"], everywhere: false, fixed: [0, 1] },
  state: { label: "state", unit: "", columns: ["command.armed"], everywhere: false, fixed: [0, CONDUCTS.length - 1] },
};

/** The column that a kind needs of all vehicles; null when it needs none, or nobody has it. */
export function columnFor(kind: ColouringKind, who: Roster): string | null {
  if (kind === "fleet") return null;
  const { columns, everywhere } = WAYS[kind];
  if (everywhere) return columns[0] ?? null;
  return columns.find((name) => who.fleets.some((fleet) => fleet.columns.includes(name))) ?? null;
}

/** Whether a kind shows anything for these vehicles; a menu leaves the others out. */
export function canColour(kind: ColouringKind, who: Roster): boolean {
  if (kind === "state") return source.value?.kind !== "recording"; // orders are of the present
  return kind === "fleet" || kind === "altitude" || columnFor(kind, who) !== null;
}

/** The newest numbers of the chosen kind; null while there are none, or for fleets. */
export const scalars = signal<Scalars | null>(null);

const column = computed(() => columnFor(colouring.value, roster.value));
const cache = new WeakMap<Frame, { scalars: Scalars; orders: unknown }>();
let range: [ColouringKind, number, number] = ["fleet", 0, 1];

/** The numbers of a frame for the chosen kind: of the present, or of the buffer; null when they did not come along. */
export function scalarsOf(frame: Frame, kind: ColouringKind = colouring.peek()): Scalars | null {
  if (kind === "fleet") return null;
  const known = cache.get(frame);
  if (known?.scalars.kind === kind && (kind !== "state" || known.orders === orders.peek())) return known.scalars;
  const values = valuesOf(frame, kind);
  if (values === null) return null;
  const [low, high] = WAYS[kind].fixed ?? widened(kind, values);
  const { label, unit } = WAYS[kind];
  const found = { kind, label, unit, low, high, frame, values, ...(kind === "state" && { words: CONDUCTS }) };
  cache.set(frame, { scalars: found, orders: orders.peek() });
  return found;
}

function valuesOf(frame: Frame, kind: ColouringKind): Float32Array | null {
  if (kind === "altitude") return altitudes(frame); // no need to ask for what the poses hold
  if (kind === "state") return states(frame);
  const name = columnFor(kind, roster.peek());
  const found = name === null ? undefined : wholeColumn(frame, name);
  if (found === undefined) return null;
  return found instanceof Float32Array ? found : Float32Array.from(found);
}

function states(frame: Frame): Float32Array | null {
  if (!canColour("state", roster.peek()) || roster.peek().size !== frame.count) return null;
  return conducts(roster.peek(), metadata.peek()?.fleets ?? [], orders.peek(), wholeColumn(frame, "command.armed"));
}

function altitudes(frame: Frame): Float32Array {
  const floats = floatsOf(frame.poses);
  const values = new Float32Array(frame.count);
  for (let row = 0; row < frame.count; row++) values[row] = floats[WORDS * row + 2] as number;
  return values;
}

/** The scale takes in new extremes at once and gives up old ones slowly, so that colours do not flicker. */
function widened(kind: ColouringKind, values: Float32Array): [number, number] {
  const [least, most] = extremes(values);
  const [before, low, high] = range;
  const fresh = before !== kind;
  range = [kind, fresh ? least : closer(low, least, Math.min), fresh ? most : closer(high, most, Math.max)];
  return [range[1], Math.max(range[2], range[1] + 1e-3)];
}

function closer(old: number, now: number, extreme: (a: number, b: number) => number): number {
  return extreme(now, old + 0.01 * (now - old));
}

function extremes(values: Float32Array): [number, number] {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let k = 0; k < values.length; k++) {
    const value = values[k] as number;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return least <= most ? [least, most] : [0, 1];
}

/** Ask for what the chosen kind needs, as long as it is chosen; the returned function ends that. */
export function startColouring(): () => void {
  let wish: Want | null = null;
  const end = effect(() => {
    wish?.release();
    scalars.value = null;
    wish = column.value === null ? null : want("colouring", [{ of: null, columns: [column.value] }]);
  });
  return () => {
    end();
    wish?.release();
  };
}

/** A frame has arrived. */
export function colourFrame(frame: Frame): void {
  const found = scalarsOf(frame);
  if (found !== null) scalars.value = found;
}
