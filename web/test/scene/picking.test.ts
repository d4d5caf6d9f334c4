// Projection and picking with a known camera matrix.
import { PerspectiveCamera } from "three";
import { expect, test } from "vitest";
import { onPlane, rowAt, rowsIn, toScreen } from "../../src/scene/view";

// eye at the origin, looks along +y, right is +x, up is +z, 90 degrees: clip = (x, z, _, y)
const AHEAD = [1, 0, 0, 0, 0, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0];
const SIZE = { width: 200, height: 100 };

function places(...points: [number, number, number][]) {
  return { positions: Float32Array.from(points.flat()), count: points.length, focal: 50, radiusOf: () => 0.1 };
}

test("projects a point 10 m ahead, 5 m right and 2 m up", () => {
  const screen = [0, 0, 0];
  expect(toScreen(AHEAD, 5, 10, 2, SIZE, screen)).toBe(true);
  expect(screen).toEqual([150, 40, 10]); // (0.5 + 0.25) * 200, (0.5 - 0.1) * 100
  expect(toScreen(AHEAD, 5, -10, 2, SIZE, screen)).toBe(false);
  expect(toScreen(AHEAD, Number.NaN, 10, 2, SIZE, screen)).toBe(false);
});

test("uses the matrix layout of three.js", () => {
  const camera = new PerspectiveCamera(90, 1, 1, 100);
  camera.up.set(0, 0, 1);
  camera.lookAt(0, 1, 0);
  camera.updateMatrixWorld();
  const matrix = camera.projectionMatrix.clone().multiply(camera.matrixWorldInverse).elements;
  const screen = [0, 0, 0];
  toScreen(matrix, 5, 10, 2, SIZE, screen);
  expect(screen[0]).toBeCloseTo(150, 6);
  expect(screen[1]).toBeCloseTo(40, 6);
  expect(screen[2]).toBeCloseTo(10, 6);
});

test("picks within 14 px, and the nearer of two at the same position", () => {
  const both = places([0, 20, 0], [0, 10, 0], [8, 10, 0]);
  expect(rowAt(both, AHEAD, SIZE, 100, 50)).toBe(1);
  expect(rowAt(both, AHEAD, SIZE, 113, 50)).toBe(1);
  expect(rowAt(both, AHEAD, SIZE, 180, 50)).toBe(2);
  expect(rowAt(both, AHEAD, SIZE, 100, 90)).toBe(-1);
});

test("selects rows in a box with any corner order", () => {
  const three = places([0, 20, 0], [5, 10, 0], [Number.NaN, 10, 0]);
  expect(rowsIn(three, AHEAD, SIZE, [160, 60], [90, 40])).toEqual([0, 1]);
  expect(rowsIn(three, AHEAD, SIZE, [140, 40], [160, 60])).toEqual([1]);
});

test("intersects a ray with the ground", () => {
  expect(onPlane([0, 0, 10], [1, 2, 9], 0)).toEqual([10, 20, 0]);
  expect(onPlane([0, 0, 10], [1, 0, 9], 5)).toEqual([5, 0, 5]);
  expect(onPlane([0, 0, 10], [1, 0, 11], 0)).toBeNull();
  expect(onPlane([0, 0, 10], [1, 0, 10], 0)).toBeNull();
});
