// How far a vehicle is from its ghost: in m now, and in s along the way.
import type { Vector } from "../state/frame";

/** Where a vehicle was over time; NaN where it was not. */
export interface Path {
  times: Float64Array; // s
  x: Float64Array;
  y: Float64Array;
  z: Float64Array;
}

export interface Gap {
  distance: number; // m
  seconds: number | null; // positive: the ghost was here so long before; null: it was never near
}

const WINDOW = 20; // s before and after, in which the ghost's passing is looked for
const NEARNESS = 0.05; // m per s: of two passings at the same distance (laps) the one nearer in time counts
const FAR = 0.5; // share of the distance: further away than this it has not passed here

export function distanceBetween(a: Readonly<Vector>, b: Readonly<Vector>): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

/** The time at which a path comes nearest to a place, looked for around a time; null if it does not come near. */
export function passing(path: Path, place: Readonly<Vector>, around: number, least: number): number | null {
  let best = Number.POSITIVE_INFINITY;
  let found: { time: number; distance: number } | null = null;
  for (let k = 0; k + 1 < path.times.length; k++) {
    if ((path.times[k + 1] as number) < around - WINDOW || (path.times[k] as number) > around + WINDOW) continue;
    const here = nearest(path, k, place);
    const cost = here.distance + NEARNESS * Math.abs(here.time - around);
    if (cost < best) [best, found] = [cost, here];
  }
  return found !== null && found.distance <= least ? found.time : null;
}

/** On the way from one sample to the next: the point nearest to a place. */
function nearest(path: Path, k: number, place: Readonly<Vector>): { time: number; distance: number } {
  const from = pointAt(path, k);
  const to = pointAt(path, k + 1);
  const way = to.map((part, axis) => part - (from[axis] as number));
  const length = way.reduce((sum, part) => sum + part * part, 0);
  const along = way.reduce((sum, part, axis) => sum + part * ((place[axis] as number) - (from[axis] as number)), 0);
  const mix = length > 0 ? Math.min(Math.max(along / length, 0), 1) : 0;
  const point = from.map((part, axis) => part + mix * (way[axis] as number)) as Vector;
  const [first, last] = [path.times[k] as number, path.times[k + 1] as number];
  const distance = distanceBetween(point, place);
  return { time: first + mix * (last - first), distance: Number.isNaN(distance) ? Number.POSITIVE_INFINITY : distance };
}

function pointAt({ x, y, z }: Path, k: number): Vector {
  return [x[k] as number, y[k] as number, z[k] as number];
}

/** The gap between a vehicle and its ghost, whose path is known (or not yet) and who is at `now` (s) of it. */
export function gapBetween(main: Readonly<Vector>, ghost: Readonly<Vector>, path: Path | null, now: number): Gap {
  const distance = distanceBetween(main, ghost);
  const time = path && passing(path, main, now, Math.max(FAR * distance, 5));
  return { distance, seconds: time === null ? null : now - time };
}
