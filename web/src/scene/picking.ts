// Which vehicle is at a place of the screen: all are projected on the CPU, which needs no second drawing and no
// reading back.
import { type Matrix, type Size, toScreen } from "./projection";

export const REACH = 14; // px around a vehicle that still count as hitting it

/** Positions of many vehicles: x, y, z of each; NaN: nowhere. */
export interface Places {
  positions: Float32Array;
  count: number;
  /** px that one metre at one metre's distance takes. */
  focal: number;
  /** m: half of the vehicle's length. */
  radiusOf(row: number): number;
}

/** The row at a place, or -1. Nearer to the camera wins unless the pointer is clearly closer to another. */
export function rowAt(places: Places, m: Matrix, size: Size, x: number, y: number): number {
  const screen = [0, 0, 0];
  let best = -1;
  let least = Number.POSITIVE_INFINITY;
  for (let row = 0; row < places.count; row++) {
    const p = 3 * row;
    if (!toScreen(m, val(places, p), val(places, p + 1), val(places, p + 2), size, screen)) continue;
    const [sx = 0, sy = 0, depth = 0] = screen;
    const away = Math.hypot(sx - x, sy - y);
    if (away > 400) continue;
    const reach = Math.max(REACH, 0.8 * places.radiusOf(row) * (places.focal / depth));
    if (away > reach) continue;
    const score = depth * (1 + away / reach);
    if (score < least) [least, best] = [score, row];
  }
  return best;
}

/** All rows whose middle is in a box of the screen. */
export function rowsIn(places: Places, m: Matrix, size: Size, a: readonly [number, number], b: readonly [number,
  number]): number[] {
  const [left, right] = [Math.min(a[0], b[0]), Math.max(a[0], b[0])];
  const [top, bottom] = [Math.min(a[1], b[1]), Math.max(a[1], b[1])];
  const screen = [0, 0, 0];
  const rows: number[] = [];
  for (let row = 0; row < places.count; row++) {
    const p = 3 * row;
    if (!toScreen(m, val(places, p), val(places, p + 1), val(places, p + 2), size, screen)) continue;
    const [sx = 0, sy = 0] = screen;
    if (sx >= left && sx <= right && sy >= top && sy <= bottom) rows.push(row);
  }
  return rows;
}

function val(places: Places, k: number): number {
  return places.positions[k] as number;
}
