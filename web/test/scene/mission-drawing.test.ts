// Geometry of the mission: areas, arrows, centres, colours.
import { Color } from "three";
import { expect, test } from "vitest";
import { colourOf, markSize } from "../../src/scene/mission-drawing";
import { arrowHead, middleOf, type Place, reachOf, shifted, titleOf, trianglesOf } from "../../src/scene/mission-zones";
import type { Skin } from "../../src/scene/skin";
import type { TaskTree } from "../../src/wire/schema";

/** The total area of triangles. */
function areaOf(triangles: readonly number[]): number {
  let sum = 0;
  for (let k = 0; k + 5 < triangles.length; k += 6) {
    const [ax = 0, ay = 0, bx = 0, by = 0, cx = 0, cy = 0] = triangles.slice(k, k + 6);
    sum += Math.abs((bx - ax) * (cy - ay) - (cx - ax) * (by - ay)) / 2;
  }
  return sum;
}

const closed = (...corners: Place[]): Place[] => [...corners, corners[0] as Place];

test("fills the whole area with triangles", () => {
  expect(areaOf(trianglesOf(closed([0, 0], [40, 0], [40, 30], [0, 30])))).toBeCloseTo(1200, 9);
  expect(areaOf(trianglesOf(closed([0, 0], [40, 0], [0, 30])))).toBeCloseTo(600, 9);
  // an L: 40 x 30 without its upper right 30 x 20; and a W, which has several parts at one height
  const l = closed([0, 0], [40, 0], [40, 10], [10, 10], [10, 30], [0, 30]);
  expect(areaOf(trianglesOf(l))).toBeCloseTo(600, 9);
  const w = closed([0, 10], [2, 0], [4, 6], [6, 0], [8, 10], [6, 4], [4, 10], [2, 4]);
  expect(areaOf(trianglesOf(w))).toBeCloseTo(24, 9); // by the shoelace formula
  expect(areaOf(trianglesOf([...l].reverse()))).toBeCloseTo(600, 9);
});

test("fills a polygon of 96 corners, and nothing outside", () => {
  const ring = Array.from({ length: 97 }, (_, k): Place => {
    const angle = (2 * Math.PI * (k % 96)) / 96;
    return [600 + 170 * Math.cos(angle), -350 + 170 * Math.sin(angle)];
  });
  const triangles = trianglesOf(ring);
  expect(areaOf(triangles)).toBeCloseTo(48 * 170 ** 2 * Math.sin((2 * Math.PI) / 96), 3);
  for (let k = 0; k < triangles.length; k += 2) {
    const away = Math.hypot((triangles[k] as number) - 600, (triangles[k + 1] as number) + 350);
    expect(away).toBeLessThanOrEqual(170 + 1e-6);
  }
});

test("fills nothing for degenerate or non-finite outlines", () => {
  expect(trianglesOf([[3, 4]])).toEqual([]);
  expect(trianglesOf(closed([0, 0], [Number.NaN, 0], [5, 0]))).toEqual([]);
});

test("points an arrow's head back from its end, symmetrically", () => {
  const [left, right] = arrowHead([0, 0], [100, 0]);
  expect(left[0]).toBeCloseTo(100 - 12 * Math.cos(0.45), 9);
  expect([left[0], left[1]]).toEqual([right[0], -right[1]].map((one) => expect.closeTo(one, 9)));
  const [far] = arrowHead([0, 0], [0, 5000]);
  expect(Math.hypot(far[0], far[1] - 5000)).toBeCloseTo(40, 9);
});

test("counts every corner of a closed ring once in the centre", () => {
  expect(middleOf(closed([0, 0], [4, 0], [4, 2], [0, 2]))).toEqual([2, 1]);
  expect(middleOf([[7, 8]])).toEqual([7, 8]);
  expect(
    middleOf([
      [10, 0],
      [40, 20],
    ]),
  ).toEqual([25, 10]); // a line is no ring
});

test("moves a task with its whole outline", () => {
  const line: TaskTree = {
    name: "a",
    kind: "line",
    state: "assigned",
    x: 10,
    y: 0,
    heading: 0,
    outline: [
      [10, 0],
      [40, 0],
    ],
    vehicle: null,
    reason: "",
  };
  expect(shifted(line, 0, 5).outline).toEqual([
    [0, 5],
    [30, 5],
  ]);
  expect(reachOf(line)).toBe(15);
  expect(reachOf({ ...line, outline: closed([0, 0], [6, 0], [6, 8], [0, 8]) })).toBe(5);
});

test("has a theme colour for each state", () => {
  const names = ["faint", "accent", "amber", "green", "red"];
  const skin = Object.fromEntries(names.map((name, k) => [name, new Color().setRGB(k / 255, 0, 0)]));
  const states = ["unassigned", "assigned", "started", "completed", "undone"] as const;
  expect(states.map((state) => colourOf(state, skin as unknown as Skin)[0])).toEqual([0, 1, 2, 3, 4]);
});

test("names a zone with its heights where it has limits", () => {
  const zone = { name: "field", outline: [], floor: null, ceiling: null };
  expect(titleOf(zone)).toBe("field");
  expect(titleOf({ ...zone, ceiling: 80 })).toBe("field (below 80 m)");
  expect(titleOf({ ...zone, floor: 120 })).toBe("field (above 120 m)");
  expect(titleOf({ ...zone, floor: 50, ceiling: 80 })).toBe("field (50 to 80 m)");
});

test("marks of many tasks are smaller", () => {
  expect([1, 40].map(markSize)).toEqual([1, 1]);
  expect(markSize(90)).toBeCloseTo(2 / 3, 9);
  expect(markSize(400)).toBe(0.5);
});
