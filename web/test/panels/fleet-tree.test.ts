// The fleet tree finds lines without listing 100,000 vehicles.
import { describe, expect, it } from "vitest";
import { moveFor, treeLines } from "../../src/panels/fleet-tree";
import { scrollFor, visibleLines } from "../../src/panels/virtual-list";
import { Roster } from "../../src/state/roster";

const roster = new Roster({
  roster: 1,
  fleets: [
    { name: "red", kind: "car", model: "car.bicycle", single: true, ids: [[7, 1]], members: [[0, 1]], columns: [] },
    {
      name: "scouts",
      kind: "quad",
      model: "quad",
      single: false,
      ids: [[100, 100_000]],
      members: [[0, 100_000]],
      columns: [],
    },
    { name: "rovers", kind: "rover", model: "rover", single: false, ids: [[10, 3]], members: [[0, 3]], columns: [] },
  ],
});

describe("tree lines", () => {
  it("finds the first match: a fleet, or a vehicle", () => {
    const first = (query: string) => treeLines(roster, new Set(), query).first;
    expect([first("rover")?.fleet.name, first("rover")?.row]).toEqual(["rovers", null]);
    expect([first("rovers[2")?.fleet.name, first("rovers[2")?.row]).toEqual(["rovers", 100_003]);
    expect(first("unknown")).toBeUndefined();
  });

  it("shows only fleets until one is expanded", () => {
    expect(treeLines(roster, new Set(), "").count).toBe(3);
    const lines = treeLines(roster, new Set(["scouts"]), "");
    expect(lines.count).toBe(100_003);
    expect(lines.at(0)?.fleet.name).toBe("red");
    expect(lines.at(2)?.row).toBe(1); // scouts[0] is in row 1
    expect(lines.at(100_001)?.row).toBe(100_000);
    expect(lines.at(100_002)?.fleet.name).toBe("rovers");
    expect(lines.at(100_003)).toBeUndefined();
  });

  it("finds fleets by kind and vehicles by name", () => {
    expect(treeLines(roster, new Set(), "QUAD").count).toBe(1);
    const lines = treeLines(roster, new Set(), "scouts[9999");
    expect(lines.hits).toBe(11); // 9999 and 99990 to 99999
    expect(lines.count).toBe(12);
    expect(treeLines(roster, new Set(), "unknown").count).toBe(0);
  });
});

describe("props", () => {
  const one = (name: string, kind: string, model: string, first: number, count: number) => {
    const range = [[first, count]] as [number, number][];
    return {
      name,
      kind,
      model,
      single: count === 1,
      ids: range,
      members: [[0, count]] as [number, number][],
      columns: [],
    };
  };
  const cones = Array.from({ length: 100 }, (_, k) => one(`cone_${k}`, "cone", "prop.cone", 1000 + k, 1));
  const race = new Roster({
    roster: 2,
    fleets: [...cones, one("boxes", "crate", "prop.crate", 2000, 5), one("cars", "car", "car.full", 1, 2)],
  });

  it("come last, as one line", () => {
    const lines = treeLines(race, new Set(), "");
    expect([lines.count, lines.hits]).toEqual([2, 107]);
    expect(lines.at(0)?.fleet.name).toBe("cars");
    expect(lines.at(1)?.fleet).toMatchObject({ count: 105, model: "cones, crates", kind: "cone" });
    const opened = treeLines(race, new Set(["all props"]), "");
    expect([opened.count, opened.at(2)?.row, opened.at(102)?.row]).toEqual([107, 0, 100]);
    expect([opened.lineOf(104), opened.lineOf(105)]).toEqual([106, 0]);
  });

  it("are found by their fleets", () => {
    expect(treeLines(race, new Set(), "cone_7").hits).toBe(11); // 7 and 70 to 79
    expect(treeLines(race, new Set(), "c").at(0)?.fleet.name).toBe("cars");
  });

  it("are skipped by cameras and keys", () => {
    expect(race.nextRow(undefined)).toBe(105);
    expect([race.nextRow(105), race.nextRow(106), race.nextRow(105, -1)]).toEqual([106, 105, 106]);
    expect(race.nextRow(3)).toBe(105); // from a cone to the first car
    const only = new Roster({ roster: 3, fleets: cones.slice(0, 2) });
    expect([only.nextRow(undefined), only.nextRow(0), only.nextRow(0, -1)]).toEqual([0, 1, 1]);
    expect(Roster.empty.nextRow(undefined)).toBeUndefined();
  });
});

describe("keys in the tree", () => {
  const isOpen = (name: string) => name === "scouts";
  const lines = treeLines(roster, new Set(["scouts"]), ""); // red, scouts, scouts[0] to [99999], rovers

  it.each([
    ["ArrowDown", -1, { line: 0 }], // nothing had the focus yet
    ["ArrowDown", 100_002, { line: 100_002 }],
    ["ArrowUp", 2, { line: 1 }],
    ["Home", 5000, { line: 0 }],
    ["End", 0, { line: 100_002 }],
    ["ArrowRight", 1, { line: 2 }], // into an expanded fleet
    ["ArrowRight", 100_002, { toggle: "rovers" }],
    ["ArrowRight", 0, null], // a single vehicle has no list
    ["ArrowLeft", 70_000, { line: 1 }], // from a vehicle to its fleet
    ["ArrowLeft", 1, { toggle: "scouts" }],
    ["ArrowLeft", 0, null],
    ["x", 0, null],
  ])("%s at line %d", (key, at, expected) => {
    expect(moveFor(key, at, lines, isOpen)).toEqual(expected);
  });

  it("selects the line with Enter", () => {
    expect(moveFor("Enter", 2, lines, isOpen)).toMatchObject({ choose: { row: 1, fleet: { name: "scouts" } } });
  });

  it("finds the line of a row, or of its collapsed fleet", () => {
    expect([0, 1, 100_000, 100_001].map((row) => lines.lineOf(row))).toEqual([0, 2, 100_001, 100_002]);
    expect(treeLines(roster, new Set(), "scouts[9999").lineOf(10_000)).toBe(1); // scouts[9999], the first match
    expect(treeLines(roster, new Set(), "rover").lineOf(0)).toBe(-1);
  });

  it("scrolls as little as possible", () => {
    expect(scrollFor(10, 28, 0, 280)).toBe(28);
    expect(scrollFor(9, 28, 0, 280)).toBe(0);
    expect(scrollFor(2, 28, 1000, 280)).toBe(56);
  });
});

describe("virtual list", () => {
  it("renders only the visible lines and a few more", () => {
    expect(visibleLines(0, 280, 28, 100_000)).toEqual({ first: 0, last: 16 });
    expect(visibleLines(28_000, 280, 28, 100_000)).toEqual({ first: 994, last: 1016 });
    expect(visibleLines(0, 280, 28, 3)).toEqual({ first: 0, last: 3 });
  });
});
