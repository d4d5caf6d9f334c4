// A page that cannot keep up shows one notice; the chip shows the rest.
import { beforeEach, expect, it } from "vitest";
import { markDrawn } from "../../src/state/run";
import { clock, notices, pageRates } from "../../src/state/store";
import { Pacing } from "../../src/state/subscription";

const asked: number[] = [];
const pacing = new Pacing((rate) => {
  asked.push(rate);
  pacing.granted(rate);
});

beforeEach(() => {
  notices.value = [];
  clock.value = { ...clock.value, paused: true };
  pacing.opened(10);
});

/** Seconds in which 60 frames arrive, 50 of which are never drawn. */
function struggle(from: number, seconds: number): void {
  for (let k = 0; k < seconds; k++) {
    for (let picture = 0; picture < 10; picture++) markDrawn();
    pacing.frame(60 * (from + k), 50 * (from + k), 0.01);
    pacing.look(1000 * (from + k), false);
  }
}

it("shows one notice, however often the rate is reduced", () => {
  struggle(1, 12);
  expect(asked.slice(0, 3)).toEqual([30, 15, 8]);
  expect(notices.value.map(({ text }) => text)).toEqual([
    "Update rate reduced from 60 to 30 Hz: the page cannot keep up",
  ]);
  expect(pageRates.value.slowed).toBe(true);
  notices.value = [];
  pacing.opened(10); // reconnected: still the same page
  struggle(1, 8);
  expect(asked.length).toBeGreaterThan(4);
  expect(notices.value).toEqual([]);
});
