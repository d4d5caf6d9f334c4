// Fleet colours depend on names and ids alone; control modes of vehicles.
import { expect, it } from "vitest";
import { CONTROL_MODES, controlModes } from "../../src/state/overrides";
import { fleetColour, fleetColours, paletteColour } from "../../src/state/palette";
import { Roster } from "../../src/state/roster";

const NONE = { kind: "quad", model: "quad", single: false, members: [], columns: [] };

function roster(number: number, fleets: Record<string, [number, number][]>): Roster {
  return new Roster({ roster: number, fleets: Object.entries(fleets).map(([name, ids]) => ({ ...NONE, name, ids })) });
}

it("colours fleets by their names, whatever was shown before and whichever fleets leave", () => {
  const colours = (who: Roster) => Object.fromEntries(who.fleets.map((fleet) => [fleet.name, fleetColour(fleet).hex]));
  const race = { race_1: [[0, 1]], race_2: [[1, 1]], race_3: [[2, 1]] } as Record<string, [number, number][]>;
  const first = colours(roster(1, race));
  expect(new Set(Object.values(first)).size).toBe(3);
  roster(2, { scouts: [[0, 9]], birds: [[9, 9]] }); // another scenario in between
  expect(colours(roster(3, race))).toEqual(first);
  const { race_1: _, ...rest } = race;
  expect(colours(roster(4, rest))).toEqual({ race_2: first["race_2"], race_3: first["race_3"] });
  const added = colours(roster(5, { lace_7: [[9, 1]], ...race })); // the same letters' sum as race_1, but added later
  expect(added).toMatchObject(first);
  expect(Object.values(first)).not.toContain(added["lace_7"]);
});

it("gives 24 fleets 24 colours, the eight hues first", () => {
  const numbers = fleetColours(Array.from({ length: 24 }, (_, k) => ({ name: "same", ids: [[k, 1]] })));
  expect(new Set(numbers.map((number) => paletteColour(number).hex)).size).toBe(24);
  expect(numbers.slice(0, 8).every((number) => number < 8)).toBe(true);
  expect(fleetColour(undefined)).toBe(paletteColour(0));
});

it("knows manual control, overrides and disarmed vehicles", () => {
  const who = roster(3, { a: [[10, 2]], b: [[20, 3]] });
  const about = {
    count: 1,
    kind: "quad",
    model: "quad",
    single: false,
    inputs: [],
    columns: [],
    arrays: [],
    sensors: [],
    parameters: {},
    varying: [],
    preset: null,
    dimensions: {},
  };
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
