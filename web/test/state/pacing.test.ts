// A page that cannot keep up says so once; the rest is on the chip.
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

/** Seconds in which 60 groups arrive, 50 of which are never drawn. */
function struggle(from: number, seconds: number): void {
  for (let k = 0; k < seconds; k++) {
    for (let picture = 0; picture < 10; picture++) markDrawn();
    pacing.frame(60 * (from + k), 50 * (from + k), 0.01);
    pacing.look(1000 * (from + k), false);
  }
}

it("tells it once, however often the rate falls", () => {
  struggle(1, 12);
  expect(asked.slice(0, 3)).toEqual([30, 15, 8]);
  expect(notices.value.map(({ text }) => text)).toEqual(["the page cannot keep up: 30 updates a second instead of 60"]);
  expect(pageRates.value.slowed).toBe(true);
  notices.value = [];
  pacing.opened(10); // connected anew: still the same visit
  struggle(1, 8);
  expect(asked.length).toBeGreaterThan(4);
  expect(notices.value).toEqual([]);
});
