// The places that an order names: its path, the one place of a goto, or a place for each of its vehicles.
import type { OrderTree } from "../net/schema";

export type Waypoint = [number, number, number];

export function orderPoints({ options }: OrderTree): Waypoint[] {
  const { path, x, y, z } = options;
  if (Array.isArray(path)) return path.filter(isPoint).map(([a = 0, b = 0, c = 0]) => [a, b, c]);
  const count = Math.max(...[x, y, z].map((values) => (Array.isArray(values) ? values.length : 1)));
  const points = Array.from({ length: count }, (_, k) => [valueOf(x, k), valueOf(y, k), valueOf(z, k) ?? 0]);
  return points.every(isPoint) ? points.map(([a = 0, b = 0, c = 0]) => [a, b, c]) : [];
}

/** Whether its points are those of different vehicles, not of one way. */
export function isOneByOne({ options }: OrderTree): boolean {
  return !Array.isArray(options["path"]) && Object.values(options).some(Array.isArray);
}

/** What an option says to a vehicle: its own of a list, or the same for all. */
function valueOf(option: unknown, index: number): unknown {
  return Array.isArray(option) ? option[index] : option;
}

function isPoint(value: unknown): value is number[] {
  return Array.isArray(value) && value.length >= 2 && value.every(Number.isFinite);
}
