// Figures of many vehicles from two moments: no further column need be sent for that.
import { positionOf, type Vector } from "../state/frame";
import type { Sample } from "../state/source";

export interface Summary {
  middle: Vector; // m
  spread: number; // m, from the middle to the farthest
  lowest: number;
  highest: number;
  speed: number; // m/s, mean; NaN when the two moments are the same
  fastest: number;
  nowhere: number; // vehicles without a place
}

export function summarise({ from, to }: Sample, rows: readonly number[]): Summary {
  const at = rows.map((row) => positionOf(to, row)).filter((place) => Number.isFinite(place[0]));
  const middle = [0, 1, 2].map((axis) => sum(at.map((place) => place[axis] as number)) / at.length) as Vector;
  const speeds = to.time > from.time ? rows.map((row) => speedOf(from, to, row)).filter(Number.isFinite) : [];
  const heights = at.map((place) => place[2]);
  return {
    middle,
    spread: largest(at.map((place) => Math.hypot(...place.map((x, axis) => x - (middle[axis] as number))))),
    lowest: -largest(heights.map((height) => -height)),
    highest: largest(heights),
    speed: sum(speeds) / speeds.length,
    fastest: largest(speeds),
    nowhere: rows.length - at.length,
  };
}

function speedOf(from: Sample["from"], to: Sample["to"], row: number): number {
  const [a, b] = [positionOf(from, row), positionOf(to, row)];
  return Math.hypot(b[0] - a[0], b[1] - a[1], b[2] - a[2]) / (to.time - from.time);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Without spreading: there may be 100,000 of them. NaN of none. */
function largest(values: readonly number[]): number {
  return values.reduce((most, value) => (value > most || Number.isNaN(most) ? value : most), Number.NaN);
}
