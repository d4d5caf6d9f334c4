// Live frames: smooth motion, exact when paused, jumps when necessary.
import { beforeEach, expect, it } from "vitest";
import { poseAt, timeOf } from "../../src/state/poses";
import { RosterIndex } from "../../src/state/roster";
import { LiveFrames } from "../../src/state/run";
import type { Frame } from "../../src/wire/frame";
import { made } from "./frames";

let live: LiveFrames;
let paused: boolean;

beforeEach(() => {
  const book = new RosterIndex();
  const fleet = {
    name: "a",
    kind: "car",
    model: "m",
    single: false,
    members: [[0, 3]] as [number, number][],
    columns: [],
  };
  for (const [number, count] of [
    [1, 1],
    [2, 2],
  ] as const)
    book.put({ roster: number, fleets: [{ ...fleet, ids: [[0, count]] }] });
  paused = false;
  live = new LiveFrames(book);
  live.paused = () => paused;
});

/** Frames at 20 Hz whose x moves at 2 m/s, drawn at 60 Hz; the x of each drawing. */
function drive(seconds: number, factor = 1): { now: number; x: number }[] {
  const drawn: { now: number; x: number }[] = [];
  let next = 0;
  for (let k = 0; k < 60 * seconds; k++) {
    const now = (1000 * k) / 60;
    if (now >= next) {
      const wall = next / 1000;
      live.push(made(wall * factor, 2 * wall * factor, { wall }), now);
      next += 50;
    }
    const sample = live.sample(now);
    if (sample) drawn.push({ now, x: poseAt(sample, 0).position[0] });
  }
  return drawn;
}

it("moves evenly, about one frame late", () => {
  const late = drive(5).slice(120);
  const steps = late.slice(1).map(({ x }, k) => x - (late[k]?.x ?? 0));
  const even = 2 / 60; // m per drawing at 2 m/s
  expect(Math.min(...steps)).toBeGreaterThan(0.6 * even);
  expect(Math.max(...steps)).toBeLessThan(1.4 * even);
  const behind = late.map(({ now, x }) => now / 1000 - x / 2);
  expect(Math.max(...behind)).toBeLessThan(0.085);
  expect(Math.min(...behind)).toBeGreaterThan(0.02);
});

it("follows another pace", () => {
  const late = drive(5, 10).slice(200);
  const speed = ((late.at(-1)?.x ?? 0) - (late[0]?.x ?? 0)) / (((late.at(-1)?.now ?? 0) - (late[0]?.now ?? 0)) / 1000);
  expect(speed).toBeCloseTo(20, 0);
});

it("shows the last frame exactly when paused", () => {
  drive(1);
  const last = live.newest as Frame;
  paused = true;
  expect(live.sample(1001)).toEqual({ from: last, to: last, mix: 1 });
});

it("reaches the last frame when no more arrive", () => {
  drive(1);
  for (let now = 1000; now < 1500; now += 16) live.sample(now);
  const sample = live.sample(1500);
  expect(sample && timeOf(sample)).toBe(live.newest?.time);
});

it.each([
  ["another run", { run: 1 }],
  ["another roster", { roster: 2, count: 2 }],
])("jumps to %s", (_, more) => {
  drive(1);
  const frame = made(1.05, 500, more);
  expect(live.push(frame, 1010)).toBe(true);
  expect(live.sample(1011)).toEqual({ from: frame, to: frame, mix: 1 });
  expect(live.roster.value.size).toBe(frame.count);
});

it("jumps back in time, after a long gap, and on request", () => {
  drive(1);
  const back = made(0.2, -3);
  live.push(back, 1010);
  expect(live.sample(1011)?.from).toBe(back);
  const later = made(9, 70);
  live.push(later, 5000);
  expect(live.sample(5001)?.from).toBe(later);
  live.breakOff();
  const sought = made(9.05, 71);
  live.push(sought, 5040);
  expect(live.sample(5041)?.from).toBe(sought);
});

it("rejects frames that do not match their roster", () => {
  expect(live.push(made(0, 0, { roster: 9 }), 0)).toBe(false);
  expect(live.push(made(0, 0, { roster: 1, count: 2 }), 0)).toBe(false);
  expect(live.sample(1)).toBeNull();
});
