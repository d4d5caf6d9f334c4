// Rows, ids and names, with ranges and with empty fleets.
import { expect, it } from "vitest";
import { followNames, forgetRemoved } from "../../src/state/removed-vehicles";
import { Roster, RosterIndex } from "../../src/state/roster";
import { focus, hovered, notices, select, selection } from "../../src/state/store";
import type { FleetTree } from "../../src/wire/schema";

const fleet = (name: string, ids: [number, number][], members: [number, number][], single = false): FleetTree => {
  return { name, kind: "car", model: "car.kinematic", single, ids, members, columns: [] };
};

const roster = new Roster({
  roster: 4,
  fleets: [
    fleet("empty", [], []),
    fleet("red", [[7, 1]], [[0, 1]], true),
    fleet("gone", [], []),
    fleet("also_gone", [], []),
    fleet(
      "scouts",
      [
        [10, 3],
        [20, 2],
      ],
      [
        [0, 3],
        [5, 2],
      ],
    ),
    fleet("last", [], []),
  ],
});

it.each([
  [0, 7, "red"],
  [1, 10, "scouts[0]"],
  [3, 12, "scouts[2]"],
  [4, 20, "scouts[5]"],
  [5, 21, "scouts[6]"],
])("row %i is vehicle %i, %s", (row, id, name) => {
  expect(roster.idAt(row)).toBe(id);
  expect(roster.nameAt(row)).toBe(name);
  expect(roster.rowOfId(id)).toBe(row);
  expect(roster.rowOfName(name)).toBe(row);
});

it("does not find unknown vehicles", () => {
  expect(roster.size).toBe(6);
  for (const row of [-1, 6]) expect(roster.idAt(row)).toBeUndefined();
  for (const id of [0, 8, 13, 19, 22]) expect(roster.rowOfId(id)).toBeUndefined();
  for (const name of ["scouts", "scouts[3]", "gone", "red[0]", "empty[0]", ""]) {
    if (name !== "red[0]") expect(roster.rowOfName(name)).toBeUndefined();
  }
  expect(Roster.empty.fleetAt(0)).toBeUndefined();
});

it("detects a number reused for other vehicles", () => {
  const book = new RosterIndex();
  const one = { roster: 1, fleets: [fleet("a", [[0, 2]], [[0, 2]])] };
  expect(book.put(one)).toBe(true);
  expect(book.put(structuredClone(one))).toBe(true);
  expect(book.put({ roster: 1, fleets: [fleet("b", [[0, 2]], [[0, 2]])] })).toBe(false);
  expect(book.get(1)?.nameAt(1)).toBe("b[1]");
});

it("deselects removed vehicles, with a notice", () => {
  select([7, 10, 11]);
  hovered.value = 11;
  const less = new Roster({
    roster: 5,
    fleets: [fleet("red", [[7, 1]], [[0, 1]], true), fleet("scouts", [[10, 1]], [[0, 1]])],
  });
  forgetRemoved(roster, less);
  expect([...selection.value]).toEqual([7, 10]);
  expect(focus.value).toBe(10);
  expect(hovered.value).toBeNull();
  expect(notices.value.at(-1)?.text).toBe("scouts[1] removed");
});

it("follows names into another scenario, without a notice", () => {
  select([7, 10]); // red, scouts[0]
  notices.value = [];
  const other = new Roster({
    roster: 1,
    fleets: [fleet("birds", [[7, 4]], [[0, 4]]), fleet("scouts", [[20, 2]], [[0, 2]])],
  });
  followNames(roster, other);
  forgetRemoved(roster, other, false);
  expect([...selection.value]).toEqual([20]); // not birds[0] and birds[3], which have the ids 7 and 10
  expect(focus.value).toBe(20);
  expect(notices.value).toEqual([]);
});
