// Two runs over each other: the ghost follows simulated time, and the gap matches geometry.
import { afterEach, describe, expect, it, vi } from "vitest";
import { GhostSource, gapBetween, type Path } from "../../src/replay/ghost";
import { Recording } from "../../src/replay/recording";
import { RecordingSource } from "../../src/replay/source";
import { focus, ghosts, source } from "../../src/state/store";
import { fileOf, smallBytes, smallExpected } from "./files";

const expected = smallExpected();

afterEach(() => {
  source.value?.close();
  source.value = null;
  for (const ghost of ghosts.value) ghost.close();
  ghosts.value = [];
  focus.value = null;
});

async function both(): Promise<[RecordingSource, GhostSource]> {
  const main = new RecordingSource("main", await Recording.open(fileOf(smallBytes())));
  const ghost = new GhostSource("ghost", await Recording.open(fileOf(smallBytes())));
  source.value = main;
  ghosts.value = [ghost];
  return [main, ghost];
}

/** Wait for pending reads. */
async function settle(ghost: GhostSource): Promise<void> {
  for (let k = 0; k < 20; k++) {
    ghost.sample(1000 * k);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

describe("a ghost", () => {
  it("shows the same simulated time of the same run, shifted by its offset", async () => {
    const [main, ghost] = await both();
    await main.seekToSample(12);
    await settle(ghost);
    expect(ghost.sample(1e5)?.from.tick).toBe(120);
    ghost.offset.value = -0.5;
    await settle(ghost);
    expect(ghost.sample(2e5)?.from.tick).toBe(70);
    await main.seekToSample(25); // 0.6 s of the second run
    ghost.offset.value = 0.1;
    await settle(ghost);
    expect([ghost.sample(3e5)?.from.run, ghost.sample(3e5)?.from.tick]).toEqual([1, 70]);
    ghost.offset.value = 100;
    expect(ghost.inner.recording.times[27]).toBe(ghost.position(100, 1)); // limited to its end
  });

  it("shows whether its recording has not begun or has ended, and stands at that end", async () => {
    const [main, ghost] = await both();
    await main.seekToSample(12);
    const shiftedBy = async (seconds: number) => {
      ghost.offset.value = seconds;
      await settle(ghost);
      return [ghost.standing.value, ghost.sample(1e6)?.from.tick];
    };
    expect((await shiftedBy(0))[0]).toBe("");
    expect(await shiftedBy(-100)).toEqual(["not begun", 0]);
    const [ended, tick] = await shiftedBy(100);
    expect(ended).toBe("ended");
    expect(tick).toBeGreaterThan(120);
  });

  it("measures the gap to the followed vehicle", async () => {
    const [main, ghost] = await both();
    await main.seekToSample(12);
    focus.value = main.roster.value.idAt(main.roster.value.rowOfName("red") ?? -1) ?? null;
    ghost.offset.value = -0.2;
    await settle(ghost);
    const known = () => {
      ghost.sample(1e6); // as a page that draws repeatedly
      expect(ghost.gap.value?.seconds).not.toBeNull();
      expect(ghost.gap.value).not.toBeNull();
    };
    await vi.waitFor(known, { timeout: 4000, interval: 20 });
    const gap = ghost.gap.value;
    const driven = (expected.red_x[12] as number) - (expected.red_x[10] as number);
    expect(gap?.distance).toBeGreaterThan(0.95 * driven);
    expect(gap?.seconds).toBeCloseTo(-0.2, 2); // it arrives here 0.2 s later
  });
});

describe("the gap", () => {
  const straight: Path = {
    times: Float64Array.from({ length: 11 }, (_, k) => k),
    x: Float64Array.from({ length: 11 }, (_, k) => 10 * k), // 10 m/s to the east
    y: new Float64Array(11),
    z: new Float64Array(11),
  };

  it("is a distance, and a time along the ghost's path", () => {
    expect(gapBetween([25, 0, 0], [50, 0, 0], straight, 5)).toEqual({ distance: 25, seconds: 2.5 });
    expect(gapBetween([75, 0, 0], [50, 0, 0], straight, 5)).toEqual({ distance: 25, seconds: -2.5 });
    expect(gapBetween([50, 3, 4], [50, 0, 0], straight, 5)).toEqual({ distance: 5, seconds: 0 });
  });

  it("has no time if the ghost was never near, or its path is unknown", () => {
    expect(gapBetween([50, 100, 0], [50, 0, 0], straight, 5)).toEqual({ distance: 100, seconds: null });
    expect(gapBetween([25, 0, 0], [50, 0, 0], null, 5).seconds).toBeNull();
  });

  it("uses the nearest lap in time", () => {
    const lap = 2 * Math.PI;
    const times = Float64Array.from({ length: 400 }, (_, k) => k / 10); // laps of 10 s, radius 100 m
    const x = times.map((t) => 100 * Math.cos((lap * t) / 10));
    const y = times.map((t) => 100 * Math.sin((lap * t) / 10));
    const place: [number, number, number] = [100 * Math.cos((lap * 19) / 10), 100 * Math.sin((lap * 19) / 10), 0];
    const gap = gapBetween(place, [100, 0, 0], { times, x, y, z: new Float64Array(400) }, 20);
    expect(gap.seconds).toBeCloseTo(1, 6);
  });
});
