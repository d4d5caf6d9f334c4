// Fleet colours are stable; control modes of vehicles.
import { expect, it } from "vitest";
import { CONTROL_MODES, controlModes } from "../../src/state/overrides";
import { enterFleets, fleetColour, paletteColour } from "../../src/state/palette";
import { Roster } from "../../src/state/roster";

const NONE = { kind: "quad", model: "quad", single: false, members: [], columns: [] };

function roster(number: number, fleets: Record<string, [number, number][]>): Roster {
  return new Roster({ roster: number, fleets: Object.entries(fleets).map(([name, ids]) => ({ ...NONE, name, ids })) });
}

it("keeps a fleet's colour for the session", () => {
  roster(1, { red: [[0, 1]], blue: [[1, 1]], green: [[2, 1]] });
  const colours = ["red", "blue", "green"].map((name) => fleetColour(name).hex);
  expect(colours).toEqual(["#58c4ff", "#ffb03b", "#5fd38d"]);
  roster(2, { blue: [[1, 1]], late: [[7, 1]], green: [[2, 1]] });
  expect(["blue", "late", "green", "red"].map((name) => fleetColour(name).hex)).toEqual([
    "#ffb03b",
    "#c792ea",
    "#5fd38d",
    "#58c4ff",
  ]);
});

it("reuses the colour of an absent fleet before a lighter one", () => {
  enterFleets(["f5", "f6", "f7", "f8"]);
  enterFleets(["red", "ninth"]);
  expect(fleetColour("ninth")).toBe(paletteColour(1));
  enterFleets(Array.from({ length: 30 }, (_, k) => `many ${k}`));
  expect(new Set(Array.from({ length: 24 }, (_, k) => fleetColour(`many ${k}`).hex)).size).toBe(24);
  expect(fleetColour("unknown")).toBe(paletteColour(0));
});

it("knows manual control, overrides and disarmed vehicles", () => {
  const who = roster(3, { a: [[10, 2]], b: [[20, 3]] });
  const about = { count: 1, kind: "quad", model: "quad", single: false, inputs: [], columns: [], sensors: [] };
  const fleets = [
    { ...about, name: "a", driven_by: null },
    { ...about, name: "b", driven_by: "flock" },
  ];
  const orders = [
    { ids: [[21, 1]] as const, behaviour: "goto", options: {} },
    {
      ids: [
        [22, 1],
        [99, 1],
      ] as const,
      behaviour: "external",
      options: {},
    },
  ];
  const words = (values: Float32Array) => [...values].map((value) => CONTROL_MODES[value]);
  expect(words(controlModes(who, fleets, orders))).toEqual([
    "manual control",
    "manual control",
    "scenario behaviour",
    "override",
    "manual control",
  ]);
  expect(controlModes(who, fleets, orders, [0, 1, 1, 1, Number.NaN])[0]).toBe(0);
  expect(controlModes(who, [], [])).toEqual(new Float32Array(5).fill(Number.NaN));
});
