// The poses of all vehicles in the 16-byte layout of state/frame.ts, made from the columns of a recorded state.
import type { Roster } from "../state/roster";
import type { State } from "./messages";

const STEPS = 1022; // an even number: 0 is one of them
const SCALE = 1 / 0.70710678;
const COLUMNS = ["x", "y", "z", "qx", "qy", "qz", "qw"] as const;
const UPRIGHT = packOrientation(0, 0, 0, 1);

type Floats = Float32Array | Float64Array;

/** Inverse of unpackOrientation; what is no orientation at all is upright. No arrays: it is called often. */
export function packOrientation(x: number, y: number, z: number, w: number): number {
  const square = x * x + y * y + z * z + w * w;
  if (!(square > 0 && square < Number.POSITIVE_INFINITY)) return UPRIGHT;
  const [ax, ay, az, aw] = [Math.abs(x), Math.abs(y), Math.abs(z), Math.abs(w)];
  const size = 1 / Math.sqrt(square);
  if (ax >= ay && ax >= az && ax >= aw) return packThree(0, y, z, w, x < 0 ? -size : size);
  if (ay >= az && ay >= aw) return packThree(1, x, z, w, y < 0 ? -size : size);
  if (az >= aw) return packThree(2, x, y, w, z < 0 ? -size : size);
  return packThree(3, x, y, z, w < 0 ? -size : size);
}

function packThree(largest: number, a: number, b: number, c: number, unit: number): number {
  return ((largest << 30) | (tenBits(a * unit) << 20) | (tenBits(b * unit) << 10) | tenBits(c * unit)) >>> 0;
}

function tenBits(part: number): number {
  return Math.min(Math.max(Math.floor((part * SCALE * 0.5 + 0.5) * STEPS + 0.5), 0), STEPS);
}

/** Poses of a state in roster order; an error if its blocks are not of that roster. */
export function packPoses(state: State, roster: Roster): Uint32Array<ArrayBuffer> {
  checkBlocks(state, roster);
  const words = new Uint32Array(4 * roster.size);
  const floats = new Float32Array(words.buffer);
  roster.fleets.forEach((fleet, k) => {
    const block = state.blocks[k] as Uint8Array;
    const columns = COLUMNS.map((name) => columnOf(block, state.width, fleet.columns.indexOf(name), fleet.count));
    packFleet(words, floats, fleet.first, fleet.count, columns);
  });
  return words;
}

function packFleet(words: Uint32Array, floats: Float32Array, first: number, count: number, columns: Floats[]): void {
  const [x, y, z, qx, qy, qz, qw] = columns as [Floats, Floats, Floats, Floats, Floats, Floats, Floats];
  for (let k = 0; k < count; k++) {
    const at = 4 * (first + k);
    floats[at] = x[k] as number;
    floats[at + 1] = y[k] as number;
    floats[at + 2] = z[k] as number;
    words[at + 3] = packOrientation(qx[k] as number, qy[k] as number, qz[k] as number, qw[k] as number);
  }
}

function checkBlocks(state: State, roster: Roster): void {
  const sizes = roster.fleets.map((fleet) => fleet.columns.length * fleet.count * state.width);
  const fits = sizes.length === state.blocks.length && state.blocks.every((block, k) => block.length === sizes[k]);
  if (!fits) throw new Error(`the state of tick ${state.tick} does not fit its roster`);
}

/** A column of a fleet's block, copied because blocks are not aligned; NaN where there is none. */
function columnOf(block: Uint8Array, width: 4 | 8, column: number, count: number): Floats {
  if (column < 0) return new Float32Array(count).fill(Number.NaN);
  const bytes = block.slice(width * column * count, width * (column + 1) * count);
  return width === 4 ? new Float32Array(bytes.buffer) : new Float64Array(bytes.buffer);
}
