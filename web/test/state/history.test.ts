// The buffer: within its budget, coarse in the past, searchable by time.
import { signal } from "@preact/signals";
import { expect, it } from "vitest";
import { History } from "../../src/state/history";
import { Playback } from "../../src/state/source";
import type { Frame } from "../../src/wire/frame";
import { made } from "./frames";

function filled(seconds: number, mostBytes: number, mostSeconds = 600): History {
  const history = new History(mostBytes, mostSeconds);
  for (let k = 0; k <= 30 * seconds; k++) history.add(made(k / 30, k, { tick: k }));
  return history;
}

const gapAt = (history: History, time: number): number => {
  const [from, to] = history.around(time) as [Frame, Frame];
  return to.time - from.time;
};

it("keeps everything while it is small", () => {
  const history = filled(10, 1e9);
  expect(history.length).toBe(301);
  expect([history.start.value, history.end.value]).toEqual([0, 10]);
});

it("stays within its bytes, keeps the whole span, finer for newer frames", () => {
  const history = filled(300, 416 * 200); // 200 frames of one vehicle: 16 bytes and 400 overhead
  expect(history.size).toBeLessThanOrEqual(416 * 200);
  expect(history.length).toBe(200);
  expect([history.start.value, history.end.value]).toEqual([0, 300]);
  expect(gapAt(history, 299.9)).toBeLessThan(0.5);
  expect(gapAt(history, 20)).toBeGreaterThan(2 * gapAt(history, 290));
});

it("drops frames beyond its time span", () => {
  const history = filled(20, 1e9, 5);
  expect(history.start.value).toBeCloseTo(15, 1);
});

it("finds the frames around a time", () => {
  const history = filled(1, 1e9);
  const [from, to] = history.around(0.45) as [Frame, Frame];
  expect([from.tick, to.tick]).toEqual([13, 14]);
  for (const [time, tick] of [
    [-5, 0],
    [0, 0],
    [99, 30],
  ] as const) {
    expect(history.around(time)?.map((frame) => frame.tick)).toEqual([tick, tick]);
  }
});

it("restarts with another run, and with a step back in time", () => {
  const history = filled(1, 1e9);
  let cleared = 0;
  history.cleared = () => {
    cleared += 1;
  };
  history.add(made(0, 0, { run: 1, tick: 0 }));
  expect([history.length, cleared]).toEqual([1, 1]);
  history.add(made(1, 0, { run: 1, tick: 30 }));
  history.add(made(0.5, 0, { run: 1, tick: 15 }));
  expect([history.length, cleared]).toEqual([1, 2]);
  expect(new History().around(0)).toBeNull();
});

it("plays at any speed, seeks within its ends, and stops there", () => {
  const playback = new Playback(signal(10), signal(20));
  playback.seek(3);
  expect(playback.position.value).toBe(10);
  playback.setSpeed(4);
  playback.play();
  playback.advance(1000);
  expect(playback.advance(2000)).toBe(14);
  playback.setSpeed(-2);
  expect(playback.advance(3000)).toBe(12);
  playback.setSpeed(100);
  expect(playback.advance(4000)).toBe(20);
  expect(playback.playing.value).toBe(false);
  playback.play();
  expect(playback.position.value).toBe(10);
});
