// Readings in the world: ends of beams, cones of a turned vehicle, ellipses of covariances, fading.
import { expect, it } from "vitest";
import { beamDirections, conesOf, ellipseOf, scanOf } from "../../src/scene/sensing-drawing";
import { type BodyPose, freshness, type Reading, sensorsIn } from "../../src/state/sensing";
import type { ArrayTree, ColumnTree } from "../../src/wire/schema";

const field = (name: string): ColumnTree => ({ name, unit: "", meaning: "", low: null, high: null, choices: [] });
const array = (name: string, shape: number[], fields: string[], options: Record<string, number>): ArrayTree => {
  return { name, shape, sensor: name, unit: "m", meaning: "", fields: fields.map(field), options };
};
const LIDAR = { rate: 40, fov_deg: 180, range_max: 30, x: 1, y: 0, z: 0.5, yaw_deg: 0, pitch_deg: 0 };
const DETECTION = ["x", "y", "colour", "confidence", "colour_confidence", "xx", "xy", "yy"];
const cones = [
  array("cones.detections", [2, 8], DETECTION, { rate: 10, delay: 0.1, delay_max: 0.2 }),
  array("cones.truth", [2, 4], ["x", "y", "colour", "number"], {}),
];
const NORTH: BodyPose = [10, 20, 0, 0, 0, Math.SQRT1_2, Math.SQRT1_2]; // turned left by 90 degrees
const readingOf = (arrays: ArrayTree[], values: number[][]): Reading => {
  const [sensor] = sensorsIn(arrays);
  if (!sensor) throw new Error("no sensor");
  return { vehicle: 1, sensor, time: 2, arrived: 2, pose: NORTH, values };
};

it("recognises sensors by their arrays", () => {
  const flat = array("lidar.ranges", [3], [], LIDAR);
  const tall = array("lidar_3d.ranges", [2, 3], [], LIDAR);
  const other = array("radar.map", [4, 4], [], {});
  expect(sensorsIn([flat, tall, ...cones, other]).map(({ name, kind }) => [name, kind])).toEqual([
    ["lidar", "scan"],
    ["lidar_3d", "cloud"],
    ["cones", "cones"],
  ]);
  expect(sensorsIn(undefined)).toEqual([]);
});

it("places the ends of beams: right, ahead, left", () => {
  const reading = readingOf([array("lidar.ranges", [3], [], LIDAR)], [[2, Number.POSITIVE_INFINITY, 3]]);
  const { origin, ends, hit } = scanOf(reading, beamDirections(reading.sensor));
  const close = (found: ArrayLike<number>, wanted: number[]) =>
    wanted.forEach((one, k) => expect(found[k]).toBeCloseTo(one, 4));
  close(origin, [10, 21, 0.5]); // 1 m ahead, which is north
  close(ends, [12, 21, 0.5, 10, 51, 0.5, 7, 21, 0.5]);
  expect([...hit]).toEqual([1, 0, 1]);
});

it("turns beams with the sensor, and spreads rings over the vertical field of view", () => {
  const rings = array("l.ranges", [2, 1], [], { ...LIDAR, vertical_fov_deg: 60, yaw_deg: 90 });
  const [low, high] = [0, 3].map((at) => [...beamDirections(readingOf([rings], []).sensor).slice(at, at + 3)]);
  [0, Math.cos(Math.PI / 6), -0.5].forEach((one, k) => expect(low?.[k]).toBeCloseTo(one, 6));
  [0, Math.cos(Math.PI / 6), 0.5].forEach((one, k) => expect(high?.[k]).toBeCloseTo(one, 6));
  const down = array("l.ranges", [1], [], { ...LIDAR, pitch_deg: 30 });
  const ahead = beamDirections(readingOf([down], []).sensor);
  [Math.cos(Math.PI / 6), 0, -0.5].forEach((one, k) => expect(ahead[k]).toBeCloseTo(one, 6));
});

it("places cones ahead and to the left, and leaves out unused rows", () => {
  const unused = Array.from({ length: 8 }, () => Number.NaN);
  const reading = readingOf(cones, [
    [5, 1, 1, 0.9, 0.8, 0.04, 0, 0.01, ...unused],
    [5, 1, 0, 7, ...unused.slice(4)],
  ]);
  const [seen, ...others] = conesOf(reading, 0);
  expect(others).toEqual([]);
  expect(seen).toMatchObject({ colour: "yellow", confidence: 0.9 });
  expect([seen?.x, seen?.y]).toEqual([expect.closeTo(9, 9), expect.closeTo(25, 9)]);
  expect(seen?.ellipse.along).toBeCloseTo(0.2, 9);
  expect(seen?.ellipse.turn).toBeCloseTo(Math.PI / 2, 9); // along the heading
  expect(conesOf(reading, 1).map(({ colour }) => colour)).toEqual(["blue"]);
});

it("finds the axes of a covariance", () => {
  const { along, across, turn } = ellipseOf(0.05, 0.03, 0.05);
  expect([along, across, turn]).toEqual([
    expect.closeTo(Math.sqrt(0.08), 9),
    expect.closeTo(Math.sqrt(0.02), 9),
    expect.closeTo(Math.PI / 4, 9),
  ]);
  expect(ellipseOf(Number.NaN, 0, 0)).toEqual({ along: 0, across: 0, turn: 0 });
});

it("fades a reading when the next one is overdue", () => {
  const reading = readingOf(cones, [[], []]); // every 0.1 s, up to 0.2 s late, from 2 s
  expect([2.2, 2.45, 2.8, 3.5].map((now) => freshness(reading, now))).toEqual([1, 1, expect.closeTo(0.5, 6), 0]);
});
