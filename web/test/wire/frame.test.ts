// Orientation packing against an independent computation, and positions.
import { expect, it } from "vitest";
import { type Quaternion, unpackOrientation } from "../../src/wire/frame";

/** The documented format: index of the largest, the others in 10 bits each over -0.7071 to 0.7071. */
function packed(q: readonly number[]): number {
  const largest = q.reduce((best, value, k) => (Math.abs(value) > Math.abs(q[best] as number) ? k : best), 0);
  const sign = (q[largest] as number) < 0 ? -1 : 1;
  const others = q
    .filter((_, k) => k !== largest)
    .map((value) => BigInt(Math.round(((sign * value) / 0.70710678) * 511 + 511)));
  const bits = others.reduce((all, value) => (all << 10n) | value, BigInt(largest));
  return Number(bits);
}

/** Angle between two orientations, degrees, from their rotation matrices: cos = (trace(A^T B) - 1) / 2. */
function between(a: readonly number[], b: readonly number[]): number {
  const [first, second] = [matrix(a), matrix(b)];
  const difference = first.map((value, k) => value - (second[k] as number));
  const chord = Math.hypot(...difference); // Frobenius norm: 2 sqrt(2) sin(angle / 2)
  return (2 * Math.asin(chord / (2 * Math.SQRT2)) * 180) / Math.PI;
}

function matrix([x = 0, y = 0, z = 0, w = 0]: readonly number[]): number[] {
  return [
    1 - 2 * (y * y + z * z),
    2 * (x * y - z * w),
    2 * (x * z + y * w),
    2 * (x * y + z * w),
    1 - 2 * (x * x + z * z),
    2 * (y * z - x * w),
    2 * (x * z - y * w),
    2 * (y * z + x * w),
    1 - 2 * (x * x + y * y),
  ];
}

function* orientations(count: number): Generator<number[]> {
  let state = 12345;
  const random = () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648 - 0.5;
  for (let k = 0; k < count; k++) {
    const q = [random(), random(), random(), random()];
    const length = Math.hypot(...q);
    yield q.map((value) => value / length);
  }
}

it("keeps orientations within 0.25 degrees", () => {
  let worst = 0;
  for (const q of orientations(20_000)) {
    const back: Quaternion = [0, 0, 0, 0];
    unpackOrientation(packed(q), back);
    worst = Math.max(worst, between(q, back));
  }
  console.log(`worst orientation error: ${worst.toFixed(3)} degrees`);
  expect(worst).toBeLessThan(0.25);
});

it("rotates by 90 degrees to the left", () => {
  const back = unpackOrientation(packed([0, 0, Math.SQRT1_2, Math.SQRT1_2]), [0, 0, 0, 0]);
  expect(between(back, [0, 0, Math.SQRT1_2, Math.SQRT1_2])).toBeLessThan(0.25);
});

it("keeps level orientations level", () => {
  for (const yaw of [0, 0.3, Math.PI / 2, 2, -3]) {
    const back = unpackOrientation(packed([0, 0, Math.sin(yaw / 2), Math.cos(yaw / 2)]), [9, 9, 9, 9]);
    expect(back.slice(0, 2)).toEqual([0, 0]);
  }
});
