// The colour ramp: increasing lightness, clamped ends, grey for NaN.
import { expect, test } from "vitest";
import { ramp, rampCss, rampTable, rgbOf, UNKNOWN } from "../../src/scene/colour-ramp";
import { tintValues } from "../../src/scene/vehicle-rows";

function luminance([r, g, b]: readonly number[]): number {
  const linear = (c = 0) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

test("white and mid grey of OKLab", () => {
  for (const part of rgbOf([1, 0, 0])) expect(part).toBeCloseTo(1, 3);
  for (const part of rgbOf([0.5999, 0, 0])) expect(part).toBeCloseTo(128 / 255, 2); // OKLab lightness of #808080
});

test.each(["dark", "light"] as const)("gets lighter all the way (%s)", (theme) => {
  const steps = Array.from({ length: 33 }, (_, k) => luminance(ramp(k / 32, theme)));
  for (let k = 1; k < steps.length; k++) expect(steps[k]).toBeGreaterThan(steps[k - 1] as number);
});

test("has a contrast of at least 2.2 to its background", () => {
  for (let k = 0; k <= 10; k++) {
    const contrast = (a: number, b: number) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    expect(contrast(luminance(ramp(k / 10, "dark")), luminance([0.067, 0.09, 0.114]))).toBeGreaterThan(2.2);
    expect(contrast(luminance(ramp(k / 10, "light")), luminance([0.925, 0.918, 0.894]))).toBeGreaterThan(2.2);
  }
});

test("clamps at the ends and is grey without a number", () => {
  expect(ramp(-3)).toEqual(ramp(0));
  expect(ramp(7)).toEqual(ramp(1));
  expect(ramp(Number.NaN)).toEqual(UNKNOWN.dark);
  expect(rampCss(0)).toMatch(/^rgb\(\d+ \d+ \d+\)$/);
});

test("maps values to the table's colours", () => {
  const table = rampTable("dark");
  const bytes = new Uint8Array(16);
  tintValues(bytes, [10, 20, 99, Number.NaN], 10, 20, table);
  expect([...bytes.subarray(0, 3)]).toEqual([...table.subarray(0, 3)]);
  expect([...bytes.subarray(4, 7)]).toEqual([...table.subarray(765, 768)]);
  expect([...bytes.subarray(8, 11)]).toEqual([...table.subarray(765, 768)]);
  expect([...bytes.subarray(12, 15)]).toEqual([107, 117, 128]);
});
