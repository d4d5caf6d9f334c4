// What tasks and zones look like, in plain numbers: triangles of an area, the head of an arrow, the middle of a ring.
import type { TaskTree } from "../net/schema";

export type Place = readonly [number, number]; // m

/** Corners of triangles (x, y of each) that fill a closed ring: cut into trapezoids at the height of every corner. */
export function trianglesOf(ring: readonly Place[]): number[] {
  const corners = ring.filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y));
  const levels = [...new Set(corners.map(([, y]) => y))].sort((a, b) => a - b);
  const triangles: number[] = [];
  for (let k = 0; k + 1 < levels.length; k++) {
    const [low, high] = [levels[k] as number, levels[k + 1] as number];
    const sides = crossing(corners, low, high);
    for (let i = 0; i + 1 < sides.length; i += 2) {
      const [[a, b], [c, d]] = [sides[i] as Place, sides[i + 1] as Place];
      triangles.push(a, low, c, low, d, high, a, low, d, high, b, high);
    }
  }
  return triangles;
}

/** Where the edges that cross a band are at its lower and at its upper border, from west to east. */
function crossing(ring: readonly Place[], low: number, high: number): Place[] {
  const found: Place[] = [];
  ring.forEach(([x, y], k) => {
    const [x1, y1] = ring[(k + 1) % ring.length] as Place;
    if (Math.min(y, y1) > low || Math.max(y, y1) < high || y === y1) return;
    const at = (level: number): number => x + ((level - y) / (y1 - y)) * (x1 - x);
    found.push([at(low), at(high)]);
  });
  return found.sort((a, b) => a[0] + a[1] - b[0] - b[1]);
}

const HEAD = 0.12; // of the line's length
const LONGEST = 40; // m
const SPREAD = 0.45; // rad to each side

/** The two strokes of an arrow's head at the end of a line: where each ends. */
export function arrowHead([ax, ay]: Place, [bx, by]: Place): [Place, Place] {
  const length = Math.min(HEAD * Math.hypot(bx - ax, by - ay), LONGEST);
  const back = Math.atan2(ay - by, ax - bx);
  const end = (angle: number): Place => [bx + length * Math.cos(angle), by + length * Math.sin(angle)];
  return [end(back - SPREAD), end(back + SPREAD)];
}

/** The mean of some corners; that of a closed ring, which is repeated, counts once. */
export function middleOf(points: readonly Place[]): Place {
  const [first, last] = [points[0], points.at(-1)];
  const closed = points.length > 1 && first?.[0] === last?.[0] && first?.[1] === last?.[1];
  const corners = closed ? points.slice(1) : points;
  const sum = (axis: 0 | 1): number => corners.reduce((total, place) => total + place[axis], 0);
  return [sum(0) / corners.length, sum(1) / corners.length];
}

/** A task somewhere else. */
export function shifted(task: TaskTree, x: number, y: number): TaskTree {
  const [dx, dy] = [x - task.x, y - task.y];
  return { ...task, x, y, outline: task.outline.map(([a, b]) => [a + dx, b + dy]) };
}

/** Half the size of a task, m: from its middle to its farthest corner. */
export function reachOf({ outline }: TaskTree): number {
  const [x, y] = middleOf(outline);
  return outline.reduce((most, [a, b]) => Math.max(most, Math.hypot(a - x, b - y)), 0);
}
