// The radio: links from columns, colours, lines of equal value, jammers of recordings, layers of a client.
import { expect, test } from "vitest";
import { changed, radioAt } from "../../src/replay/radio";
import { zeroLines } from "../../src/scene/contours";
import { linkColour } from "../../src/scene/radio-drawing";
import { raw, type Skin } from "../../src/scene/skin";
import { applyRadio, applyVisualization, coverageSpan } from "../../src/state/radio";
import { linksIn } from "../../src/state/radio-links";
import { Roster } from "../../src/state/roster";
import { layers } from "../../src/state/store";
import type { CoverageTree, JammerTree, RadioTree } from "../../src/wire/schema";

const FLEET = { kind: "agent", model: "point", single: false, columns: [] };
const ROSTER = new Roster({
  roster: 3,
  fleets: [
    { ...FLEET, name: "a", ids: [[10, 2]], members: [[0, 2]] },
    { ...FLEET, name: "b", ids: [[4, 1]], members: [[0, 1]] },
  ],
});
const TREE = {
  fleets: [
    { name: "a", radios: [{ needed: 5 }] },
    { name: "b", radios: [{ needed: 10 }] },
  ],
  stations: [],
  jammers: [],
  spoofers: [],
} as unknown as RadioTree;
const SKIN = { red: raw("#ff0000"), amber: raw("#ffa000"), green: raw("#00ff00") } as Skin;

test("pairs are drawn once, with the better direction, above what the receiver needs", () => {
  applyRadio(TREE);
  const rows: number[][] = [
    // two neighbours and their SINR, jammed; vehicles 10, 11 and 4
    [11, -2, 25, 30, 0],
    [10, 4, 28, 12, 1],
    [-1, -1, -100, -100, 0],
  ];
  const values = new Float64Array(15);
  rows.forEach((row, vehicle) => row.forEach((value, column) => (values[column * 3 + vehicle] = value)));
  const set = linksIn({ count: 3 }, { request: 0, vehicles: 3, columns: 5, values }, ROSTER);
  const found = Array.from({ length: set?.count ?? 0 }, (_, k) => [set?.from[k], set?.to[k], set?.margin[k]]);
  expect(found).toEqual([
    [0, 1, 23], // 28 dB is the better of 25 and 28
    [0, -2, 25], // the first station
    [1, 2, 7],
  ]);
  expect([...(set?.jammed ?? [])]).toEqual([1]);
  expect(set?.left).toBe(0);
  expect(linksIn({ count: 2 }, { request: 0, vehicles: 2, columns: 5, values }, ROSTER)).toBeNull();
});

test("of very many links the best of each vehicle are drawn", () => {
  const count = 9000;
  const crowd = new Roster({ roster: 4, fleets: [{ ...FLEET, name: "a", ids: [[0, count]], members: [[0, count]] }] });
  const values = new Float32Array(5 * count);
  for (let row = 0; row < count; row++) {
    for (const [column, value] of [(row + 1) % count, (row + 2) % count, 20, 15, 0].entries())
      values[column * count + row] = value;
  }
  const set = linksIn({ count }, { request: 0, vehicles: count, columns: 5, values }, crowd);
  expect(set?.count).toBe(count); // one of two for each
  expect(set?.left).toBe(0);
});

test("links are red, amber and green", () => {
  expect(linkColour(-3, SKIN)).toEqual([255, 0, 0, 220]);
  expect(linkColour(10, SKIN)).toEqual([255, 160, 0, 220]);
  expect(linkColour(40, SKIN, 90)).toEqual([0, 255, 0, 90]);
});

test("lines of equal value form a circle of the right radius", () => {
  const [side, cell] = [41, 5];
  const grid = { x: -100, y: -100, cell, side };
  const lines = zeroLines(grid, (k) => 60 - Math.hypot(-100 + cell * (k % side), -100 + cell * Math.floor(k / side)));
  let length = 0;
  for (let k = 0; k < lines.length; k += 4) {
    const [ax = 0, ay = 0, bx = 0, by = 0] = lines.slice(k, k + 4);
    expect(Math.hypot(ax, ay)).toBeCloseTo(60, 0);
    length += Math.hypot(bx - ax, by - ay);
  }
  expect(length).toBeGreaterThan(0.99 * 2 * Math.PI * 60);
  expect(length).toBeLessThan(1.01 * 2 * Math.PI * 60);
});

test("opposite corners of a cell are two lines that do not cross", () => {
  const lines = zeroLines({ x: 0, y: 0, cell: 1, side: 2 }, (k) => [1, -1, -1, 1][k] as number);
  expect(lines).toHaveLength(8);
});

const JAMMER = {
  name: "red",
  kind: "spot",
  on: true,
  active: 1,
  position: [1, 2, 3],
  vehicle: null,
} as unknown as JammerTree;

test("jammers of a recording follow the events", () => {
  expect(changed(JAMMER, "on False, position [10.5, -2.0, 3.0]")).toMatchObject({ on: false, position: [10.5, -2, 3] });
  expect(changed(JAMMER, "vehicle scouts[3]")).toMatchObject({ vehicle: "scouts[3]", position: null });
  expect(changed(JAMMER, "power 33.5")).toMatchObject({ power: 33.5, on: true });
  const events = [{ number: 1, tick: 10, kind: "jammer", subject: "red", detail: "on False", time: 2 }];
  const begin = { ...TREE, jammers: [JAMMER] };
  expect(radioAt(begin, events, 1.5)?.jammers[0]?.on).toBe(true);
  expect(radioAt(begin, events, 2)?.jammers[0]).toMatchObject({ on: false, active: 0 });
});

test("a client's layers are shown once", () => {
  const nothing = { show_jamming: null, show_coverage: null, show_paths: null, show_labels: true };
  const mode = { version: 1, show_comm_links: false, show_rf_range: true, ...nothing };
  applyVisualization(mode);
  expect(layers.value).toMatchObject({ links: false, ranges: true, names: true, trails: true });
  layers.value = { ...layers.value, links: true };
  applyVisualization({ ...mode }); // the same version again
  expect(layers.value.links).toBe(true);
  applyVisualization({ ...mode, version: 2 });
  expect(layers.value.links).toBe(false);
});

test("the colours of the coverage span what a receiver can use", () => {
  expect(coverageSpan({ sensitivity: -90, needed: 6.4 } as CoverageTree, "power")).toEqual([-100, -40]);
  expect(coverageSpan({ sensitivity: -90, needed: 6.4 } as CoverageTree, "sinr")).toEqual([-4, 36]);
});
