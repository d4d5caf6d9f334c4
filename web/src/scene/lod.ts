// How much of each vehicle is drawn: a point, a simple or a detailed shape, by its size on the screen and within a
// budget.
import type { Matrix } from "./projection";

export const POINT = 0;
export const SIMPLE = 1;
export const DETAILED = 2;

export interface Budget {
  detailed: number; // shapes at most
  simple: number;
}

export interface LodFleet {
  first: number;
  count: number;
  size: number; // m
}

/** px a vehicle must have to be drawn as a shape, and in detail. */
export const SIMPLE_PX = 6;
export const DETAILED_PX = 26;
const KEEP = 0.85; // a shape stays until it is this much smaller: no flicker at the limit
const BINS = 96; // of sizes: 8 to each doubling, from 1 px on

/**
 * Levels of all rows into `levels` (what is there says what was drawn before). `floor` is the px that every vehicle
 * is drawn with at least: with
 * few vehicles that makes each of them a shape. Gives the px of the largest point.
 */
export function chooseLevels(
  positions: Float32Array,
  fleets: readonly LodFleet[],
  m: Matrix,
  focal: number,
  budget: Budget,
  levels: Uint8Array,
  floor = 0,
): number {
  const sizes = sizesOnScreen(positions, fleets, m, focal, floor, levels.length);
  const detailed = limitFor(sizes, levels.length, budget.detailed, DETAILED_PX);
  const simple = limitFor(sizes, levels.length, budget.detailed + budget.simple, SIMPLE_PX);
  let largest = 0;
  for (let row = 0; row < levels.length; row++) {
    const size = sizes[row] as number;
    const before = levels[row] as number;
    const needed = before === DETAILED ? detailed.keep : detailed.px;
    if (size >= needed) levels[row] = DETAILED;
    else levels[row] = size >= (before >= SIMPLE ? simple.keep : simple.px) ? SIMPLE : POINT;
    if (levels[row] === POINT && size > largest) largest = size;
  }
  return largest;
}

let scratch = new Float32Array(0);

function sizesOnScreen(
  positions: Float32Array,
  fleets: readonly LodFleet[],
  m: Matrix,
  focal: number,
  floor: number,
  rows: number,
): Float32Array {
  if (scratch.length < rows) scratch = new Float32Array(rows);
  scratch.fill(0, 0, rows);
  const k = Array.from(m);
  const [m0 = 0, m1 = 0, , m3 = 0, m4 = 0, m5 = 0, , m7 = 0, m8 = 0, m9 = 0, , m11 = 0, m12 = 0, m13 = 0, ,
    m15 = 0] = k;
  for (const { first, count, size } of fleets) {
    for (let row = first; row < first + count; row++) {
      const x = positions[3 * row] as number;
      const y = positions[3 * row + 1] as number;
      const z = positions[3 * row + 2] as number;
      const w = m3 * x + m7 * y + m11 * z + m15;
      if (!(w > -size)) continue;
      const edge = 1.15 * Math.max(w, 0) + 2 * size; // a bit beyond the borders: shapes reach in
      const across = Math.abs(m0 * x + m4 * y + m8 * z + m12);
      const up = Math.abs(m1 * x + m5 * y + m9 * z + m13);
      if (across < edge && up < edge) scratch[row] = Math.max((size * focal) / Math.max(w, 0.1), floor);
    }
  }
  return scratch;
}

const counts = new Uint32Array(BINS);

/**
 * The least size such that no more than `most` rows reach it, but at least `px`; with it the size at which one stays
 * what it is.
 */
function limitFor(sizes: Float32Array, rows: number, most: number, px: number): { px: number; keep: number } {
  counts.fill(0);
  for (let row = 0; row < rows; row++) {
    const size = sizes[row] as number;
    if (size >= px * KEEP) counts[binOf(size)] = (counts[binOf(size)] as number) + 1;
  }
  let sum = 0;
  for (let bin = BINS - 1; bin >= 0; bin--) {
    sum += counts[bin] as number;
    if (sum > most) return { px: Math.max(px, 2 ** ((bin + 1) / 8)), keep: Math.max(px, 2 ** ((bin + 1) / 8)) };
  }
  return { px, keep: px * KEEP };
}

function binOf(size: number): number {
  return Math.min(BINS - 1, Math.max(0, Math.floor(8 * Math.log2(size))));
}
