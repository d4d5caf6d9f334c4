// Wheels, headings, the horizon, and the adaptive resolution.
import { expect, test } from "vitest";
import { gridFor } from "../../src/scene/ground";
import { Governor } from "../../src/scene/loop";
import { attitudeOf, compass } from "../../src/scene/osd";
import { metres } from "../../src/scene/overlay";
import { drivenAs, Steering, UNKNOWN, WheelAngles } from "../../src/scene/vehicle-rows";
import { traitsOf } from "../../src/scene/view";
import { listColumnRequests } from "../../src/state/columns";
import { Roster } from "../../src/state/roster";
import type { Frame, Quaternion } from "../../src/wire/frame";

const EAST = 0xdff7fdff; // w largest, the others about 0

function frame(time: number, x: number): Frame {
  const poses = new Uint32Array(4);
  new Float32Array(poses.buffer)[0] = x;
  poses[3] = EAST;
  return { run: 1, tick: 0, time, wall: 0, roster: 1, count: 1, poses, columns: [], wanted: 0 };
}

test("moves 1 m in 0.1 s at 10 m/s, and turns a wheel of 0.34 m by 1 / 0.34 rad", () => {
  const sample = { from: frame(0, 0), to: frame(0.1, 1), mix: 0 };
  const car = traitsOf({ kind: "car", name: "" });
  expect(drivenAs(sample, 0, car).speed).toBeCloseTo(10, 2);
  const wheels = new WheelAngles();
  wheels.move(1, []);
  const [steer, spin] = wheels.advance(sample, 0, car, 0.1, { steer: 0.25, rate: Number.NaN, travel: [] });
  expect(steer).toBe(0.25);
  expect(spin).toBeCloseTo(1 / 0.34, 2);
});

test("steering, rotation and suspensions are between those of two frames", () => {
  const columns = ["x", "steer", "wheel_speed", ...["fl", "fr", "rl", "rr"].map((end) => `suspension_${end}`)];
  const fleet = { kind: "car", model: "car.full", single: true, members: [[0, 1]] as [number, number][] };
  const fleets = [
    { ...fleet, name: "toy", ids: [[1, 1]] as [number, number][], columns: ["x"] },
    { ...fleet, name: "red", ids: [[2, 1]] as [number, number][], columns },
  ];
  const steering = new Steering();
  steering.follow(new Roster({ roster: 1, fleets }));
  const list = listColumnRequests();
  const at = (values: number[]): Frame => {
    const block = { request: list.starts.size - 1, vehicles: 1, columns: 6, values: Float64Array.from(values) };
    return { ...frame(0, 0), wanted: list.number, columns: [block] };
  };
  const sample = { from: at([0.1, 20, 0, 0.02, 0, 0]), to: at([0.3, 40, 0.04, 0.02, -0.08, 0]), mix: 0.25 };
  const found = steering.between(sample, 1);
  expect([found.steer, found.rate]).toEqual([expect.closeTo(0.15, 9), expect.closeTo(25, 9)]);
  expect(found.travel).toEqual([0.01, 0.02, -0.02, 0].map((one) => expect.closeTo(one, 9)));
  expect(steering.between(sample, 0)).toBe(UNKNOWN); // not steered
  const unknown = { ...sample, from: { ...sample.from, columns: [] } };
  expect(steering.between(unknown, 1).steer).toBeCloseTo(0.3, 9); // only the later frame has columns
  steering.release();
});

test("has north at compass 0 and east at 90; right wing down is positive roll", () => {
  const half = Math.SQRT1_2;
  expect(compass([0, 0, 0, 1])).toBeCloseTo(90, 6);
  expect(compass([0, 0, half, half])).toBeCloseTo(0, 6);
  const right: Quaternion = [Math.sin(0.1), 0, 0, Math.cos(0.1)]; // about forward by 0.2 rad
  expect(attitudeOf(right).roll).toBeCloseTo(0.2, 6);
  const up: Quaternion = [0, -Math.sin(0.1), 0, Math.cos(0.1)];
  expect(attitudeOf(up).pitch).toBeCloseTo(0.2, 6);
});

test("lowers the resolution after 12 slow frames, raises it after 90 fast ones", () => {
  const governor = new Governor();
  for (let k = 0; k < 12; k++) governor.note(80);
  expect(governor.scale).toBe(0.75);
  for (let k = 0; k < 50; k++) governor.note(80);
  expect(governor.scale).toBe(0.5);
  for (let k = 0; k < 89; k++) governor.note(16);
  expect(governor.scale).toBe(0.5);
  governor.note(16);
  expect(governor.scale).toBe(0.75);
});

test("grows cells by ten with the height of the eye", () => {
  expect(gridFor(5).cell).toBe(10);
  expect(gridFor(50).cell).toBe(100);
  expect(metres(1500)).toBe("1.5 km");
  expect(metres(-20)).toBe("-20 m");
});
