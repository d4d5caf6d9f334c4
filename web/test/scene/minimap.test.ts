// The minimap: north up, clicks invert positions, a steady frame.
import { expect, test } from "vitest";
import { fromMap, mapFrame, toMap } from "../../src/scene/minimap";

const FRAME = { x: 100, y: 50, half: 200 };

test("has east to the right and north up", () => {
  expect(toMap(FRAME, 160, 100, 50)).toEqual([80, 80]);
  expect(toMap(FRAME, 160, 300, 250)).toEqual([160, 0]);
  expect(fromMap(FRAME, 160, 0, 160)).toEqual([-100, -150]);
});

test("frames all positions, and keeps the frame while they fit", () => {
  const frame = mapFrame(Float32Array.of(0, 0, 0, 100, 20, 5, Number.NaN, 1, 1), 3, null);
  expect(frame).toEqual({ x: 50, y: 10, half: 59 }); // 50 m and 18 % margin
  expect(mapFrame(Float32Array.of(2, 2, 0, 98, 18, 0), 2, frame)).toBe(frame);
  expect(mapFrame(Float32Array.of(0, 0, 0, 500, 20, 0), 2, frame)?.x).toBe(250);
  expect(mapFrame(new Float32Array(0), 0, null)).toBeNull();
});
