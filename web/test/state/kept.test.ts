// @vitest-environment happy-dom
// Events, stored settings, colours, columns of the colouring, transform frames.
import { signal } from "@preact/signals";
import { beforeEach, expect, it } from "vitest";
import { canColour, columnFor, scalarsOf } from "../../src/state/colouring";
import { listColumnRequests, requestColumns } from "../../src/state/columns";
import { addEvents, clearEvents, events } from "../../src/state/events";
import { CONTROL_MODES } from "../../src/state/overrides";
import { paletteColour } from "../../src/state/palette";
import { persisted } from "../../src/state/persist";
import { poseAt, setTransforms, worldPose } from "../../src/state/poses";
import { Roster } from "../../src/state/roster";
import { made } from "./frames";

const event = (number: number) => ({ number, tick: number, kind: "k", subject: "", detail: "" });
const fleet = { name: "red", kind: "car", model: "m", single: true, ids: [[7, 1]], members: [[0, 1]] } as const;
const roster = (columns: string[]) =>
  new Roster({ roster: 1, fleets: [{ ...fleet, ids: [[7, 1]], members: [[0, 1]], columns }] });

beforeEach(() => {
  localStorage.clear();
  clearEvents();
});

it("keeps events in order, once each, and at most 5000", () => {
  addEvents([event(3), event(4)]);
  addEvents([1, 2, 3].map(event));
  expect(events.value.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
  addEvents(Array.from({ length: 6000 }, (_, k) => event(5 + k)));
  expect([events.value.length, events.value.at(-1)?.number]).toEqual([5000, 6004]);
});

it("stores a setting, and ignores stored values of another type", () => {
  const layers = signal({ grid: true, names: false });
  localStorage.setItem("paddock.layers", '{"grid": false}');
  persisted(layers, "layers");
  expect(layers.value).toEqual({ grid: false, names: false });
  layers.value = { grid: false, names: true };
  expect(JSON.parse(localStorage.getItem("paddock.layers") ?? "")).toEqual({ grid: false, names: true });
  for (const wrong of ["{broken", '"text"', "[1]"]) {
    const speed = signal(3);
    localStorage.setItem("paddock.speed", wrong);
    persisted(speed, "speed")();
    expect(speed.value).toBe(3);
  }
});

it("has a colour for every fleet, lighter in each round", () => {
  expect(paletteColour(0)).toEqual({ hex: "#58c4ff", rgb: [88 / 255, 196 / 255, 1] });
  expect(paletteColour(8).rgb[0]).toBeCloseTo(88 / 255 + 0.35 * (1 - 88 / 255));
  expect(paletteColour(-1).hex).toMatch(/^#[0-9a-f]{6}$/);
});

it("knows the column of a colouring", () => {
  const plain = roster(["x"]);
  expect(
    ["fleet", "speed", "altitude", "battery", "signal", "state"].map((kind) => columnFor(kind as never, plain)),
  ).toEqual([null, "speed", null, null, null, null]);
  expect(columnFor("battery", roster(["charge"]))).toBe("charge");
  expect(columnFor("state", roster(["command.armed"]))).toBe("command.armed");
  expect([canColour("altitude", plain), canColour("signal", plain)]).toEqual([true, false]);
});

it("reads the values of a frame by its own request list", () => {
  const wish = requestColumns("colouring", [{ of: null, columns: ["speed"] }]);
  const { number } = listColumnRequests();
  const columns = [{ request: 0, vehicles: 3, columns: 1, values: Float64Array.of(1, Number.NaN, 5) }];
  const found = scalarsOf(made(0, 0, { count: 3, columns, wanted: number }), "speed");
  expect([...(found?.values ?? [])]).toEqual([1, Number.NaN, 5]);
  expect([found?.low, found?.high]).toEqual([1, 5]);
  expect(scalarsOf(made(0, 0, { count: 3 }), "speed")).toBeNull();
  wish.release();
});

it("names the values of the state colouring", () => {
  expect(scalarsOf(made(0, 0, { count: 0 }), "state")?.categories).toEqual(CONTROL_MODES);
  expect(scalarsOf(made(0, 0, { count: 0 }), "altitude")?.categories).toBeUndefined();
});

it("places frames on vehicles and on each other", () => {
  const half = Math.SQRT1_2; // 90 degrees to the left
  setTransforms([
    { name: "mast", parent: "red", position: [1, 0, 2], quaternion: [0, 0, half, half] },
    { name: "lens", parent: "mast", position: [3, 0, 0], quaternion: [0, 0, 0, 1] },
    { name: "a", parent: "b", position: [0, 0, 0], quaternion: [0, 0, 0, 1] },
    { name: "b", parent: "a", position: [0, 0, 0], quaternion: [0, 0, 0, 1] },
  ]);
  const frame = made(0, 10);
  const lens = worldPose("lens", { from: frame, to: frame, mix: 1 }, roster([]));
  [11, 3, 2].forEach((value, k) => expect(lens?.position[k]).toBeCloseTo(value, 1)); // 10 bits of orientation
  for (const name of ["a", "unknown"])
    expect(worldPose(name, { from: frame, to: frame, mix: 1 }, roster([]))).toBeNull();
});

it("interpolates poses", () => {
  const sample = { from: made(0, 10), to: made(1, 20), mix: 0.25 };
  expect(poseAt(sample, 0).position).toEqual([12.5, 0, 0]);
  expect(Math.hypot(...poseAt(sample, 0).quaternion)).toBeCloseTo(1);
});
