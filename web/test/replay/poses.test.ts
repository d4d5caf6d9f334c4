// Packed 32-bit orientations.
import { describe, expect, it } from "vitest";
import { packOrientation } from "../../src/replay/messages";
import { type Quaternion, unpackOrientation } from "../../src/wire/frame";

const STEP = (2 * Math.SQRT1_2) / 1022;

describe("packOrientation", () => {
  it("has the bits of the wire format", () => {
    expect(packOrientation(0, 0, 0, 1)).toBe(((3 << 30) | (511 << 20) | (511 << 10) | 511) >>> 0);
    // a quarter turn about z: z and w are equal, the first counts as the largest
    const quarter = ((2 << 30) | (511 << 20) | (511 << 10) | 1022) >>> 0;
    expect(packOrientation(0, 0, Math.SQRT1_2, Math.SQRT1_2)).toBe(quarter);
    expect(packOrientation(-1, 0, 0, 0)).toBe(((511 << 20) | (511 << 10) | 511) >>> 0);
  });

  it("treats an invalid orientation as upright", () => {
    const upright = packOrientation(0, 0, 0, 1);
    expect(packOrientation(Number.NaN, 0, 0, 1)).toBe(upright);
    expect(packOrientation(0, 0, 0, 0)).toBe(upright);
    expect(packOrientation(0, 0, 0, Number.POSITIVE_INFINITY)).toBe(upright);
  });

  it("round-trips through unpackOrientation within half a step", () => {
    for (let k = 0; k < 2000; k++) {
      const given = [0, 1, 2, 3].map((part) => Math.sin(12.9898 * k + 78.233 * part)) as Quaternion;
      const size = Math.hypot(...given);
      const back = unpackOrientation(packOrientation(...given), [0, 0, 0, 1]);
      const sign = given.reduce((sum, part, p) => sum + part * (back[p] as number), 0) < 0 ? -1 : 1;
      const errors = given.map((part, p) => Math.abs((sign * part) / size - (back[p] as number)));
      const largest = back.indexOf(Math.max(...back));
      // the largest is computed from the others: its square has the errors of all of them
      errors.forEach((error, p) => expect(error).toBeLessThan((p === largest ? 1.5 : 0.501) * STEP));
    }
  });
});
