// Geometry of markers: positions, counts, and non-finite values.
import { expect, test } from "vitest";
import { CORNER, DOT, drawMarkers, SEGMENT, solidOf } from "../../src/scene/marker-geometry";
import type { Marker, MarkerKind } from "../../src/wire/decode";

function marker(kind: MarkerKind, rest: Partial<Marker> = {}): Marker {
  const none = { namespace: "n", id: 1, frame: "", text: "", expires: Infinity, points: new Float32Array() };
  const placed = { position: [0, 0, 0], quaternion: [0, 0, 0, 1], scale: [1, 1, 1] } satisfies Partial<Marker>;
  return { ...none, ...placed, kind, color: [255, 0, 0, 255], ...rest };
}

function world(...markers: Marker[]) {
  const { frames, skipped } = drawMarkers(markers);
  return { parts: frames.get(""), frames, skipped };
}

test("makes 2 segments of a strip of 3 points, transformed with the marker", () => {
  const half = Math.SQRT1_2; // a quarter turn to the left
  const strip = marker("line_strip", {
    points: Float32Array.of(0, 0, 0, 1, 0, 0, 1, 1, 0),
    position: [10, 0, 0],
    quaternion: [0, 0, half, half],
  });
  const segments = world(strip).parts?.segments.view;
  expect(segments?.length).toBe(2 * SEGMENT);
  expect([...(segments ?? [])].slice(0, 6).map((one) => Math.round(1e5 * one) / 1e5)).toEqual([10, 0, 0, 10, 1, 0]);
});

test("makes 2 segments of a list of 4 points, and dots of points", () => {
  expect(world(marker("line_list", { points: new Float32Array(12) })).parts?.segments.length).toBe(2 * SEGMENT);
  const dots = world(marker("points", { points: Float32Array.of(1, 2, 3), scale: [0.5, 0, 0] })).parts?.dots.view;
  expect([...(dots ?? [])]).toEqual([1, 2, 3, 0.5, 1, 0, 0, 1]);
  expect(dots?.length).toBe(DOT);
});

test("skips and counts non-finite values", () => {
  const bad = marker("circle", { position: [Number.NaN, 0, 0] });
  const partly = marker("points", { points: Float32Array.of(0, 0, 0, 1, Number.POSITIVE_INFINITY, 0) });
  const { parts, skipped } = world(bad, partly);
  expect(skipped).toBe(2);
  expect(parts?.dots.length).toBe(DOT);
  expect(parts?.segments.length).toBe(0);
});

test("counts unknown kinds without an exception", () => {
  expect(world(marker("nonsense" as MarkerKind)).skipped).toBe(1);
});

test("draws a circle with radius 2, an arrow of its length, a car standing on its position", () => {
  const circle = world(marker("circle", { scale: [2, 0, 0] })).parts?.segments.view ?? new Float32Array();
  for (let k = 0; k < circle.length; k += SEGMENT)
    expect(Math.hypot(circle[k] ?? 0, circle[k + 1] ?? 0)).toBeCloseTo(2, 5);
  expect(extremes(marker("arrow", { scale: [3, 0.2, 0.5] }), 0)).toEqual([0, 3]);
  const [low, high] = extremes(marker("car", { scale: [4, 2, 1.5] }), 2);
  expect(low).toBeGreaterThan(0);
  expect(high).toBe(1.5);
});

test("draws axes as three segments of the given length", () => {
  const axes = world(marker("axes", { scale: [2, 0, 0] })).parts?.segments.view ?? new Float32Array();
  expect(axes.length).toBe(3 * SEGMENT);
  expect([axes[3], axes[SEGMENT + 4], axes[2 * SEGMENT + 5]]).toEqual([2, 2, 2]);
});

test("separates translucent faces and frames; an unknown mesh is a box of 12 triangles", () => {
  const { parts, frames } = world(
    marker("mesh", { text: "box", color: [1, 2, 3, 100] }),
    marker("text", { frame: "red", text: "hi" }),
  );
  expect(parts?.triangles.length).toBe(0);
  expect(parts?.clear.length).toBe(36 * CORNER);
  expect(frames.get("red")?.labels[0]?.text).toBe("hi");
  expect(solidOf("unknown").length).toBe(36);
  expect(solidOf("models/Cone.glb")).toBe(solidOf("cone"));
});

function extremes(one: Marker, axis: number): [number, number] {
  const corners = world(one).parts?.triangles.view ?? new Float32Array();
  const values = Array.from({ length: corners.length / CORNER }, (_, k) => corners[k * CORNER + axis] as number);
  return [Math.min(...values), Math.max(...values)];
}
