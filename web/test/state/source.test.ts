// Controlling a recording played by the server: calls to it.
import { beforeEach, describe, expect, it, vi } from "vitest";
import { jumpToEvent, modeOf, playOrPause, setShownPace, stepSample, stepShown } from "../../src/panels/timeline-model";
import { clockFromFrame } from "../../src/state/clock";
import { addEvents, clearEvents } from "../../src/state/events";
import { rosters, showServed, takeFrame } from "../../src/state/run";
import { clock, notices, source } from "../../src/state/store";
import { fakeServer } from "../fake-server";
import { made } from "./frames";

const calls: [string, unknown][] = [];
let answer: (() => void) | null = null; // resolves the pending seek

beforeEach(() => {
  calls.length = 0;
  notices.value = [];
  clearEvents();
  fakeServer((method, params) => {
    calls.push([method, params]);
    if (method !== "seek") return Promise.resolve({ tick: clock.peek().tick, time: clock.peek().time });
    return new Promise((resolve) => (answer = () => resolve({ position: 0 })));
  });
  rosters.put({ roster: 0, fleets: [] });
  showServed(null);
  showServed({ path: "runs/race.mcap", start: 2, position: 0, duration: 5, events: [] }); // simulated time 2 s to 7 s
  clock.value = { ...clock.value, rate: 100, paused: true };
  clockFromFrame(made(3, 0), performance.now());
});

const settle = () => vi.waitFor(() => expect(answer).not.toBeNull());

describe("a served recording", () => {
  it("is a recording with its own timeline", () => {
    expect([modeOf(source.value), source.value?.label]).toEqual(["served", "race.mcap"]);
    const { start, end, position } = source.value?.timeline ?? {};
    expect([start?.value, end?.value, position?.value]).toEqual([2, 7, 3]);
  });

  it("requests only the newest position, relative to its beginning and within it", async () => {
    for (const time of [4, 5, 6.5, 99]) source.value?.timeline?.seek(time);
    expect(calls).toEqual([["seek", { position: 2 }]]);
    await settle();
    answer?.();
    await vi.waitFor(() => expect(calls.length).toBe(2));
    expect(calls[1]).toEqual(["seek", { position: 5 }]);
    answer?.();
  });

  it("plays, pauses and changes its speed on the server", async () => {
    playOrPause();
    await vi.waitFor(() => expect(clock.value.paused).toBe(false));
    playOrPause();
    setShownPace(0.25);
    await vi.waitFor(() => expect(calls.length).toBe(3));
    expect(calls).toEqual([
      ["resume", {}],
      ["pause", {}],
      ["set_pace", { pace: 0.25 }],
    ]);
  });

  it("steps by the sample period, and never steps a simulation", async () => {
    clock.value = { ...clock.value, paused: false };
    for (const time of [3.2, 3.3, 3.4]) takeFrame(made(time, 0, { roster: 0, count: 0 }), performance.now());
    clock.value = { ...clock.value, time: 3.4, paused: true };
    stepShown(1);
    const [, on] = calls.at(-1) ?? [];
    expect((on as { position: number }).position).toBeCloseTo(1.5, 2); // 3.5 s minus the start at 2 s
    answer?.();
    await vi.waitFor(() => Promise.resolve());
    calls.length = 0;
    stepSample(-1);
    await vi.waitFor(() => expect(calls.some(([method]) => method === "seek")).toBe(true));
    const [, back] = calls.find(([method]) => method === "seek") ?? [];
    expect((back as { position: number }).position).toBeLessThan(1.4);
    expect((back as { position: number }).position).toBeGreaterThan(1.39);
    expect(calls.map(([method]) => method)).not.toContain("simulation_step");
    answer?.();
  });

  it("ignores seeks when measuring, and goes farther if a step reached nothing new", async () => {
    for (const time of [6, 3]) takeFrame(made(time, 0, { roster: 0, count: 0 }), performance.now()); // scrubbed
    clock.value = { ...clock.value, time: 3 };
    for (let k = 0; k < 3; k++) {
      stepSample(1);
      await settle();
      answer?.();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const positions = calls.map(([, params]) => (params as { position: number }).position - 1);
    expect(positions.map((reach) => Math.round(30 * reach))).toEqual([1, 2, 4]);
  });

  it("jumps to events", () => {
    const lap = { kind: "lap", subject: "red", detail: "" };
    addEvents([150, 250, 450, 650].map((tick, k) => ({ ...lap, number: k + 1, tick })));
    jumpToEvent(1); // from 3 s: 450 ticks at 100 Hz
    expect(calls.find(([method]) => method === "seek")).toEqual(["seek", { position: 2.5 }]);
    answer?.();
  });
});
