import { describe, expect, it } from "vitest";
import { driverFor } from "../../src/control/kinds";
import { AircraftDriver } from "../../src/control/kinds/aircraft";
import { CarDriver, gripUsed, steerLimit } from "../../src/control/kinds/car";
import { PointDriver } from "../../src/control/kinds/point";
import { QuadDriver } from "../../src/control/kinds/quad";
import { RoverDriver } from "../../src/control/kinds/rover";
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
    expect(drive(car, holding("KeyS"), 0.5, { speed: 0.1 })).toMatchObject({ gear: -1, throttle: 0.4, brake: 0 });
    expect(car.status).toContain("reverse");
    expect(drive(car, holding("KeyW"), 0.5, { speed: 3 })).toMatchObject({ gear: -1, throttle: 0, brake: 1 });
    expect(drive(car, holding("KeyW"), 0.5, { speed: 0.2 })).toMatchObject({ gear: 1, throttle: 1, brake: 0 });
  });

  it("limits the speed in reverse to 10 m/s", () => {
    const car = make();
    drive(car, holding("KeyS"), 1, { speed: 0.1 });
    expect(drive(car, holding("KeyS"), 1, { speed: 5.9 })).toMatchObject({ gear: -1, throttle: 0.4, brake: 0 });
    expect(drive(car, holding("KeyS"), 1, { speed: 9 })["throttle"]).toBeCloseTo(0.1, 9);
    expect(drive(car, holding("KeyS"), 1, { speed: 10 })).toMatchObject({ gear: -1, throttle: 0, brake: 0 });
    expect(drive(car, holding("KeyS"), 1, { speed: 12 })["brake"]).toBeCloseTo(0.1, 9); // too fast, e.g. downhill
    expect(drive(car, holding("KeyS"), 1, { speed: 24 })).toMatchObject({ gear: -1, throttle: 0, brake: 0.4 });
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

describe("slides", () => {
  const wheel = (name: string, angle: number, ratio: number): [string, number][] => [
    [`slip_angle_${name}`, angle],
    [`alpha_peak_${name}`, 0.1],
    [`slip_ratio_${name}`, ratio],
    [`kappa_peak_${name}`, 0.08],
  ];
  const columns = new Map([...wheel("fl", 0.02, 0), ...wheel("fr", -0.06, 0.064), ...wheel("rl", 0, 0), ["gear", 3]]);

  it("shows the grip of the most loaded tyre, gear and slip", () => {
    expect(gripUsed(columns)).toBeCloseTo(1, 9); // front right: 0.6 and 0.8 of the peaks
    expect(gripUsed(new Map())).toBeNaN();
    const car = make();
    drive(car, NOTHING, 0.1, { speed: 20, slip: -0.1, columns });
    expect(car.figures).toEqual(["gear 3", "slip 6°"]);
    expect(car.bars.at(-1)).toMatchObject({ name: "grip", value: expect.closeTo(1, 9), warns: false });
    drive(car, NOTHING, 0.1, { speed: 20, columns: new Map([...columns, ...wheel("rr", 0.3, 0)]) });
    expect(car.bars.at(-1)).toMatchObject({ value: 1.5, warns: true }); // three times the peak: end of the scale
  });

  it("says nothing about slip at walking pace, and about grip without its columns", () => {
    const car = make();
    drive(car, NOTHING, 0.1, { speed: 1, slip: 0.5, columns });
    expect([car.figures, car.bars.at(-1)?.value]).toEqual([["gear 3"], 0]);
    drive(car, NOTHING, 0.1, { speed: 20, slip: 0.5 });
    expect([car.figures, car.bars.length]).toEqual([["slip 29°"], 3]);
  });

  it("steers further into a slide than at this speed otherwise", () => {
    const usual = Math.atan((2.7 * 7) / 400);
    expect(drive(make(), holding("KeyA"), 2, { speed: 20, slip: 0.37 })["steer"]).toBeCloseTo(usual + 0.3, 9);
    // a turn to the left without slip of the rear tyres: the centre of mass moves to the left of the nose
    const turning = { speed: 20, slip: 0.15, columns: new Map([["yaw_rate", (0.15 * 20) / 1.5]]) };
    expect(drive(make(), holding("KeyA"), 2, turning)["steer"]).toBeCloseTo(usual, 9);
    expect(drive(make(), holding("KeyA"), 2, { speed: 20, slip: -0.3 })["steer"]).toBeCloseTo(usual, 9);
    expect(drive(make(), holding("KeyD"), 2, { speed: 20, slip: -0.9 })["steer"]).toBeCloseTo(-0.5, 9);
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

describe("a drone", () => {
  const quad = () => new QuadDriver(known({ mass: 0.8, thrust_max: 4 }));

  it("starts disarmed in altitude mode on the ground, and holds its height without inputs", () => {
    const level = { roll: 0, pitch: 0, yaw: 0 };
    expect(drive(quad(), NOTHING, 0.1)).toEqual({ ...level, throttle: 0.5, mode: "altitude", armed: 0 });
  });

  it("stays armed when claimed in the air", () => {
    expect(new QuadDriver(known({}, { height: 20 })).armed).toBe(true);
  });

  it("arms and disarms with X", () => {
    const one = quad();
    expect(one.press("KeyX")).toBe(true);
    expect(drive(one, NOTHING, 0.02)["armed"]).toBe(1);
    one.press("KeyX");
    expect(drive(one, NOTHING, 0.02)["armed"]).toBe(0);
    expect(one.press("KeyW")).toBe(false);
  });

  it("moves its sticks with keys: forward, right, yaw left, up", () => {
    const inputs = drive(quad(), holding("KeyW", "KeyD", "KeyQ", "KeyR"), 0.2);
    expect(inputs["pitch"]).toBeCloseTo(0.6, 9);
    expect(inputs["roll"]).toBeCloseTo(0.6, 9);
    expect(inputs["yaw"]).toBeCloseTo(0.6, 9);
    expect(inputs["throttle"]).toBeCloseTo(0.8, 9);
  });

  it("returns the sticks to their centre", () => {
    const one = quad();
    drive(one, holding("KeyS", "ArrowDown"), 1);
    expect(drive(one, NOTHING, 0.2)).toMatchObject({ pitch: 0, throttle: 0.5 });
  });

  it("keeps the throttle setting in angle mode, from hover", () => {
    const one = quad();
    one.press("KeyM");
    one.press("KeyM");
    expect(one.mode).toBe("angle");
    expect(drive(one, NOTHING, 0.1)["throttle"]).toBeCloseTo((0.8 * 9.81) / 16, 6);
    const up = drive(one, holding("KeyR"), 0.4)["throttle"];
    expect(up).toBeCloseTo((0.8 * 9.81) / 16 + 0.2, 6);
    expect(drive(one, NOTHING, 1)["throttle"]).toBe(up);
  });

  it("flies with a gamepad in mode 2: left stick climbs and yaws, right stick tilts", () => {
    const inputs = drive(quad(), pad([-0.5, -1, 0.25, -0.75]), 0.02);
    expect(inputs).toMatchObject({ yaw: 0.5, throttle: 1, roll: 0.25, pitch: 0.75 });
  });

  it("handles a held button once", () => {
    const one = quad();
    drive(one, pad([0, 0, 0, 0], { 9: 1 }), 0.5);
    expect(one.armed).toBe(true);
  });

  it("holds its position without inputs", () => {
    const one = quad();
    one.press("KeyM");
    one.press("KeyM");
    expect(one.safe()).toMatchObject({ mode: "position", throttle: 0.5, roll: 0, pitch: 0, yaw: 0 });
  });
});

describe("a rover", () => {
  const rover = () => new RoverDriver(known({ speed_max: 2, turn_rate_max: 1.5 }));

  it("drives and turns at its model's limits", () => {
    expect(drive(rover(), holding("KeyW", "KeyA"), 1)).toEqual({ speed: 2, turn_rate: 1.5 });
    expect(drive(rover(), holding("KeyS", "KeyD"), 1)).toEqual({ speed: -2, turn_rate: -1.5 });
  });

  it("reaches half speed in 0.25 s and stops 0.1 s after key-up", () => {
    const one = rover();
    expect(drive(one, holding("KeyW"), 0.26)["speed"]).toBeCloseTo(1.04, 9);
    expect(drive(one, NOTHING, 0.12)["speed"]).toBe(0);
  });

  it("uses the input's limit without a parameter", () => {
    const one = new RoverDriver(known({}, { limits: new Map([["speed", [-3, 3]]]) }));
    expect(drive(one, pad([0, -1, 0, 0]), 0.02)["speed"]).toBe(3);
  });
});

describe("an aircraft", () => {
  const parameters = { speed: 17.5, speed_min: 12, speed_max: 25, bank_max: 0.4, climb_max: 3 };
  const plane = () => new AircraftDriver(known(parameters));

  it("banks right with D, climbs with S, and levels without inputs", () => {
    const one = plane();
    expect(drive(one, holding("KeyD", "KeyS"), 1)).toMatchObject({ speed: 17.5, bank: 0.4, climb: 3 });
    expect(drive(one, NOTHING, 0.5)).toMatchObject({ bank: 0, climb: 0 });
  });

  it("keeps the speed setting within its envelope", () => {
    const one = plane();
    expect(drive(one, holding("KeyR"), 1)["speed"]).toBeCloseTo(17.5 + 13 / 4, 6);
    expect(drive(one, holding("KeyR"), 5)["speed"]).toBe(25);
    expect(drive(one, holding("KeyF"), 9)["speed"]).toBe(12);
  });

  it("circles without inputs", () => {
    expect(plane().safe()).toEqual({ speed: 17.5, bank: 0.3, climb: 0 });
  });
});

describe("an agent", () => {
  const agent = () => new PointDriver(known({ speed_max: 4 }));

  it("moves away from the camera in any view direction", () => {
    const north = drive(agent(), holding("KeyW"), 1, { heading: Math.PI / 2 });
    expect(north["vx"]).toBeCloseTo(0, 9);
    expect(north["vy"]).toBeCloseTo(4, 9);
    const west = drive(agent(), holding("KeyW"), 1, { heading: Math.PI });
    expect(west["vx"]).toBeCloseTo(-4, 9);
    const right = drive(agent(), holding("KeyD"), 1, { heading: Math.PI / 2 });
    expect(right["vx"]).toBeCloseTo(4, 9);
  });

  it("is not faster diagonally", () => {
    const { vx, vy } = drive(agent(), holding("KeyW", "KeyA"), 1) as { vx: number; vy: number };
    expect(Math.hypot(vx, vy)).toBeCloseTo(4, 9);
  });
});

it("has a driver for each kind and no others", () => {
  expect(driverFor("car", known())?.help[0]).toEqual(["drive", "W S"]);
  expect(driverFor("submarine", known())).toBeNull();
  expect(driverFor("constructor", known())).toBeNull();
});
