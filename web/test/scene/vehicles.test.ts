// Level of detail: by size on the screen, within the budget, with hysteresis.
// Per-row state when vehicles are spawned and removed.
import { expect, test } from "vitest";
import { coherent } from "../../src/scene/poses";
import { moved, moves } from "../../src/scene/vehicle-rows";
import { chooseLevels, DETAILED, POINT, SIMPLE, VehicleLayer } from "../../src/scene/vehicles";
import { Roster } from "../../src/state/roster";
import type { Frame } from "../../src/wire/frame";

// looks along +y from the origin: right is x, up is z; 90 degrees both ways
const AHEAD = [1, 0, 0, 0, 0, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0];
const FOCAL = 360; // px: half of 720

function levelsAt(distances: number[], budget = { detailed: 10, simple: 10 }, before?: Uint8Array): Uint8Array {
  const positions = Float32Array.from(distances.flatMap((away) => [0, away, 0]));
  const levels = before ?? new Uint8Array(distances.length);
  chooseLevels(positions, [{ first: 0, count: distances.length, size: 1 }], AHEAD, FOCAL, budget, levels);
  return levels;
}

test("a metre at 10, 40 and 100 m is 36, 9 and 3.6 px", () => {
  expect([...levelsAt([10, 40, 100])]).toEqual([DETAILED, SIMPLE, POINT]);
});

test("draws no shape behind the camera or without a position", () => {
  expect([...levelsAt([-10, Number.NaN])]).toEqual([POINT, POINT]);
});

test("gives the budget to the nearest", () => {
  const levels = levelsAt([2, 4, 8, 11, 13], { detailed: 2, simple: 2 });
  expect(levels[0]).toBe(DETAILED);
  expect([...levels].filter((one) => one === DETAILED).length).toBeLessThanOrEqual(2);
  expect([...levels].filter((one) => one !== POINT).length).toBeLessThanOrEqual(4);
  expect(levels[4]).toBe(POINT);
});

test("keeps a shape slightly below its threshold", () => {
  const fresh = levelsAt([14.4]); // 25 px
  expect(fresh[0]).toBe(SIMPLE);
  expect(levelsAt([14.4], undefined, Uint8Array.of(DETAILED))[0]).toBe(DETAILED);
});

test("draws vehicles with a minimum size as shapes, and cones far away as points", () => {
  const levels = new Uint8Array(2);
  const fleets = [
    { first: 0, count: 1, size: 1, floor: 15 },
    { first: 1, count: 1, size: 1 },
  ];
  const budget = { detailed: 5, simple: 5 };
  chooseLevels(Float32Array.of(0, 5000, 0, 0, 5000, 0), fleets, AHEAD, FOCAL, budget, levels);
  expect([...levels]).toEqual([SIMPLE, POINT]);
});

test("follows cars, not the cones beside them, however many there are", () => {
  const none = { single: false, members: [], columns: [] };
  const fleets = [
    { ...none, name: "cones", kind: "cone", model: "prop.cone", ids: [[0, 400]] as [number, number][] },
    { ...none, name: "cars", kind: "car", model: "car.bicycle", ids: [[400, 2]] as [number, number][] },
  ];
  const layer = new VehicleLayer(false);
  const one = frame(3, new Array<number>(402).fill(1));
  layer.take({ from: one, to: one, mix: 1 }, new Roster({ roster: 3, fleets }));
  expect(layer.nearIds()).toEqual([400, 401]);
});

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
