// From how far away, and towards where, a camera sees all of some points.
export type Point = [number, number, number];

/** Where a camera looks: unit vectors. */
export interface Sight {
  right: readonly number[];
  up: readonly number[];
  ahead: readonly number[];
}

/** Tangents of half the angles of view, and the share of the picture that stays free at each side. */
export interface Window {
  across: number;
  upwards: number;
  free: { top: number; bottom: number; side: number };
}

const ROUNDS = 8; // each brings the middle of the picture nearer to the middle of what is seen

/** Tangents within which points must be seen: to both sides, up and down. */
interface Room {
  side: number;
  above: number;
  below: number;
}

/** Target and distance at which every finite point (x, y, z of each) with a radius around it is inside; null: none. */
export function fit(points: ArrayLike<number>, radius: number, sight: Sight, window: Window): { target: Point;
  distance: number } | null {
  const { across, upwards, free } = window;
  const room = { side: across * (1 - 2 * free.side), above: upwards * (1 - 2 * free.top), below: upwards * (1 - 2 *
    free.bottom) };
  const target = middleOf(points);
  if (target === null) return null;
  for (let round = 0; round < ROUNDS; round++) {
    const distance = needed(points, radius, target, sight, room);
    const [x, y] = centre(points, target, sight, Math.max(distance, 1e-3));
    move(target, sight.right, x * distance);
    move(target, sight.up, (y - (room.above - room.below) / 2) * distance);
  }
  return { target, distance: needed(points, radius, target, sight, room) };
}

/** The middle of the box around all that are finite. */
function middleOf(points: ArrayLike<number>): Point | null {
  const low: Point = [Infinity, Infinity, Infinity];
  const high: Point = [-Infinity, -Infinity, -Infinity];
  for (let k = 0; k + 2 < points.length; k += 3) {
    if (!Number.isFinite(at(points, k) + at(points, k + 1) + at(points, k + 2))) continue;
    for (let axis = 0; axis < 3; axis++) {
      low[axis] = Math.min(low[axis] as number, at(points, k + axis));
      high[axis] = Math.max(high[axis] as number, at(points, k + axis));
    }
  }
  return low[0] <= high[0] ? [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2] : null;
}

function needed(points: ArrayLike<number>, radius: number, target: Point, { right, up, ahead }: Sight,
  { side, above, below }: Room): number {
  let most = 0;
  for (let k = 0; k + 2 < points.length; k += 3) {
    const across = (Math.abs(along(points, k, target, right)) + radius) / side;
    const upwards = along(points, k, target, up);
    const distance = Math.max(across, (upwards + radius) / above, (radius - upwards) / below) -
      along(points, k, target, ahead);
    if (distance > most) most = distance; // not where it is NaN
  }
  return most;
}

/** The middle of what is seen, as tangents from the middle of the picture. */
function centre(points: ArrayLike<number>, target: Point, { right, up, ahead }: Sight, distance: number): [number,
  number] {
  let [left, most, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let k = 0; k + 2 < points.length; k += 3) {
    const depth = Math.max(distance + along(points, k, target, ahead), 1e-6);
    const [x, y] = [along(points, k, target, right) / depth, along(points, k, target, up) / depth];
    if (x < left) left = x;
    if (x > most) most = x;
    if (y < low) low = y;
    if (y > high) high = y;
  }
  return [(left + most) / 2, (low + high) / 2];
}

function along(points: ArrayLike<number>, k: number, target: Point, way: readonly number[]): number {
  return (at(points, k) - target[0]) * at(way, 0) + (at(points, k + 1) - target[1]) * at(way, 1) +
    (at(points, k + 2) - target[2]) * at(way, 2);
}

function move(target: Point, way: readonly number[], by: number): void {
  for (let axis = 0; axis < 3; axis++) target[axis] = (target[axis] as number) + by * at(way, axis);
}

function at(values: ArrayLike<number>, k: number): number {
  return values[k] as number;
}
