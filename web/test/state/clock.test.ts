// The clock: measurement, commands, and outdated figures.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import {
  clockFromFigures,
  clockFromFrame,
  clockJumped,
  clockLost,
  holdsClock,
  pause,
  play,
  releaseClock,
  reset,
  setPace,
  step,
} from "../../src/state/clock";
import { clock, notices } from "../../src/state/store";
import type { FiguresTree } from "../../src/wire/schema";
import { fakeServer } from "../fake-server";
import { made } from "./frames";

let calls: [string, unknown][];
let moment = { tick: 0, time: 0 };

const figures = (tick: number, wall: number, more: Partial<FiguresTree> = {}): FiguresTree => {
  const rest = { rate: 100, pace: 1, paused: false, run: 0, owner: "" };
  return { ...rest, tick, time: tick / 100, wall, ...more } as unknown as FiguresTree;
};

beforeEach(() => {
  vi.useFakeTimers();
  clockLost();
  calls = [];
  notices.value = [];
  fakeServer((method, params) => {
    calls.push([method, params]);
    return Promise.resolve(moment);
  });
});

afterEach(() => vi.useRealTimers());

it("measures the real-time factor", () => {
  for (let k = 0; k <= 30; k++) clockFromFrame(made(0.25 * k, 0, { wall: 1000 + 0.1 * k }), 1e6 + 100 * k);
  clockFromFigures(figures(800, 1003.2));
  expect(clock.value.factor).toBeCloseTo(2.5, 1);
  expect(clock.value.tick).toBe(800);
});

it("shows the last frame even if it arrives soon after another", () => {
  vi.setSystemTime(0);
  clockFromFrame(made(1, 0), performance.now() + 1e7);
  clockFromFrame(made(1.01, 0), performance.now());
  vi.advanceTimersByTime(200);
  expect(clock.value.tick).toBe(101);
});

it("ignores figures from before a pause", async () => {
  clockFromFigures(figures(100, 10));
  moment = { tick: 130, time: 1.3 };
  await pause();
  expect(clock.value).toMatchObject({ paused: true, tick: 130, factor: 0 });
  clockFromFigures(figures(120, 10.2));
  expect(clock.value).toMatchObject({ paused: true, tick: 130 });
  clockFromFigures(figures(130, 10.7, { paused: true }));
  await play();
  clockFromFigures(figures(130, 10.9, { paused: true }));
  expect(clock.value.paused).toBe(false);
  clockFromFigures(figures(140, 11.2, { paused: true }));
  expect(clock.value.paused).toBe(true);
});

it("owns the clock after a step until it plays", async () => {
  moment = { tick: 205, time: 2.05 };
  await step(5);
  expect(clock.value).toMatchObject({ paused: true, tick: 205, time: 2.05 });
  clockFromFigures(figures(205, 20));
  expect(clock.value.paused).toBe(true);
  await play();
  expect(calls.map(([method]) => method)).toEqual(["simulation_step", "release_clock", "resume"]);
  expect(calls[0]?.[1]).toEqual({ ticks: 5 });
  expect(clock.value.paused).toBe(false);
});

it("releases the clock only if it owns it", async () => {
  await releaseClock();
  expect(calls).toEqual([]);
  await step(1);
  clockFromFigures(figures(500, 30, { owner: "web 127.0.0.1:5000" }));
  expect([holdsClock.value, clock.value.paused]).toEqual([true, true]);
  await releaseClock();
  expect(calls.map(([method]) => method)).toEqual(["simulation_step", "release_clock"]);
  expect([holdsClock.value, clock.value.owner, clock.value.paused]).toEqual([false, "", false]);
});

it("owns nothing when its step is refused", async () => {
  clockFromFigures(figures(600, 40));
  fakeServer(() => Promise.reject(new Error("step refused: the clock belongs to ros")));
  await step(1);
  expect([holdsClock.value, clock.value.paused]).toEqual([false, false]);
});

it("resets with and without a seed, and sets the pace", async () => {
  await reset();
  await reset(42);
  await setPace(0.5);
  expect(calls).toEqual([
    ["reset", {}],
    ["reset", { seed: 42 }],
    ["set_pace", { pace: 0.5 }],
  ]);
  expect(clock.value.pace).toBe(0.5);
});

it("shows refusals", async () => {
  fakeServer(() => Promise.reject(new Error("the clock belongs to ros")));
  await pause();
  expect(notices.value.at(-1)).toMatchObject({ kind: "error", text: "the clock belongs to ros" });
});

it("trusts frames over outdated figures after a seek", async () => {
  moment = { tick: 429, time: 4.29 };
  await pause();
  clockJumped();
  clockFromFrame(made(0.99, 0), performance.now());
  clockFromFigures(figures(429, 20, { paused: true }));
  expect(clock.value).toMatchObject({ tick: 99, time: 0.99, paused: true });
  vi.advanceTimersByTime(2000);
  clockFromFigures(figures(99, 22, { paused: true }));
  expect(clock.value.tick).toBe(99);
});
