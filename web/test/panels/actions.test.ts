// Server calls of buttons and keys.
import { signal } from "@preact/signals";
import { beforeEach, describe, expect, it } from "vitest";
import { setCamera } from "../../src/panels/actions";
import { SHORTCUTS, shortcutFor } from "../../src/panels/shortcuts";
import { playOrPause, resetShown, setShownPace, stepShown } from "../../src/panels/timeline-model";
import { clockLost } from "../../src/state/clock";
import { type FrameSource, Playback } from "../../src/state/source";
import { camera, clock, figures, focus, notices, source } from "../../src/state/store";
import { fakeServer } from "../fake-server";
import { calls, makeWorld, someFigures } from "./world";

beforeEach(() => {
  clockLost();
  makeWorld();
});

const settle = () => new Promise((resolve) => setTimeout(resolve, 5));

/** A recording of 20 s played in the page. */
function showRecording(): Playback {
  const timeline = new Playback(signal(0), signal(20));
  const recording = { rate: 50, starts: [0] };
  const step = () => timeline.seek(timeline.position.peek() + 0.1);
  const opened = { ...source.value, kind: "recording", timeline, recording, step, seekTo: () => undefined };
  source.value = opened as unknown as FrameSource;
  return timeline;
}

describe("actions", () => {
  it("only requests a step: the server assigns the clock, and a refusal changes nothing", async () => {
    stepShown(5);
    await settle();
    expect(calls).toEqual([["simulation_step", { ticks: 5 }]]);
    expect(clock.value.paused).toBe(true);
  });

  it("leaves the clock unchanged when a step is refused", async () => {
    fakeServer((method) => {
      calls.push([method, {}]);
      return Promise.reject(new Error("step refused: the clock belongs to notebook"));
    });
    stepShown(1);
    await settle();
    expect(calls).toEqual([["simulation_step", {}]]);
    expect(clock.value.paused).toBe(false);
    expect(notices.value.map(({ text }) => text)).toEqual(["step refused: the clock belongs to notebook"]);
  });

  it("resets with a new or the same seed", async () => {
    resetShown(null);
    resetShown(8);
    await settle();
    expect(calls).toEqual([
      ["reset", {}],
      ["reset", { seed: 8 }],
    ]);
  });

  it("applies a pace immediately; a refused one is reverted", async () => {
    setShownPace(2.5);
    expect(clock.value.pace).toBe(2.5);
    expect(calls).toEqual([["set_pace", { pace: 2.5 }]]);
    fakeServer(() => Promise.reject(new Error("pace refused")));
    setShownPace(7);
    await settle();
    expect(clock.value.pace).toBe(2.5);
  });

  it("controls an opened recording without touching the live run", async () => {
    const timeline = showRecording();
    stepShown(100); // of 50 in a second
    expect(timeline.position.value).toBeCloseTo(2, 9);
    setShownPace(4);
    playOrPause();
    resetShown(null);
    await settle();
    expect([timeline.speed.value, timeline.playing.value]).toEqual([4, true]);
    expect(calls).toEqual([]);
    expect(notices.value.at(-1)?.text).toContain("recordings are read-only");
  });

  it("cannot play a run stepped by a program, but can step it", async () => {
    figures.value = { ...someFigures, running: false };
    playOrPause();
    await settle();
    expect(calls).toEqual([]);
    expect(notices.value.at(-1)?.text).toContain("sim.run()");
    stepShown(1);
    expect(calls).toEqual([["simulation_step", { ticks: 1 }]]);
  });

  it("follows the first vehicle when nothing is selected", () => {
    focus.value = null;
    setCamera("chase");
    expect([camera.value, focus.value]).toEqual(["chase", 7]);
  });
});

describe("shortcuts", () => {
  it("gives each key one meaning", () => {
    const keys = SHORTCUTS.filter(({ act }) => act).map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("does not use the driving keys", () => {
    for (const key of ["w", "a", "s", "d", "g", "Delete", "Enter", "ArrowUp"]) expect(shortcutFor(key)).toBeUndefined();
    expect(shortcutFor("V")?.meaning).toBe("select");
  });
});
