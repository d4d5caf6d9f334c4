// The strip of a road: its edges keep their distance in bends, and its vertices follow hills.
import { expect, test } from "vitest";
import { stripOf } from "../../src/scene/roads";
import type { RoadTree } from "../../src/wire/schema";

const R = 50;
const points = Array.from({ length: 90 }, (_, k): [number, number, number] => {
  const angle = (2 * Math.PI * k) / 90;
  return [R * Math.cos(angle), R * Math.sin(angle), 0];
});
const circle: RoadTree = { points, width: 8, closed: true };

test("a circular road is a ring", () => {
  const { places, spots, index } = stripOf(circle, () => 0.25, Number.POSITIVE_INFINITY);
  expect([places.length, index.length]).toEqual([3 * 2 * 91, 6 * 90]); // closed: the first point again
  for (let k = 0; k < places.length; k += 3) {
    const left = spots[(2 * k) / 3] as number; // inwards: it runs counter-clockwise
    expect(Math.hypot(places[k] as number, places[k + 1] as number)).toBeCloseTo(R - left, 1);
    expect(places[k + 2]).toBeCloseTo(0.25, 6);
  }
  expect(spots.at(-1)).toBeCloseTo(2 * 90 * R * Math.sin(Math.PI / 90), 2); // length of the polygon
});

test("on uneven ground it is divided, and has the height of the ground", () => {
  const road: RoadTree = {
    points: [
      [0, 0, 0],
      [10, 0, 0],
    ],
    width: 4,
    closed: false,
  };
  const { places, spots } = stripOf(road, (x, y) => 0.1 * x + 0.01 * y * y, 2);
  expect(places.length).toBe(3 * 3 * 6); // columns at -2, 0, 2; rows every 2 m
  expect([...places.slice(0, 9)].map((one) => Math.round(1e4 * one) / 1e4)).toEqual([0, -2, 0.04, 0, 0, 0, 0, 2, 0.04]);
  expect(places.at(-1)).toBeCloseTo(1.04, 5);
  expect([spots[0], spots.at(-1)]).toEqual([-2, 10]);
});

test("a right angle has a mitre", () => {
  const road: RoadTree = {
    points: [
      [0, 0, 0],
      [10, 0, 0],
      [10, 10, 0],
    ],
    width: 2,
    closed: false,
  };
  const { places } = stripOf(road, () => 0, Number.POSITIVE_INFINITY);
  expect([...places.slice(6, 12)]).toEqual([11, -1, 0, 9, 1, 0].map((one) => expect.closeTo(one, 5)));
});
