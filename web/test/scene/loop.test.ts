// @vitest-environment happy-dom
// The draw loop: a lower resolution while a moving picture is slow, the full one when it stands still.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { DrawLoop } from "../../src/scene/loop";
import type { Sample } from "../../src/state/source";

let frames: ((now: number) => void)[];
let now: number;
let moving: boolean;
let drawn: number[]; // scales
let loop: DrawLoop;

/** Let animation frames pass, `each` ms apart. */
function pass(count: number, each: number): void {
  for (let k = 0; k < count; k++) {
    now += each;
    for (const frame of frames.splice(0)) frame(now);
  }
}

beforeEach(() => {
  [frames, now, moving, drawn] = [[], 0, true, []];
  vi.spyOn(performance, "now").mockImplementation(() => now);
  vi.stubGlobal("requestAnimationFrame", (frame: (now: number) => void) => frames.push(frame));
  const sample = () => ({ from: {}, to: {}, mix: moving ? now : 0 }) as unknown as Sample;
  const still = sample();
  loop = new DrawLoop({
    sample: () => (moving ? sample() : still),
    settling: () => false,
    draw: (_sample, _now, _seconds, scale) => drawn.push(scale),
    resized: () => loop.now(),
    failed: (error) => expect.fail(String(error)),
  });
});

afterEach(() => {
  loop.stop();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

it("draws the full resolution once, when nothing has moved for 200 ms", () => {
  pass(60, 100);
  expect(drawn.at(-1)).toBe(0.5);
  moving = false;
  pass(2, 100);
  expect(drawn.at(-1)).toBe(0.5);
  pass(3, 100);
  expect(drawn.at(-1)).toBe(1);
  const count = drawn.length;
  pass(50, 100);
  expect(drawn.length).toBe(count);
  moving = true;
  pass(5, 100);
  expect(drawn.at(-1)).toBe(0.5);
});

it("draws the full resolution for a picture to save", () => {
  pass(60, 100);
  loop.sharpen();
  expect([drawn.at(-1), loop.scale]).toEqual([1, 1]);
  pass(5, 100);
  expect(drawn.at(-1)).toBe(0.5);
});
