// The fleet tree finds lines without listing 100,000 members.
import { describe, expect, it } from "vitest";
import { treeLines } from "../../src/panels/fleetlines";
import { visibleLines } from "../../src/panels/virtual";
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
  it("shows fleets only, until one is opened", () => {
    expect(treeLines(roster, new Set(), "").count).toBe(3);
    const lines = treeLines(roster, new Set(["scouts"]), "");
    expect(lines.count).toBe(100_003);
    expect(lines.at(0)?.fleet.name).toBe("red");
    expect(lines.at(2)?.row).toBe(1); // scouts[0] stands in row 1
    expect(lines.at(100_001)?.row).toBe(100_000);
    expect(lines.at(100_002)?.fleet.name).toBe("rovers");
    expect(lines.at(100_003)).toBeUndefined();
  });

  it("finds fleets by kind and members by name", () => {
    expect(treeLines(roster, new Set(), "QUAD").count).toBe(1);
    const found = treeLines(roster, new Set(), "scouts[9999");
    expect(found.found).toBe(11); // 9999 and 99990 to 99999
    expect(found.count).toBe(12);
    expect(treeLines(roster, new Set(), "nobody").count).toBe(0);
  });
});

describe("virtual list", () => {
  it("makes only what is in sight, and a little more", () => {
    expect(visibleLines(0, 280, 28, 100_000)).toEqual({ first: 0, last: 16 });
    expect(visibleLines(28_000, 280, 28, 100_000)).toEqual({ first: 994, last: 1016 });
    expect(visibleLines(0, 280, 28, 3)).toEqual({ first: 0, last: 3 });
  });
});
