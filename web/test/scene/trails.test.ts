// Trails: bounded length, time going back, vehicles at rest or jumping.
import { expect, test } from "vitest";
import { MOST_TRAILS, TrailRing, TrailStore } from "../../src/scene/trails";

function all(ring: TrailRing): number[] {
  return Array.from({ length: ring.length }, (_, k) => ring.at(k, [])[0] as number);
}

test("drops the oldest position when full", () => {
  const ring = new TrailRing(3);
  for (const x of [1, 2, 3, 4, 5]) ring.push(x, 0, 0);
  expect(all(ring)).toEqual([3, 4, 5]);
});

test("samples 12 times per second of simulated time", () => {
  const store = new TrailStore();
  store.keep([7]);
  for (let tick = 0; tick <= 100; tick++) store.sample(tick / 100, 1, () => [tick, 0, 0]);
  expect(store.rings.get(7)?.length).toBe(12); // every 9th of 101 ticks, starting with the first
});

test("restarts when time goes back, another run starts, or the vehicle jumps", () => {
  const store = new TrailStore();
  store.keep([7]);
  store.sample(1, 1, () => [0, 0, 0]);
  store.sample(2, 1, () => [1, 0, 0]);
  expect(store.rings.get(7)?.length).toBe(2);
  store.sample(0.5, 1, () => [5, 0, 0]);
  expect(store.rings.get(7)?.length).toBe(1);
  store.sample(1.5, 2, () => [6, 0, 0]);
  expect(store.rings.get(7)?.length).toBe(1);
  store.sample(2.5, 2, () => [500, 0, 0]);
  expect(store.rings.get(7)?.length).toBe(1);
});

test("adds nothing at rest, and keeps at most 300 positions", () => {
  const store = new TrailStore();
  store.keep(Array.from({ length: 1000 }, (_, k) => k));
  expect(store.rings.size).toBe(MOST_TRAILS);
  for (let k = 0; k < 5; k++) store.sample(k, 1, () => [1, 1, 1]);
  expect(store.rings.get(0)?.length).toBe(1);
});
