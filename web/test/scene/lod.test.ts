// Level of detail: by size on the screen, within the budget, with hysteresis.
import { expect, test } from "vitest";
import { chooseLevels, DETAILED, POINT, SIMPLE } from "../../src/scene/vehicles";

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

test("draws every vehicle as a shape with a minimum size", () => {
  const levels = new Uint8Array(1);
  chooseLevels(
    Float32Array.of(0, 5000, 0),
    [{ first: 0, count: 1, size: 1 }],
    AHEAD,
    FOCAL,
    { detailed: 5, simple: 5 },
    levels,
    15,
  );
  expect(levels[0]).toBe(SIMPLE);
});
