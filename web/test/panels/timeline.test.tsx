// @vitest-environment happy-dom
// The timeline: one slider for the live run's buffer and for recordings.
import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TimelineStrip } from "../../src/panels/timeline";
import { jumpToEvent, modeOf, playOrPause, seek, stepSample } from "../../src/panels/timeline-model";
import { closeRecording, openRecording, type RecordingSource } from "../../src/replay/open";
import { history, showLive } from "../../src/state/run";
import { notices, source } from "../../src/state/store";
import type { Frame } from "../../src/wire/frame";
import { fileOf, smallBytes } from "../replay/files";

const page = document.createElement("div");

beforeEach(async () => {
  document.body.append(page);
  await act(() => {
    showLive();
    render(<TimelineStrip />, page);
  });
});

afterEach(() => {
  render(null, page);
  closeRecording();
  history.clear();
});

const slider = () => page.querySelector<HTMLElement>("[role=slider]") as HTMLElement;
const values = () => ["min", "max", "now"].map((name) => Number(slider().getAttribute(`aria-value${name}`)));
const button = (name: string) => page.querySelector<HTMLButtonElement>(`button[aria-label^="${name}"]`);
const words = () => page.querySelector(".timeline-readout")?.textContent;

async function press(key: string, shiftKey = false): Promise<void> {
  const event = new KeyboardEvent("keydown", { key, shiftKey, bubbles: true, cancelable: true });
  await act(() => void slider().dispatchEvent(event));
  source.value?.sample(0);
}

/** Wait for chunks. */
async function settle(): Promise<void> {
  for (let k = 0; k < 10; k++) {
    await act(() => void source.value?.sample(0));
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

async function withRecording(): Promise<RecordingSource> {
  await act(() => openRecording(fileOf(smallBytes())));
  await settle();
  return source.value as RecordingSource;
}

function frameAt(tick: number): Frame {
  const poses = new Uint32Array(0);
  return { run: 0, tick, time: tick / 10, wall: tick / 10, roster: 0, count: 0, poses, columns: [], wanted: -1 };
}

describe("of a recording", () => {
  it("is a slider from its beginning to its end", async () => {
    await withRecording();
    expect(modeOf(source.value)).toBe("opened");
    expect(values()).toEqual([0, 2.6, 0]);
    expect(slider().getAttribute("aria-valuetext")).toBe("0.0 s");
    expect(slider().getAttribute("tabindex")).toBe("0");
  });

  it("is moved by keys: ends, samples, events, hundredths", async () => {
    const { timeline } = await withRecording();
    const at: number[] = [];
    for (const key of ["End", "Home", ".", ".", ",", "PageDown", "PageDown", "PageUp"]) {
      await press(key);
      at.push(timeline.position.value);
    }
    expect(at).toEqual([2.61, 0, 0.1, 0.2, 0.1, 0.5, 1, 0.5]); // events are at 0.5 s and 1 s
    await press("ArrowRight");
    expect(timeline.position.value).toBeCloseTo(0.5261, 9);
    await press("ArrowLeft", true);
    expect(timeline.position.value).toBeCloseTo(0.2651, 9);
  });

  it("shows time and tick of the present run", async () => {
    await withRecording();
    await press("End");
    await settle();
    expect(words()).toContain("0:00.800");
    expect(words()).toContain("tick 80, run 1");
  });

  it("has a speed; the top bar plays and pauses", async () => {
    const { timeline } = await withRecording();
    expect([button("Play"), button("Pause")]).toEqual([null, null]);
    playOrPause();
    expect(timeline.playing.value).toBe(true);
    playOrPause();
    expect(timeline.playing.value).toBe(false);
    const select = page.querySelector("select") as HTMLSelectElement;
    select.value = "20";
    await act(() => void select.dispatchEvent(new Event("change", { bubbles: true })));
    expect(timeline.speed.value).toBe(20);
  });

  it("shows that there is no later event", async () => {
    await withRecording();
    seek(2);
    notices.value = [];
    jumpToEvent(1);
    expect(notices.value.map(({ text }) => text)).toEqual(["No later event"]);
    expect((source.value as RecordingSource).timeline.position.value).toBe(2);
  });

  it("returns to live", async () => {
    await withRecording();
    await act(() => button("Back to live")?.click());
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(source.value?.kind).toBe("live");
  });
});

describe("of the live run", () => {
  it("shows its buffer, enters and leaves it", async () => {
    await act(() => {
      for (let tick = 10; tick <= 50; tick += 10) history.add(frameAt(tick));
    });
    expect(values()).toEqual([1, 5, 5]);
    expect(button("Next event (Page down)")?.closest(".reserved")).not.toBeNull(); // space for the buffer's buttons
    await act(() => seek(3.2));
    expect(source.value?.kind).toBe("buffer");
    expect(button("Next event (Page down)")?.closest(".reserved")).toBeNull();
    expect(source.value?.timeline?.position.value).toBeCloseTo(3.2, 9);
    await act(() => stepSample(1));
    expect(source.value?.timeline?.position.value).toBe(4);
    await act(() => stepSample(-1));
    expect(source.value?.timeline?.position.value).toBe(3);
    await act(() => button("Back to live")?.click());
    expect(source.value?.kind).toBe("live");
  });

  it("does nothing with an empty buffer", () => {
    seek(3);
    stepSample(-1);
    expect(source.value?.kind).toBe("live");
  });
});
