// Colouring by value: the columns it needs, the value of each row, and the range of the scale.
import { computed, effect, signal } from "@preact/signals";
import { type Frame, floatsOf, WORDS } from "../wire/frame";
import { type ColumnRequest, requestColumns, wholeColumn } from "./columns";
import { CONTROL_MODES, controlModes } from "./overrides";
import type { Roster } from "./roster";
import { type ColouringKind, colouring, metadata, overrides, roster, source } from "./store";

interface Scale {
  kind: ColouringKind;
  label: string;
  unit: string;
  low: number;
  high: number;
  categories?: readonly string[]; // meanings of 0, 1, 2, ... for categories
}

interface Scalars extends Scale {
  frame: Frame;
  values: Float32Array; // by row; NaN: unknown
}

interface ColouringSpec {
  label: string;
  unit: string;
  columns: readonly string[]; // the first one that a fleet has
  everywhere: boolean; // also for fleets that do not list it
  fixed: readonly [low: number, high: number] | null; // null: from the values
}

const SPECS: Readonly<Record<Exclude<ColouringKind, "fleet">, ColouringSpec>> = {
  speed: { label: "speed", unit: "m/s", columns: ["speed"], everywhere: true, fixed: null },
  battery: { label: "battery", unit: "", columns: ["charge"], everywhere: false, fixed: [0, 1] },
  altitude: { label: "altitude", unit: "m", columns: [], everywhere: true, fixed: null },
  signal: { label: "signal", unit: "", columns: ["radio.signal", "signal"], everywhere: false, fixed: [0, 1] },
  state: {
    label: "state",
    unit: "",
    columns: ["command.armed"],
    everywhere: false,
    fixed: [0, CONTROL_MODES.length - 1],
  },
};

/** The column needed of all vehicles; null if none is needed or available. */
export function columnFor(kind: ColouringKind, shown: Roster): string | null {
  if (kind === "fleet") return null;
  const { columns, everywhere } = SPECS[kind];
  if (everywhere) return columns[0] ?? null;
  return columns.find((name) => shown.fleets.some((fleet) => fleet.columns.includes(name))) ?? null;
}

/** Whether a kind is available for these vehicles. */
export function canColour(kind: ColouringKind, shown: Roster): boolean {
  if (kind === "state") return source.value?.kind !== "recording"; // overrides are known only for the live run
  return kind === "fleet" || kind === "altitude" || columnFor(kind, shown) !== null;
}

/** The newest values of the selected kind; null if unavailable or for fleet colours. */
export const scalars = signal<Scalars | null>(null);

const column = computed(() => columnFor(colouring.value, roster.value));
const cache = new WeakMap<Frame, { scalars: Scalars; overrides: unknown }>();
let range: [ColouringKind, number, number] = ["fleet", 0, 1];

/** The values of a frame for the selected kind; null if the frame does not contain them. */
export function scalarsOf(frame: Frame, kind: ColouringKind = colouring.peek()): Scalars | null {
  if (kind === "fleet") return null;
  const known = cache.get(frame);
  if (known?.scalars.kind === kind && (kind !== "state" || known.overrides === overrides.peek())) return known.scalars;
  const values = valuesOf(frame, kind);
  if (values === null) return null;
  const [low, high] = SPECS[kind].fixed ?? widened(kind, values);
  const { label, unit } = SPECS[kind];
  const colours: Scalars = { kind, label, unit, low, high, frame, values };
  if (kind === "state") colours.categories = CONTROL_MODES;
  cache.set(frame, { scalars: colours, overrides: overrides.peek() });
  return colours;
}

function valuesOf(frame: Frame, kind: ColouringKind): Float32Array | null {
  if (kind === "altitude") return altitudes(frame); // the poses contain it
  if (kind === "state") return states(frame);
  const name = columnFor(kind, roster.peek());
  const column = name === null ? undefined : wholeColumn(frame, name);
  if (column === undefined) return null;
  return column instanceof Float32Array ? column : Float32Array.from(column);
}

function states(frame: Frame): Float32Array | null {
  if (!canColour("state", roster.peek()) || roster.peek().size !== frame.count) return null;
  return controlModes(
    roster.peek(),
    metadata.peek()?.fleets ?? [],
    overrides.peek(),
    wholeColumn(frame, "command.armed"),
  );
}

function altitudes(frame: Frame): Float32Array {
  const floats = floatsOf(frame.poses);
  const values = new Float32Array(frame.count);
  for (let row = 0; row < frame.count; row++) values[row] = floats[WORDS * row + 2] as number;
  return values;
}

/** The range widens immediately and shrinks slowly, so that colours do not flicker. */
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

/** Request the columns of the selected kind; return a stop function. */
export function startColouring(): () => void {
  let request: ColumnRequest | null = null;
  const end = effect(() => {
    request?.release();
    scalars.value = null;
    request = column.value === null ? null : requestColumns("colouring", [{ of: null, columns: [column.value] }]);
  });
  return () => {
    end();
    request?.release();
  };
}

/** Update from an arrived frame. */
export function colourFrame(frame: Frame): void {
  const colours = scalarsOf(frame);
  if (colours !== null) scalars.value = colours;
}
