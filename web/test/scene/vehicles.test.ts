// Per-row state when vehicles are spawned and removed.
import { expect, test } from "vitest";
import { coherent } from "../../src/scene/poses";
import { moved, moves } from "../../src/scene/vehicle-rows";
import { VehicleLayer } from "../../src/scene/vehicles";
import { Roster } from "../../src/state/roster";
import type { Frame } from "../../src/wire/frame";

function roster(number: number, fleets: Record<string, [number, number][]>): Roster {
  const none = { kind: "rover", model: "rover", single: false, members: [], columns: [] };
  return new Roster({ roster: number, fleets: Object.entries(fleets).map(([name, ids]) => ({ ...none, name, ids })) });
}

function frame(number: number, xs: number[]): Frame {
  const poses = new Uint32Array(4 * xs.length);
  xs.forEach((x, row) => (new Float32Array(poses.buffer)[4 * row] = x));
  return { run: 1, tick: 0, time: 0, wall: 0, roster: number, count: xs.length, poses, columns: [], wanted: 0 };
}

const BEFORE = roster(1, { lead: [[0, 1]], train: [[1, 3]] });
const AFTER = roster(2, { train: [[1, 3]] }); // lead is removed: all others are one row earlier

test("keeps positions after the first vehicle is removed", () => {
  const crowd = new VehicleLayer(false);
  const one = frame(1, [10, 20, 30, 40]);
  crowd.take({ from: one, to: one, mix: 1 }, BEFORE);
  expect(crowd.place(0)).toEqual([10, 0, 0]);
  const two = frame(2, [20, 30, 40]);
  crowd.take({ from: two, to: two, mix: 1 }, AFTER);
  expect(crowd.place(0)).toBeNull();
  expect([1, 2, 3].map((id) => crowd.place(id)?.[0])).toEqual([20, 30, 40]);
});

test("does not interpolate between two rosters", () => {
  const [one, two] = [frame(1, [10, 20, 30, 40]), frame(2, [20, 30, 40])];
  expect(coherent({ from: one, to: two, mix: 0.5 })).toEqual({ from: two, to: two, mix: 1 });
  const same = { from: two, to: frame(2, [21, 31, 41]), mix: 0.5 };
  expect(coherent(same)).toBe(same);
});

test("moves per-row values from rows 1 to 3 to rows 0 to 2", () => {
  const rows = moves(BEFORE, AFTER);
  expect(rows).toEqual([
    [1, 0],
    [2, 1],
    [3, 2],
  ]);
  expect([...moved(Uint8Array.of(9, 1, 2, 3), new Uint8Array(3), rows)]).toEqual([1, 2, 3]);
  expect([...moved(Float32Array.of(5, 6, 7), new Float32Array(4), moves(AFTER, BEFORE))]).toEqual([0, 5, 6, 7]);
  expect(moves(null, AFTER)).toEqual([]);
});
