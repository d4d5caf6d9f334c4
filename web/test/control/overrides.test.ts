// Overrides from clicks and positions.
import { describe, expect, it } from "vitest";
import { cameraHeading } from "../../src/control/controls";
import { gridSpots, type Placed, spreadGoals } from "../../src/control/placement";
import { corners } from "../../src/control/pointer";
import { goOverrides, sharing } from "../../src/control/tools/go";
import { idsOfAlike, overrideOfOne, withPoint } from "../../src/control/tools/handles";
import { routeOverrides } from "../../src/control/tools/route";
import { spawnEntries } from "../../src/control/tools/spawn";
import { isOneByOne, overridePoints } from "../../src/state/overrides";

const rover = (id: number, x: number, y: number): Placed => ({ id, kind: "rover", at: [x, y, 0] });
const quad = (id: number, z: number): Placed => ({ id, kind: "quad", at: [0, 0, z] });

describe("going to one place", () => {
  it("sends one vehicle exactly there, at its height", () => {
    expect([...spreadGoals([quad(1, 12)], [30, 40])]).toEqual([[1, [30, 40, 12]]]);
  });

  it("places four rovers in a 2 m square, in their present order", () => {
    const goals = spreadGoals([rover(1, 5, 5), rover(2, -5, 5), rover(3, 5, -5), rover(4, -5, -5)], [100, 0]);
    expect(goals.get(4)).toEqual([99, -1, 0]);
    expect(goals.get(3)).toEqual([101, -1, 0]);
    expect(goals.get(2)).toEqual([99, 1, 0]);
    expect(goals.get(1)).toEqual([101, 1, 0]);
  });

  it("centres the last row", () => {
    expect(gridSpots(3, 2)).toEqual([
      [-1, -1],
      [1, -1],
      [0, 1],
    ]);
  });

  it("gives each of fifty vehicles its own point", () => {
    const spots = new Set(gridSpots(50, 3).map(String));
    expect(spots.size).toBe(50);
  });

  it("shares points between many vehicles, within the limit", () => {
    const groups = sharing(
      Array.from({ length: 1000 }, (_, k) => rover(k, 0, 0)),
      100,
    );
    expect(groups).toHaveLength(100);
    expect(groups.flat()).toHaveLength(1000);
  });

  it("sets one override with a goal for each vehicle, and common values once", () => {
    expect(goOverrides([rover(1, 5, 0), rover(2, -5, 0)], [100, 0.12345])).toEqual([
      [[1, 2], { goto: { x: [101, 99], y: 0.123, z: 0, speed: 2 } }],
    ]);
    expect(goOverrides([quad(7, 12)], [3, 4])).toEqual([[[7], { goto: { x: 3, y: 4, z: 12, speed: 8 } }]]);
    const many = goOverrides(
      Array.from({ length: 25_000 }, (_, k) => rover(k, k, 0)),
      [0, 0],
    );
    expect(many.map(([ids]) => ids.length)).toEqual([10_000, 10_000, 5_000]);
  });
});

describe("routes", () => {
  it("keeps flying vehicles at their mean height and others on the ground", () => {
    const orders = routeOverrides(
      [quad(1, 10), quad(2, 20), rover(3, 0, 0)],
      [
        [0, 0, 0],
        [5, 5, 0],
      ],
      false,
    );
    expect(orders).toEqual([
      [
        [1, 2],
        {
          waypoints: {
            path: [
              [0, 0, 15],
              [5, 5, 15],
            ],
            speed: 8,
          },
        },
      ],
      [
        [3],
        {
          waypoints: {
            path: [
              [0, 0, 0],
              [5, 5, 0],
            ],
            speed: 2,
          },
        },
      ],
    ]);
  });

  it("patrols on request; a single point is a goal", () => {
    expect(
      routeOverrides(
        [rover(3, 0, 0)],
        [
          [0, 0, 0],
          [5, 5, 0],
        ],
        true,
      )[0]?.[1],
    ).toHaveProperty("patrol");
    expect(routeOverrides([rover(3, 0, 0)], [[7, 8, 0]], true)[0]?.[1]).toEqual({
      goto: { x: 7, y: 8, z: 0, speed: 2 },
    });
  });
});

describe("dragging a waypoint", () => {
  const ids: [number, number][] = [[4, 2]];
  const way = {
    ids,
    behaviour: "patrol",
    options: {
      path: [
        [0, 0],
        [5, 5, 3],
      ],
      speed: 4,
    },
  };
  const goal = { ids, behaviour: "goto", options: { x: 1, y: 2, z: 3 } };

  it("knows the points of an override", () => {
    expect(overridePoints(way)).toEqual([
      [0, 0, 0],
      [5, 5, 3],
    ]);
    expect(overridePoints(goal)).toEqual([[1, 2, 3]]);
    expect(overridePoints({ ...way, options: { path: { oval: {} } } })).toEqual([]);
    expect(overridePoints({ ...way, options: {} })).toEqual([]);
  });

  it("knows the points of each vehicle, and one vehicle's override", () => {
    const apart = { ids, behaviour: "goto", options: { x: [1, 2], y: [3, 4], z: 5 } };
    expect(overridePoints(apart)).toEqual([
      [1, 3, 5],
      [2, 4, 5],
    ]);
    expect([isOneByOne(apart), isOneByOne(way), isOneByOne(goal)]).toEqual([true, false, false]);
    expect(overrideOfOne(apart, 1)).toEqual({ ids: [[5, 1]], behaviour: "goto", options: { x: 2, y: 4, z: 5 } });
  });

  it("applies to all vehicles sent together", () => {
    const other = { ...way, ids: [[9, 1]] as [number, number][] };
    expect(idsOfAlike(way, [way, goal, other])).toEqual([4, 5, 9]);
    expect(idsOfAlike(way, [])).toEqual([4, 5]);
  });

  it("changes one point and keeps the rest", () => {
    expect(withPoint(way, 1, [9, 8, 3])).toEqual({
      path: [
        [0, 0, 0],
        [9, 8, 3],
      ],
      speed: 4,
    });
    expect(withPoint(goal, 0, [9, 8, 3])).toEqual({ x: 9, y: 8, z: 3 });
  });
});

it("spawns on a grid around the click", () => {
  const what = { model: "quad", preset: "micro", name: "bee", count: 2, heading: 1, height: 5 };
  expect(spawnEntries(what, [10, 20])).toEqual([
    { robot_type: "quad", preset: "micro", name: "bee_1", x: 8.5, y: 20, z: 5, yaw: 1 },
    { robot_type: "quad", preset: "micro", name: "bee_2", x: 11.5, y: 20, z: 5, yaw: 1 },
  ]);
  const one = spawnEntries({ model: "quad", preset: "", name: "", count: 1, heading: 0, height: null }, [1, 2]);
  expect(one).toEqual([{ robot_type: "quad", x: 1, y: 2, yaw: 0 }]);
});

it("spawns many vehicles as one fleet without names, four of them in a square", () => {
  const what = { model: "quad", preset: "", name: "bee", count: 4, heading: 0, height: 3 };
  expect(spawnEntries(what, [10, 20]).map(({ x, y }) => [x, y])).toEqual([
    [8.5, 18.5],
    [11.5, 18.5],
    [8.5, 21.5],
    [11.5, 21.5],
  ]);
  const many = spawnEntries({ ...what, count: 51 }, [0, 0]);
  expect([many.length, many[50]?.name]).toEqual([51, undefined]);
});

it("sorts the corners of a box", () => {
  expect(corners([10, 50], [30, 20])).toEqual([10, 20, 30, 50]);
});

it("computes the camera's heading from two points on the ground", () => {
  const canvas = { clientWidth: 100, clientHeight: 100 } as HTMLCanvasElement;
  // a camera looking west: higher on the screen is farther west
  const groundPoint = (_x: number, y: number): [number, number, number] => [y, 3, 0];
  expect(cameraHeading({ canvas, groundPoint })).toBeCloseTo(Math.PI, 9);
  expect(cameraHeading({ canvas, groundPoint: () => null })).toBeCloseTo(Math.PI / 2, 9);
});
