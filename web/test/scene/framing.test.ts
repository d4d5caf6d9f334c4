// Framing everything, and when it is done automatically.
import { signal } from "@preact/signals";
import { expect, test } from "vitest";
import { CameraRig, fit } from "../../src/scene/camera-rig";
import { Framing, NewWorldDetector, withRoutes } from "../../src/scene/framing";
import { PoseBlend } from "../../src/scene/poses";
import type { VehicleLayer } from "../../src/scene/vehicles";
import { toScreen } from "../../src/scene/view";
import { MarkerBoard } from "../../src/state/markers";
import { Roster } from "../../src/state/roster";
import type { FrameSource } from "../../src/state/source";
import type { Frame } from "../../src/wire/frame";
import { made } from "../state/frames";

const NORTH = { right: [1, 0, 0], up: [0, 0, 1], ahead: [0, 1, 0] };
const FREE = { top: 0, bottom: 0, side: 0 };

test("sees a bar of 20 m from 10 m at 90 degrees, and from farther if it lies along the view", () => {
  const window = { across: 1, upwards: 1, free: FREE };
  expect(fit([-10, 0, 0, 10, 0, 0], 0, NORTH, window)).toEqual({ target: [0, 0, 0], distance: 10 });
  expect(fit([0, -10, 0, 0, 10, 0, 5, -10, 0, -5, -10, 0], 0, NORTH, window)?.distance).toBeCloseTo(15, 6);
  expect(fit([1, 2, 3], 2, NORTH, window)?.distance).toBeCloseTo(2, 6);
  expect(fit([Number.NaN, 0, 0], 0, NORTH, window)).toBeNull();
});

test("frames all of 300 selected vehicles, and nothing of the others", () => {
  const rig = new CameraRig();
  const blend = new PoseBlend();
  const [size, count] = [{ width: 800, height: 600 }, 1000]; // vehicles at y = 0 to 999
  const frame = made(1, 50, { count });
  blend.update({ from: frame, to: frame, mix: 1 });
  rig.update("top", null, size, 0);
  const vehicles = { blend, roster: null } as unknown as VehicleLayer;
  const rows = Array.from({ length: 300 }, (_, k) => 100 + k);
  expect(new Framing(rig, vehicles).frameRows(rows, size)).toBe(true);
  rig.update("top", null, size, 0);
  const matrix = rig.camera.projectionMatrix.clone().multiply(rig.camera.matrixWorldInverse).elements;
  const high = (row: number) => {
    const screen = [0, 0, 0];
    toScreen(matrix, 50, row, 0, size, screen);
    return screen[1] as number;
  };
  expect(Math.min(high(100), high(399))).toBeGreaterThan(0);
  expect(Math.max(high(100), high(399))).toBeLessThan(600);
  expect(Math.abs(high(100) - high(399))).toBeGreaterThan(450); // they fill the view
  expect(new Framing(rig, vehicles).frameRows([5000], size)).toBe(false);
});

test("needs 4/3 of the distance with a quarter of the view covered above, and raises the target", () => {
  const found = fit([0, 0, -3, 0, 0, 3], 0, NORTH, { across: 1, upwards: 1, free: { ...FREE, top: 0.25 } });
  expect(found?.distance).toBeCloseTo(4, 3);
  expect(found?.target[2]).toBeCloseTo(1, 3); // 3 m below it are 3/4 of the half picture, 3 m above a half
});

test.each(["orbit", "top"] as const)("has every point inside the view, clear of its edges (%s)", (mode) => {
  const rig = new CameraRig();
  const size = { width: 640, height: 380 };
  const points = Array.from({ length: 600 }, (_, k) => 300 * Math.sin(12.9898 * k) * (k % 3 === 2 ? 0.3 : 1));
  rig.update(mode, null, size, 0);
  rig.frame(points, 0, size);
  rig.update(mode, null, size, 0);
  const matrix = rig.camera.projectionMatrix.clone().multiply(rig.camera.matrixWorldInverse).elements;
  const screen = [0, 0, 0];
  for (let k = 0; k < points.length; k += 3) {
    expect(toScreen(matrix, ...(points.slice(k, k + 3) as [number, number, number]), size, screen)).toBe(true);
    expect(screen[0]).toBeGreaterThan(23);
    expect(screen[0]).toBeLessThan(617);
    expect(screen[1]).toBeGreaterThan(59);
    expect(screen[1]).toBeLessThan(357);
  }
});

test("includes routes up to 20 times the extent of the vehicles", () => {
  const patrol = { fleet: "red", ids: [], behaviour: "patrol", closed: false };
  const route = (x: number) => ({ ...patrol, points: [[x, 0, 0]] as const });
  const cars = Float32Array.of(0, 0, 0, 10, 0, 0);
  expect([...withRoutes(cars, [route(900)])]).toEqual([0, 0, 0, 10, 0, 0, 900, 0, 0]);
  expect(withRoutes(cars, [route(1100)]).length).toBe(6); // 20 * 50 m
  expect(withRoutes(cars, [route(Number.NaN)]).length).toBe(6);
});

function source(kind: FrameSource["kind"]): FrameSource {
  const rest = { markers: new MarkerBoard(), events: signal([]), timeline: null, sample: () => null, close: () => {} };
  return { label: kind, kind, roster: signal(Roster.empty), ...rest };
}

function fleets(...names: string[]): Roster {
  const none = { kind: "car", model: "car", single: true, ids: [[0, 1]], members: [], columns: [] } as const;
  return new Roster({ roster: 1, fleets: names.map((name) => ({ ...none, name })) });
}

function at(time: number, run = 1) {
  const to = { time, run } as Frame;
  return { from: to, to, mix: 1 };
}

test("treats another scenario as another world once its frames arrive; not a reset or a reconnect", () => {
  const [live, race, mixed] = [source("live"), fleets("red"), fleets("lead", "birds")];
  const camera = new NewWorldDetector();
  expect(camera.isNew(live, race, at(0), "race")).toBe(true);
  expect(camera.isNew(live, race, at(5), "race")).toBe(false);
  expect(camera.isNew(live, race, at(0, 2), "race")).toBe(false); // reset
  expect(camera.isNew(live, race, at(9, 2), "race")).toBe(false); // reconnected
  expect(camera.isNew(live, race, at(9, 2), "mixed")).toBe(false); // the name arrives first
  expect(camera.isNew(live, mixed, at(0), "mixed")).toBe(true);
  expect(camera.isNew(live, mixed, at(1), "mixed")).toBe(false);
});

test("keeps the camera for a recording of the same vehicles, not of others", () => {
  const camera = new NewWorldDetector();
  camera.isNew(source("live"), fleets("red", "blue"), at(5), "race");
  expect(camera.isNew(source("recording"), fleets("blue"), at(0), "race")).toBe(false);
  expect(camera.isNew(source("recording"), fleets("scouts"), at(0), "race")).toBe(true);
});

test("keeps the camera when all vehicles are replaced in the same run", () => {
  const [live, camera] = [source("live"), new NewWorldDetector()];
  camera.isNew(live, fleets("red"), at(5), "race");
  expect(camera.isNew(live, fleets("green"), at(6), "race")).toBe(false);
});
