// The rate governor: lower when the page cannot keep up, higher again when it can.
// A page that cannot keep up shows one notice; the chip shows the rest.
import { beforeEach, describe, expect, it } from "vitest";
import { markDrawn } from "../../src/state/run";
import { clock, notices, pageRates } from "../../src/state/store";
import { Pacing, RateGovernor, type Seen } from "../../src/state/subscription";

describe("rate governor", () => {
  /** Seconds of the same measurements, one per second; the rate after each. */
  function run(governor: RateGovernor, from: number, seconds: number, seen: (rate: number) => Partial<Seen>): number[] {
    return Array.from({ length: seconds }, (_, k) => {
      const rate = governor.rate;
      const usual = { granted: rate, drawn: 60, arriving: rate, skipped: 0, late: 0, ticks: 120 };
      governor.see({ now: 1000 * (from + k), ...usual, ...seen(rate) });
      return governor.rate;
    });
  }

  /** A page that draws 10 frames per second. */
  const slow = (rate: number) => ({ drawn: 10, skipped: Math.max(rate - 10, 0) });

  it("starts at 60 for few vehicles and at 30 for many", () => {
    expect([new RateGovernor(999).rate, new RateGovernor(1000).rate]).toEqual([60, 30]);
  });

  it("halves after 2 s, step by step, until the page keeps up", () => {
    expect(run(new RateGovernor(10), 0, 9, slow)).toEqual([60, 60, 30, 30, 30, 15, 15, 15, 8]);
  });

  it("goes no lower than 4", () => {
    const governor = new RateGovernor(10);
    run(governor, 0, 40, () => ({ drawn: 1, skipped: 3, arriving: 4 }));
    expect(governor.rate).toBe(4);
  });

  it("increases after 10 s, up to the initial rate", () => {
    const governor = new RateGovernor(5000);
    run(governor, 0, 3, slow);
    expect(governor.rate).toBe(15);
    const after = run(governor, 3, 12, () => ({}));
    expect(after.slice(9)).toEqual([15, 30, 30]);
    run(governor, 15, 60, () => ({}));
    expect(governor.rate).toBe(30);
    expect(governor.slowed).toBe(false);
  });

  it("waits longer after a wrong increase", () => {
    const governor = new RateGovernor(5000);
    const limited = (rate: number) => ({ drawn: 20, arriving: rate, skipped: Math.max(rate - 20, 0) });
    const rates = run(governor, 0, 40, limited);
    const raises = rates.flatMap((rate, k) => (k > 0 && rate > (rates[k - 1] as number) ? [k] : []));
    expect(raises[0]).toBe(13); // lowered at 2 s, easy from 3 s on
    expect((raises[1] as number) - (raises[0] as number)).toBeGreaterThan(20);
  });

  it("ignores a slow or paused simulation", () => {
    const governor = new RateGovernor(10);
    run(governor, 0, 20, () => ({ arriving: 0, ticks: 0 }));
    run(governor, 20, 20, () => ({ arriving: 6, ticks: 6 }));
    run(governor, 40, 20, () => ({ arriving: 50, ticks: 100 })); // every second tick of 100
    expect(governor.rate).toBe(60);
  });

  it("reacts to frames that arrive late", () => {
    const governor = new RateGovernor(5000);
    run(governor, 0, 3, () => ({ late: 0.8 }));
    expect(governor.rate).toBe(15);
  });

  it("reacts to a slow network", () => {
    const governor = new RateGovernor(5000);
    run(governor, 0, 3, () => ({ arriving: 12, ticks: 60 }));
    expect(governor.rate).toBe(15);
  });
});

describe("pacing", () => {
  const requested: number[] = [];
  const pacing = new Pacing((rate) => {
    requested.push(rate);
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
      pacing.update(1000 * (from + k), false);
    }
  }

  it("shows one notice, however often the rate is reduced", () => {
    struggle(1, 12);
    expect(requested.slice(0, 3)).toEqual([30, 15, 8]);
    expect(notices.value.map(({ text }) => text)).toEqual([
      "Update rate reduced from 60 to 30 Hz: the page cannot keep up",
    ]);
    expect(pageRates.value.slowed).toBe(true);
    notices.value = [];
    pacing.opened(10); // reconnected: still the same page
    struggle(1, 8);
    expect(requested.length).toBeGreaterThan(4);
    expect(notices.value).toEqual([]);
  });
});
