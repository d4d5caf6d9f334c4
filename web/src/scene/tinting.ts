// The colour of each vehicle: its fleet's, or by a number on the colour ramp.
import type { Frame } from "../state/frame";
import { fleetColour } from "../state/palette";
import type { Roster } from "../state/roster";
import type { ColouringKind, Theme } from "../state/store";
import { scalarsOf } from "../state/colouring";
import { rampTable } from "./ramp";

const STEPS = 256;
const INK = 0.82; // fleet colours are made for dark grounds: a little deeper on light ones

/** Write red, green, blue of all rows into `bytes` (4 a row; the fourth is somebody else's). */
export function tintRows(bytes: Uint8Array, roster: Roster, frame: Frame, kind: ColouringKind, theme: Theme): void {
  const scalars = kind === "fleet" ? null : scalarsOf(frame, kind);
  if (kind === "fleet") return tintFleets(bytes, roster, theme);
  if (scalars === null) return tintUnknown(bytes, frame.count, theme);
  tintValues(bytes, scalars.values, scalars.low, scalars.high, rampTableOf(theme));
}

function tintFleets(bytes: Uint8Array, roster: Roster, theme: Theme): void {
  const share = theme === "light" ? INK : 1;
  for (const fleet of roster.fleets) {
    const [r, g, b] = fleetColour(fleet.name).rgb.map((one) => Math.round(255 * share * one));
    for (let row = fleet.first; row < fleet.first + fleet.count; row++) {
      bytes[4 * row] = r as number;
      bytes[4 * row + 1] = g as number;
      bytes[4 * row + 2] = b as number;
    }
  }
}

function tintUnknown(bytes: Uint8Array, count: number, theme: Theme): void {
  tintValues(bytes, new Float32Array(count).fill(Number.NaN), 0, 1, rampTableOf(theme));
}

/** Numbers as colours of a table of 256 and one more for NaN. */
export function tintValues(bytes: Uint8Array, values: ArrayLike<number>, low: number, high: number,
  table: Uint8Array): void {
  const scale = (STEPS - 1) / Math.max(high - low, 1e-12);
  for (let row = 0; row < values.length; row++) {
    const value = values[row] as number;
    const step = Number.isNaN(value) ? STEPS : Math.max(0, Math.min(STEPS - 1, Math.round((value - low) * scale)));
    bytes[4 * row] = table[3 * step] as number;
    bytes[4 * row + 1] = table[3 * step + 1] as number;
    bytes[4 * row + 2] = table[3 * step + 2] as number;
  }
}

const tables = new Map<Theme, Uint8Array>();

function rampTableOf(theme: Theme): Uint8Array {
  let table = tables.get(theme);
  if (table === undefined) {
    table = rampTable(theme);
    tables.set(theme, table);
  }
  return table;
}
