import { describe, expect, it } from "vitest";
import { CarDriver, steerLimit } from "../../src/control/kinds/car";
import { drive, holding, known, NOTHING, pad } from "./input-state";

const make = () => new CarDriver(known({ steer_max: 0.5, cg_to_front: 1.2, cg_to_rear: 1.5 }));

describe("pedals", () => {
  it("reaches half throttle in 0.2 s, full throttle in 0.4 s", () => {
    const car = make();
    expect(drive(car, holding("KeyW"), 0.2)["throttle"]).toBeCloseTo(0.5, 9);
    expect(drive(car, holding("KeyW"), 0.2)["throttle"]).toBeCloseTo(1, 9);
  });

  it("releases the throttle on key-up", () => {
    const car = make();
    drive(car, holding("ArrowUp"), 1);
    const after = drive(car, NOTHING, 0.14, { speed: 10 });
    expect(after).toMatchObject({ throttle: 0, brake: 0, gear: 1, steer: 0 });
  });

  it("brakes while rolling, with the throttle closed", () => {
    const car = make();
    const inputs = drive(car, holding("KeyS"), 0.25, { speed: 8 });
    expect(inputs).toMatchObject({ brake: 1, throttle: 0, gear: 1 });
  });

  it("shifts to reverse when back is held at standstill; forward brakes then", () => {
    const car = make();
    expect(drive(car, holding("KeyS"), 0.28, { speed: 0.1 })).toMatchObject({ gear: 1, throttle: 0, brake: 1 });
    expect(drive(car, holding("KeyS"), 0.5, { speed: 0.1 })).toMatchObject({ gear: -1, throttle: 1, brake: 0 });
    expect(car.status).toContain("reverse");
    expect(drive(car, holding("KeyW"), 0.5, { speed: 3 })).toMatchObject({ gear: -1, throttle: 0, brake: 1 });
    expect(drive(car, holding("KeyW"), 0.5, { speed: 0.2 })).toMatchObject({ gear: 1, throttle: 1, brake: 0 });
  });

  it("does not shift to reverse while the speed is unknown", () => {
    expect(drive(make(), holding("KeyS"), 2, { speed: Number.NaN })).toMatchObject({ gear: 1, throttle: 0, brake: 1 });
  });

  it("applies the handbrake with space", () => {
    expect(drive(make(), holding("Space"), 0.02)["handbrake"]).toBe(1);
    expect(drive(make(), NOTHING, 0.02)["handbrake"]).toBe(0);
  });

  it("uses the triggers as pedals", () => {
    const inputs = drive(make(), pad([0, 0, 0, 0], { 7: 0.4 }), 1);
    expect(inputs["throttle"]).toBeCloseTo(0.4, 9);
  });
});

describe("steering", () => {
  it("steers left with A and returns to the centre", () => {
    const car = make();
    expect(drive(car, holding("KeyA"), 1)["steer"]).toBeCloseTo(0.5, 9);
    expect(drive(car, NOTHING, 0.3)["steer"]).toBe(0);
    expect(drive(car, holding("KeyD"), 1)["steer"]).toBeCloseTo(-0.5, 9);
  });

  it("limits lateral acceleration to 7 m/s2", () => {
    // a circle at v with acceleration a has curvature a / v2, and tan(steer) = wheelbase * curvature
    expect(steerLimit(20, 2.7, 0.5)).toBeCloseTo(Math.atan((2.7 * 7) / 400), 12);
    expect(steerLimit(0, 2.7, 0.5)).toBe(0.5);
    expect(steerLimit(Number.NaN, 2.7, 0.5)).toBe(0.5);
    expect(drive(make(), holding("KeyA"), 1, { speed: 20 })["steer"]).toBeCloseTo(0.04721, 4);
  });

  it("is finer around the stick's centre", () => {
    expect(drive(make(), pad([0.5, 0, 0, 0]), 1)["steer"]).toBeCloseTo(-0.125, 9); // 0.5 squared of 0.5 rad
    expect(drive(make(), pad([-1, 0, 0, 0]), 1)["steer"]).toBeCloseTo(0.5, 9);
  });
});

it("closes the throttle and brakes gently in safe mode, and restarts from zero", () => {
  const car = make();
  drive(car, holding("KeyW", "KeyA"), 1);
  expect(car.safe()).toMatchObject({ steer: 0, throttle: 0, brake: 0.3, handbrake: 0 });
  expect(drive(car, NOTHING, 0.02)).toMatchObject({ throttle: 0, brake: 0, steer: 0 });
});
