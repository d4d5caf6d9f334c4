import { expect, test } from "vitest";
import { formatLap, sectorsOf, situationOf } from "../../src/state/race";
import type { StandingsTree, StandingTree } from "../../src/wire/schema";

const ROW = {
  position: 2,
  name: "red",
  status: "running",
  gap: 12.4,
  sector_times: [
    [20.5, 19.25, 21],
    [20, null, null],
    [null, null, null],
  ],
} as unknown as StandingTree;

test("lap times have minutes from 60 s on", () => {
  expect(formatLap(58.12)).toBe("58.120");
  expect(formatLap(62.3456)).toBe("1:02.346");
  expect(formatLap(null)).toBe("–");
});

test("a running car shows its gap, another one its status", () => {
  expect(situationOf(ROW)).toBe("+12.40");
  expect(situationOf({ ...ROW, position: 1 })).toBe("leader");
  expect(situationOf({ ...ROW, status: "dnf" })).toBe("DNF");
});

test("the sectors are those of the newest lap with a time; the fastest of the race are marked", () => {
  const race = { fastest_sectors: [["red", 2, 20], ["blue", 1, 18], null] } as unknown as StandingsTree;
  expect(sectorsOf(ROW, race)).toEqual([{ time: 20, best: true }]);
  const first = { ...ROW, sector_times: [[20.5, 18, 21]] } as unknown as StandingTree;
  expect(sectorsOf(first, race).map(({ best }) => best)).toEqual([false, false, false]);
});
