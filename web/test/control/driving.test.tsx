// @vitest-environment happy-dom
// Driving with a fake server that records calls.
import { signal } from "@preact/signals";
import { render } from "preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startFailsafe, startKeyboard } from "../../src/control/controls";
import { drive, driving, holdTime, release, slipOf, startDriving, step } from "../../src/control/driving";
import { DrivingHud } from "../../src/control/hud";
import type { RouteTool } from "../../src/control/tools/route";
import { connection } from "../../src/net/connection";
import { MarkerBoard } from "../../src/state/markers";
import { Roster } from "../../src/state/roster";
import { camera, clock, figures, focus, metadata, notices, source } from "../../src/state/store";
import type { FiguresTree, MetadataTree } from "../../src/wire/schema";
import { type FakeServer, fakeServer } from "../fake-server";

let fake: FakeServer;
let tree: unknown;

function inspected(drivenBy: string | null) {
  const nothing = { state: [], command: [], parameters: [] };
  return { id: 7, name: "red", fleet: "red", kind: "car", model: "car.bicycle", driven_by: drivenBy, ...nothing };
}

const ranges = { ids: [[7, 1]] as [number, number][], members: [[0, 1]] as [number, number][] };
const fleet = { name: "red", kind: "car", model: "car.bicycle", single: true, columns: [], ...ranges };
const roster = signal(new Roster({ roster: 1, fleets: [fleet] }));
let stops: (() => void)[] = [];
let time = 0;

function press(code: string, target: EventTarget = document.body, init: KeyboardEventInit = {}): boolean {
  return target.dispatchEvent(new KeyboardEvent("keydown", { code, bubbles: true, cancelable: true, ...init }));
}

function lift(code: string): void {
  document.body.dispatchEvent(new KeyboardEvent("keyup", { code, bubbles: true }));
}

function pass(seconds: number): Record<string, unknown> {
  for (let k = 0; k < Math.round(50 * seconds); k++) step((time += 20));
  return fake.notified.at(-1) ?? {};
}

beforeEach(async () => {
  vi.useFakeTimers();
  vi.spyOn(document, "hasFocus").mockReturnValue(true);
  fake = fakeServer((method) => (method === "inspect" ? tree : { overrides: [], routes: [] }));
  tree = inspected("pure_pursuit");
  roster.value = new Roster({ roster: 1, fleets: [fleet] });
  connection.value = { state: "open" };
  clock.value = { ...clock.value, pace: 1, factor: 1, paused: false, run: 0 };
  const live = { label: "live", kind: "live" as const, roster, events: signal([]), timeline: null };
  source.value = { ...live, markers: new MarkerBoard(), sample: () => null, close: () => undefined };
  const route = { drawing: false } as RouteTool;
  stops = [startDriving(() => 0), startFailsafe(), startKeyboard(route)];
  focus.value = 7;
  await drive(7);
  pass(0.02);
});

afterEach(async () => {
  await release();
  for (const stop of stops) stop();
  vi.useRealTimers();
});

describe("claim and release", () => {
  it("overrides a behaviour and restores it", async () => {
    expect(fake.calls).toContainEqual(["override", { vehicles: [7], behaviour: "external" }]);
    expect(driving.value?.name).toBe("red");
    await release();
    expect(fake.calls.slice(-2)).toEqual([
      ["override", { vehicles: [7], behaviour: null }],
      ["drive", { vehicle_id: 7, driving: false }],
    ]);
    expect(driving.value).toBeNull();
    expect(fake.notified.at(-1)).toMatchObject({ throttle: 0, steer: 0 });
  });

  it("sets no override for a vehicle under manual control", async () => {
    await release();
    fake.calls.length = 0;
    tree = inspected("external");
    await drive(7);
    await release();
    expect(fake.calls.map(([method]) => method)).toEqual(["inspect", "drive", "drive"]);
  });

  it("claims it again after a reset", () => {
    fake.calls.length = 0;
    clock.value = { ...clock.value, run: 1 };
    expect(fake.calls).toEqual([["override", { vehicles: [7], behaviour: "external" }]]);
  });

  it("starts and ends with G", async () => {
    press("KeyG");
    await vi.advanceTimersByTimeAsync(1);
    expect(driving.value).toBeNull();
    press("KeyG");
    await vi.advanceTimersByTimeAsync(1);
    expect(driving.value?.id).toBe(7);
  });
});

describe("the camera", () => {
  it("goes behind the vehicle, and back at the end", async () => {
    expect(camera.value).toBe("chase");
    await release();
    expect(camera.value).toBe("orbit");
  });

  it("stays where the user has moved it", async () => {
    camera.value = "fpv";
    await release();
    expect(camera.value).toBe("fpv");
    await drive(7);
    expect(camera.value).toBe("fpv");
    camera.value = "orbit";
  });
});

it("knows the slip from velocity and heading", () => {
  const slip = (vx: number, vy: number, yaw: number) => slipOf(new Map(Object.entries({ vx, vy, yaw })));
  expect(slip(0, 5, Math.PI / 2)).toBeCloseTo(0, 12);
  expect(slip(5, 5, 0)).toBeCloseTo(Math.PI / 4, 12); // moves to the left of its nose
  expect(slip(-5, 0.5, 0)).toBeCloseTo(-Math.atan(0.1), 12); // in reverse
  expect(slip(-1, -1e-3, Math.PI)).toBeCloseTo(1e-3, 6); // across the end of the angles
  expect(slipOf(new Map())).toBeNaN();
});

describe("several windows", () => {
  const drivenBy = (client: string): void => {
    figures.value = { drivers: client === "" ? {} : { "7": client } } as unknown as FiguresTree;
  };

  beforeEach(async () => {
    await release();
    metadata.value = { client: "web client 1" } as MetadataTree;
    notices.value = [];
    fake.calls.length = 0;
  });

  afterEach(() => {
    metadata.value = figures.value = null;
  });

  it("leave a vehicle to its driver, and offer to take over", async () => {
    drivenBy("web client 2");
    await drive(7);
    expect(driving.value).toBeNull();
    expect(fake.calls).toEqual([]);
    const [notice] = notices.value;
    expect([notice?.text, notice?.action?.text]).toEqual(["red is driven by another window", "Take over"]);
    notice?.action?.act();
    await vi.advanceTimersByTimeAsync(1);
    expect(fake.calls).toContainEqual(["drive", { vehicle_id: 7, take_over: true }]);
    expect(driving.value?.id).toBe(7);
  });

  it.each(["external", null])("restore the behaviour that the driver before has overridden: %s", async (now) => {
    const fleets = [{ name: "red", driven_by: "pure_pursuit" }];
    metadata.value = { client: "web client 1", fleets } as unknown as MetadataTree;
    tree = inspected(now);
    await drive(7, true);
    await release();
    expect(fake.calls).toContainEqual(["override", { vehicles: [7], behaviour: null }]);
  });

  it("stop when another one takes over, without another command", async () => {
    await drive(7);
    drivenBy("web client 2"); // figures from before
    expect(driving.value?.id).toBe(7);
    drivenBy("web client 1");
    fake.calls.length = fake.notified.length = 0;
    drivenBy("web client 2");
    expect(driving.value).toBeNull();
    expect([fake.calls, fake.notified]).toEqual([[], []]);
    expect(notices.value.at(-1)?.text).toBe("Stopped driving red: another window has taken over");
  });
});

describe("keys", () => {
  it("drive while they are pressed", () => {
    expect(press("KeyW")).toBe(false); // handled: not passed on
    expect(pass(0.2)["throttle"]).toBeCloseTo(0.5, 9);
    expect(pass(0.4)).toMatchObject({ vehicle_id: 7, timeout: 0.5, throttle: 1 });
    lift("KeyW");
    expect(pass(0.2)["throttle"]).toBe(0);
  });

  it("are ignored while typing in a field, except key-up", () => {
    const field = document.body.appendChild(document.createElement("input"));
    expect(press("KeyW", field)).toBe(true);
    expect(pass(0.2)["throttle"]).toBe(0);
    field.remove();
  });

  it("are ignored with Ctrl", () => {
    expect(press("KeyS", document.body, { ctrlKey: true })).toBe(true);
  });
});

describe("the failsafe", () => {
  it.each(["blur", "pagehide", "pointercancel"])("%s: safe inputs until the page has the focus again", (name) => {
    press("KeyW");
    pass(0.4);
    fake.notified.length = 0;
    window.dispatchEvent(new Event(name));
    expect(fake.notified).toHaveLength(1);
    expect(fake.notified[0]).toMatchObject({ throttle: 0, steer: 0, brake: 0.3 });
    expect(driving.value?.suspended).toBe(true);
    window.dispatchEvent(new Event("focus"));
    expect(pass(0.2)).toMatchObject({ throttle: 0, brake: 0 }); // the key was cleared
  });

  it("stops when the page is hidden", () => {
    press("KeyW");
    pass(0.4);
    const hidden = vi.spyOn(document, "hidden", "get").mockReturnValue(true);
    document.dispatchEvent(new Event("visibilitychange"));
    expect(fake.notified.at(-1)).toMatchObject({ throttle: 0 });
    hidden.mockRestore();
  });

  it("stops without a call when the connection is lost", () => {
    fake = fakeServer((method) => (method === "inspect" ? tree : { overrides: [], routes: [] }));
    connection.value = { state: "lost", reason: "gone", retryAt: 0 };
    expect(driving.value).toBeNull();
    expect(fake.calls).toEqual([]);
    expect(notices.value.at(-1)?.text).toContain("red");
  });

  it("stops when the vehicle is removed", () => {
    roster.value = new Roster({ roster: 2, fleets: [] });
    expect(driving.value).toBeNull();
  });

  it("stops when the gamepad is disconnected", () => {
    const buttons = Array.from({ length: 17 }, (_, k) => ({ value: k === 7 ? 1 : 0 }));
    const pad = { id: "Pad", connected: true, mapping: "standard", axes: [0, 0, 0, 0], buttons };
    const pads = vi.fn(() => [pad]);
    Object.defineProperty(navigator, "getGamepads", { value: pads, configurable: true });
    expect(pass(0.5)["throttle"]).toBe(1);
    pads.mockReturnValue([]);
    fake.notified.length = 0;
    pass(0.02);
    expect(fake.notified[0]).toMatchObject({ throttle: 0, brake: 0.3 });
    Reflect.deleteProperty(navigator, "getGamepads");
  });
});

describe("command timeout", () => {
  it.each([
    [1, 1, 0.5],
    [0.1, 0.1, 0.5],
    [20, 18, 10],
    [0, 50, 25], // unlimited
    [0, Number.NaN, 0.5],
  ])("pace %d, measured %d: %d s", (pace, factor, hold) => {
    expect(holdTime(pace, factor)).toBeCloseTo(hold, 9);
  });

  it("is longer on a page with late steps, but limited", () => {
    expect(holdTime(1, 1, 0.02)).toBe(0.5);
    expect(holdTime(1, 1, 0.3)).toBeCloseTo(0.9, 9);
    expect(holdTime(2, 2, 10)).toBe(3); // 1.5 s of wall time
    step((time += 400)); // the page hung
    expect(fake.notified.at(-1)?.["timeout"]).toBeCloseTo(1.2, 9);
    pass(8);
    expect(fake.notified.at(-1)?.["timeout"]).toBe(0.5);
  });

  it("sends nothing new while paused", () => {
    clock.value = { ...clock.value, paused: true };
    pass(0.1);
    const before = fake.notified.length;
    pass(1);
    expect(fake.notified.length).toBe(before);
  });
});

it("drives with buttons on a touch screen, as with keys", () => {
  const host = document.createElement("div");
  render(<DrivingHud />, host);
  const button = (label: string) => host.querySelector(`[aria-label="${label}"]`) as HTMLElement;
  button("drive: W").dispatchEvent(new Event("pointerdown", { cancelable: true }));
  expect(pass(1)).toMatchObject({ throttle: 1, brake: 0 });
  button("drive: W").dispatchEvent(new Event("pointerup"));
  button("steer: A").dispatchEvent(new Event("pointerdown", { cancelable: true }));
  const turned = pass(1);
  expect(turned).toMatchObject({ throttle: 0 });
  expect(turned["steer"]).toBeGreaterThan(0.1); // to the left
  button("steer: A").dispatchEvent(new Event("pointercancel"));
  expect(pass(1)["steer"]).toBe(0);
  render(null, host);
});
