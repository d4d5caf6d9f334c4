// Values of one vehicle in a fleet's block: its columns by name, and what is derived from them.
import type { Fleet } from "../state/roster";

/** Reads one value of a vehicle (its place in the fleet) out of a block. */
export type ColumnReader = (block: DataView, width: 4 | 8, at: number) => number;

/** The reader of a column, or of the derived speed (m/s), heading, roll, pitch (rad); NaN for what does not exist. */
export function columnReader(fleet: Fleet, name: string): ColumnReader {
  const own = plainReader(fleet, name);
  if (own !== undefined) return own;
  const made = DERIVED[name];
  const parts = made?.of.map((part) => plainReader(fleet, part));
  if (made === undefined || parts === undefined || parts.includes(undefined)) return () => Number.NaN;
  return (block, width, at) => made.value(parts.map((part) => (part as ColumnReader)(block, width, at)));
}

function plainReader(fleet: Fleet, name: string): ColumnReader | undefined {
  const column = fleet.columns.indexOf(name);
  if (column < 0) return undefined;
  const before = column * fleet.count;
  return (block, width, at) =>
    width === 8 ? block.getFloat64(8 * (before + at), true) : block.getFloat32(4 * (before + at), true);
}

interface Derived {
  of: readonly string[];
  value(parts: number[]): number;
}

const TURN = ["qx", "qy", "qz", "qw"];
const DERIVED: Readonly<Record<string, Derived>> = {
  speed: { of: ["vx", "vy", "vz"], value: (parts) => Math.hypot(...parts) },
  heading: {
    of: TURN,
    value: ([x = 0, y = 0, z = 0, w = 1]) => Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)),
  },
  roll: {
    of: TURN,
    value: ([x = 0, y = 0, z = 0, w = 1]) => Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)),
  },
  pitch: {
    of: TURN,
    value: ([x = 0, y = 0, z = 0, w = 1]) => Math.asin(Math.min(Math.max(2 * (w * y - z * x), -1), 1)),
  },
};
