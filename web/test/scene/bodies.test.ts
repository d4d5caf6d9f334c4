// Bodies of cars, cones and crates: sizes from the dimensions, closed and turned outwards.
import { afterEach, expect, test } from "vitest";
import { shapeOf } from "../../src/scene/shapes/bodies";
import { ROLLING, STEERED } from "../../src/scene/shapes/builder";
import { traitsOf } from "../../src/scene/view";
import { CAR_STYLES, carPlan, carStyle } from "../../src/state/appearance";
import { metadata } from "../../src/state/store";
import type { MetadataTree } from "../../src/wire/schema";

type Geometry = ReturnType<ReturnType<typeof shapeOf>["detailed"]>;

function extent(geometry: Geometry): { low: number[]; high: number[] } {
  const at = geometry.getAttribute("position");
  const [low, high] = [
    [9e9, 9e9, 9e9],
    [-9e9, -9e9, -9e9],
  ];
  for (let k = 0; k < at.count; k++) {
    [at.getX(k), at.getY(k), at.getZ(k)].forEach((value, axis) => {
      low[axis] = Math.min(low[axis] as number, value);
      high[axis] = Math.max(high[axis] as number, value);
    });
  }
  return { low, high };
}

afterEach(() => {
  metadata.value = null;
});

test.each(CAR_STYLES)("%s stands on the ground, with its wheels at its axles", (style) => {
  const plan = carPlan(style, {});
  const { detailed, simple } = shapeOf("car", style, {});
  const { low, high } = extent(detailed());
  expect(low[2]).toBeGreaterThan(-0.1 * plan.wheel);
  expect(low[2]).toBeLessThan(0.02);
  expect(high[0]).toBeGreaterThan(plan.front + 0.3 * plan.wheel);
  expect(low[0]).toBeLessThan(-plan.rear - 0.3 * plan.wheel);
  expect(high[1]).toBeCloseTo(-(low[1] as number), 6); // symmetric
  const pivots = detailed().getAttribute("pivot");
  const axles = new Set<string>();
  for (let k = 0; k < pivots.count; k++) {
    const part = pivots.getW(k);
    if (part !== STEERED && part !== ROLLING) continue;
    axles.add([part, pivots.getX(k), Math.abs(pivots.getY(k)), pivots.getZ(k)].map((one) => one.toFixed(3)).join(" "));
  }
  const wanted = [
    [STEERED, plan.front, plan.trackFront, plan.wheel],
    [ROLLING, -plan.rear, plan.trackRear, plan.wheel],
  ].map((axle) => axle.map((one) => one.toFixed(3)).join(" "));
  expect([...axles].sort()).toEqual(wanted.sort());
  expect(simple().getAttribute("position").count).toBeLessThan(detailed().getAttribute("position").count / 4);
});

test("dimensions of the server replace the usual ones", () => {
  const size = { cg_to_front: 2, cg_to_rear: 1.8, track_front: 2.2, track_rear: 2, wheel_radius: 0.5 };
  expect(carPlan("sports", size)).toEqual({ front: 2, rear: 1.8, trackFront: 1.1, trackRear: 1, wheel: 0.5 });
  const { high } = extent(shapeOf("car", "sports", size).detailed());
  expect(high[0]).toBeGreaterThan(2.5);
  expect(high[1]).toBeGreaterThan(1.1);
});

test("cars without a known preset look like what they are large enough for", () => {
  const look = (front: number, rear: number, preset: string | null = null) =>
    carStyle({ preset, dimensions: { cg_to_front: front, cg_to_rear: rear } });
  expect([look(1.2, 1.5), look(0.75, 0.8), look(0.3, 0.3)]).toEqual(["sedan", "formula", "buggy"]);
  expect([look(1.2, 1.5, "race"), look(1.2, 1.5, "my own"), carStyle(undefined)]).toEqual(["race", "sedan", "sedan"]);
});

test("a cone stands on its base below its centre of mass", () => {
  const cone = extent(
    shapeOf("cone", "cone", { length: 0.228, width: 0.228, height: 0.325, balance: 0.28 }).detailed(),
  );
  expect(cone.low).toEqual([-0.114, -0.114, -0.091].map((one) => expect.closeTo(one, 6)));
  expect(cone.high).toEqual([0.114, 0.114, 0.234].map((one) => expect.closeTo(one, 6)));
  const crate = extent(shapeOf("crate", "crate", {}).detailed());
  expect([...crate.low, ...crate.high]).toEqual([-0.3, -0.3, -0.3, 0.3, 0.3, 0.3].map((one) => expect.closeTo(one, 6)));
});

test("traits follow the dimensions of a fleet", () => {
  const fleet = { count: 1, model: "car.bicycle", single: true, driven_by: null, inputs: [], columns: [], sensors: [] };
  const dimensions = { cg_to_front: 0.3, cg_to_rear: 0.3, track_front: 0.45, track_rear: 0.45, wheel_radius: 0.08 };
  const fleets = [{ ...fleet, kind: "car", name: "toy", preset: "buggy", dimensions }];
  metadata.value = { scenario: {}, fleets } as unknown as MetadataTree;
  expect(traitsOf({ kind: "car", name: "toy" })).toMatchObject({
    wheel: 0.08,
    wheelbase: 0.6,
    size: expect.closeTo(0.9, 9),
  });
  expect(traitsOf({ kind: "car", name: "other" }).size).toBe(4.5);
  expect(traitsOf(undefined).size).toBe(1);
});
