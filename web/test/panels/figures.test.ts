// Tick budget, selection statistics, angles.
import { describe, expect, it } from "vitest";
import { filterEvents } from "../../src/panels/events";
import { summarise } from "../../src/panels/inspected";
import { budgetOf, sparkPoints, tickBudget } from "../../src/panels/performance";
import { eulerOf } from "../../src/state/poses";
import type { Frame } from "../../src/wire/frame";
import type { FiguresTree } from "../../src/wire/schema";

const figures = (tick: number, seconds: number): FiguresTree => ({
  tick,
  time: tick / 1000,
  wall: 0,
  rate: 1000,
  pace: 2,
  paused: false,
  running: true,
  run: 1,
  vehicles: 1,
  slips: 0,
  lag_seconds: 0,
  tick_seconds: 0,
  events: 0,
  commands: 0,
  refused: 0,
  owner: "",
  drivers: {},
  visualization: null,
  stages: { move: { calls: tick, seconds } },
  subscribers: [],
  counts: {},
});

function frame(time: number, places: readonly (readonly number[])[]): Frame {
  const floats = new Float32Array(places.flatMap((place) => [...place, 0]));
  const poses = new Uint32Array(floats.buffer);
  return { run: 1, tick: 0, time, wall: 0, roster: 1, count: places.length, poses, columns: [], wanted: 0 };
}

describe("budget", () => {
  it("is one tick at the target pace", () => {
    expect(tickBudget(1000, 2)).toBeCloseTo(0.0005, 12);
    expect(tickBudget(1000, 0)).toBe(Number.POSITIVE_INFINITY);
  });

  it("uses the difference of two reports", () => {
    const budget = budgetOf(figures(1500, 0.3), figures(1000, 0.2));
    expect(budget.spent).toBeCloseTo(0.0002, 12); // 0.1 s over 500 ticks
    expect(budget.limit).toBeCloseTo(0.0005, 12);
  });

  it("draws lines from left to right", () => {
    expect(sparkPoints([0, 1, 2], 100, 10, 2)).toBe("0.0,10.0 50.0,5.0 100.0,0.0");
  });
});

describe("summary", () => {
  it("computes centre, spread and speed", () => {
    const from = frame(1, [
      [0, 0, 5],
      [8, 0, 5],
      [Number.NaN, 0, 0],
    ]);
    const to = frame(1.5, [
      [0, 1, 5],
      [8, 2, 7],
      [Number.NaN, 0, 0],
    ]);
    const summary = summarise({ from, to, mix: 1 }, [0, 1, 2]);
    expect(summary.middle).toEqual([4, 1.5, 6]);
    expect([summary.lowest, summary.highest, summary.nowhere]).toEqual([5, 7, 1]);
    expect(summary.spread).toBeCloseTo(Math.sqrt(16 + 0.25 + 1), 9);
    expect(summary.fastest).toBeCloseTo(Math.hypot(2, 2) / 0.5, 6);
  });
});

describe("small things", () => {
  it("converts a quarter turn to the left into a yaw of 90 degrees", () => {
    const { roll, pitch, yaw } = eulerOf([0, 0, Math.SQRT1_2, Math.SQRT1_2]);
    expect(yaw).toBeCloseTo(Math.PI / 2, 9);
    expect([roll, pitch]).toEqual([0, 0]);
  });

  it("finds events by kind and text", () => {
    const events = [
      { number: 1, tick: 1, kind: "lap", subject: "red", detail: "12.3 s" },
      { number: 2, tick: 2, kind: "contact", subject: "blue", detail: "with red" },
    ];
    expect(filterEvents(events, "lap", "").map(({ number }) => number)).toEqual([1]);
    expect(filterEvents(events, "", "RED").map(({ number }) => number)).toEqual([1, 2]);
  });
});
