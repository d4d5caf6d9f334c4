// The radio: links from columns, colours, lines of equal value, jammers of recordings, layers of a client.
import { expect, test } from "vitest";
import { changed, radioAt } from "../../src/replay/radio";
import { refined, smoothed, zeroLines } from "../../src/scene/contours";
import { JammedArea } from "../../src/scene/jammed-area";
import { linkColour, linkLook } from "../../src/scene/radio-drawing";
import { chosenRoutes } from "../../src/scene/routes";
import { raw, type Skin } from "../../src/scene/skin";
import { plansIn } from "../../src/state/emitters";
import { applyRadio, applyVisualization, coverageSpan } from "../../src/state/radio";
import { linksIn } from "../../src/state/radio-links";
import { Roster } from "../../src/state/roster";
import { layers } from "../../src/state/store";
import type { CoverageGrid, JammerView, PlannedRoute, RadioTree } from "../../src/wire/schema";

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
  const set = linksIn({ count: 3 }, { request: 0, vehicles: 3, columns: 5, values }, ROSTER, false);
  const found = Array.from({ length: set?.count ?? 0 }, (_, k) => [set?.from[k], set?.to[k], set?.margin[k]]);
  expect(found).toEqual([
    [0, 1, 23], // 28 dB is the better of 25 and 28
    [0, -2, 25], // the first station
    [1, 2, 7],
  ]);
  expect([...(set?.jammed ?? [])]).toEqual([1]);
  expect(set?.left).toBe(0);
  expect(linksIn({ count: 2 }, { request: 0, vehicles: 2, columns: 5, values }, ROSTER, false)).toBeNull();
});

test("links that only a station hears are drawn, above what its receiver needs", () => {
  applyRadio({ ...TREE, stations: [{ radio: { needed: 8 } }] } as unknown as RadioTree);
  const rows: number[][] = [
    // a neighbour and its SINR, jammed, SINR at a station, the station
    [-2, 15, 0, 30, 0], // 10 dB above what it needs, 22 dB above what the station needs
    [-1, -100, 1, 20, 0], // jammed: only the station hears it
    [-1, -100, 1, -100, -1],
  ];
  const values = new Float64Array(15);
  rows.forEach((row, vehicle) => row.forEach((value, column) => (values[column * 3 + vehicle] = value)));
  const set = linksIn({ count: 3 }, { request: 0, vehicles: 3, columns: 5, values }, ROSTER, true);
  const found = Array.from({ length: set?.count ?? 0 }, (_, k) => [set?.from[k], set?.to[k], set?.margin[k]]);
  expect(found).toEqual([
    [0, -2, 22],
    [1, -2, 12],
  ]);
  expect([...(set?.jammed ?? [])]).toEqual([1, 2]);
});

test("smoothing keeps planes and spreads single values", () => {
  const side = 5;
  const plane = Array.from({ length: side * side }, (_, k) => 2 * (k % side) - 3 * Math.floor(k / side));
  const point = plane.map((_, k) => (k === 12 ? 16 : 0));
  const inside = [6, 7, 8, 11, 12, 13, 16, 17, 18];
  expect(inside.map((k) => smoothed(plane, side)[k])).toEqual(inside.map((k) => plane[k]));
  expect(inside.map((k) => smoothed(point, side)[k])).toEqual([1, 2, 1, 2, 4, 2, 1, 2, 1]);
});

test("of very many links the best of each vehicle are drawn", () => {
  const count = 9000;
  const crowd = new Roster({ roster: 4, fleets: [{ ...FLEET, name: "a", ids: [[0, count]], members: [[0, count]] }] });
  const values = new Float32Array(5 * count);
  for (let row = 0; row < count; row++) {
    for (const [column, value] of [(row + 1) % count, (row + 2) % count, 20, 15, 0].entries())
      values[column * count + row] = value;
  }
  const set = linksIn({ count }, { request: 0, vehicles: count, columns: 5, values }, crowd, false);
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

test("a small footprint on a coarse grid is round when the grid is refined", () => {
  // a jammer in free space, 2.3 cells from its edge; its power falls by 20 dB per decade
  const [side, cell, radius] = [21, 20, 46];
  const from = (k: number) => Math.hypot(cell * (k % side) - 203, cell * Math.floor(k / side) - 196, 10);
  const values = Array.from({ length: side * side }, (_, k) => 20 * Math.log10(Math.hypot(radius, 10) / from(k)));
  const errors = (parts: number) => {
    const grid = { x: -203, y: -196, cell: cell / parts, side: parts * (side - 1) + 1 };
    const fine = refined(values, side, parts);
    const lines = zeroLines(grid, (k) => fine[k] as number);
    const middles = [];
    for (let k = 0; k < lines.length; k += 4) {
      const [ax = 0, ay = 0, bx = 0, by = 0] = lines.slice(k, k + 4);
      middles.push(Math.abs(Math.hypot((ax + bx) / 2, (ay + by) / 2) - radius));
    }
    return [middles.length, Math.max(...middles)] as const;
  };
  const [[corners, coarse], [more, smooth]] = [errors(1), errors(4)];
  expect(corners).toBeLessThan(24);
  expect(more).toBeGreaterThan(60);
  expect(smooth).toBeLessThan(0.4 * coarse);
  expect(refined([0, 1, 2, 3], 2, 2)).toEqual(new Float64Array([0, 0.5, 1, 1, 1.5, 2, 2, 2.5, 3])); // a plane stays one
});

test("opposite corners of a cell are two lines that do not cross", () => {
  const lines = zeroLines({ x: 0, y: 0, cell: 1, side: 2 }, (k) => [1, -1, -1, 1][k] as number);
  expect(lines).toHaveLength(8);
});

const JAMMER = {
  name: "red",
  kind: "spot",
  on: true,
  scheduled: true,
  active: 1,
  position: [1, 2, 3],
  vehicle: null,
} as unknown as JammerView;

const event = (kind: string, subject: string, detail: string, time: number) => {
  return { number: 1, tick: 10 * time, kind, subject, detail, time };
};

test("jammers of a recording follow the events", () => {
  expect(changed(JAMMER, "on False, position [10.5, -2.0, 3.0]")).toMatchObject({ on: false, position: [10.5, -2, 3] });
  expect(changed(JAMMER, "vehicle scouts[3]")).toMatchObject({ vehicle: "scouts[3]", position: null });
  expect(changed(JAMMER, "power 33.5")).toMatchObject({ power: 33.5, on: true });
  const begin = { ...TREE, jammers: [JAMMER] };
  expect(radioAt(begin, new Map(), [], 1.5)?.jammers[0]).toMatchObject({ on: true, active: 1 });
  const events = [event("jammer", "red", "on False", 2)];
  expect(radioAt(begin, new Map(), events, 2)?.jammers[0]).toMatchObject({ on: false, active: 0 });
});

test("jammers of a recording follow their schedules until they are switched by hand", () => {
  const begin = { ...TREE, jammers: [JAMMER] };
  const plans = plansIn({
    jammers: [
      {
        name: "red",
        kind: "spot",
        on: [
          [20, 60],
          [80, 90],
        ],
      },
    ],
  });
  const active = (time: number, ...events: ReturnType<typeof event>[]) =>
    radioAt(begin, plans, events, time)?.jammers[0]?.active;
  expect([10, 20, 59, 60, 85].map((time) => active(time))).toEqual([0, 1, 1, 0, 1]);
  const on = event("jammer", "red", "on True", 62);
  expect(active(70, on)).toBe(1);
  expect(active(70, on, event("jammer", "red", "scheduled True", 65))).toBe(0);
});

test("captured receivers of a recording are counted from its events", () => {
  const spoofer = {
    name: "liar",
    on: true,
    scheduled: true,
    active: true,
    position: [0, 0, 9],
    vehicle: null,
    power: -35,
    captured: 2,
  };
  const begin = { ...TREE, spoofers: [spoofer, { ...spoofer, name: "mirage", captured: 0 }] } as unknown as RadioTree;
  const captured = (...events: ReturnType<typeof event>[]) =>
    radioAt(begin, new Map(), events, 50)?.spoofers.map((one) => one.captured);
  const spoofed = event("gnss_spoofed", "a[1]", "liar", 10);
  expect(captured()).toEqual([2, 0]);
  expect(captured(spoofed)).toEqual([3, 0]);
  expect(captured(spoofed, event("gnss_spoofed", "a[1]", "mirage", 12))).toEqual([2, 1]); // from one to the other
  expect(captured(spoofed, event("gnss_released", "a[1]", "liar", 12))).toEqual([2, 0]);
  expect(captured(event("gnss_released", "a[7]", "liar", 12))).toEqual([1, 0]); // captured before the recording began
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
  expect(coverageSpan({ sensitivity: -90, needed: 6.4 } as CoverageGrid, "power")).toEqual([-100, -40]);
  expect(coverageSpan({ sensitivity: -90, needed: 6.4 } as CoverageGrid, "sinr")).toEqual([-4, 36]);
  expect(coverageSpan({ sensitivity: -90, needed: 6.4 } as CoverageGrid, "per")).toEqual([1, 0]); // all lost, none
});

test("many links are thinner and more transparent", () => {
  expect([1, 40].map(linkLook)).toEqual([
    [1.6, 210],
    [1.6, 210],
  ]);
  expect(linkLook(160)).toEqual([1, 105]);
  expect(linkLook(8000)).toEqual([1, 60]);
});

test("of many routes those of selected vehicles are drawn", () => {
  const routes = Array.from({ length: 25 }, (_, k) => ({ ids: [[10 * k, 2]] }) as unknown as PlannedRoute);
  expect(chosenRoutes(routes.slice(1), new Set())).toHaveLength(24);
  expect(chosenRoutes(routes, new Set())).toEqual([]);
  expect(chosenRoutes(routes, new Set([11, 12, 240]))).toEqual([routes[1], routes[24]]);
});

test("the jammed side is filled", () => {
  const area = new JammedArea();
  const side = 11; // every other value is used: 6 x 6
  const east = Array.from({ length: side * side }, (_, k) => (k % side) - 5);
  const skin = { ...SKIN, theme: "light" } as Skin;
  const grid = { x: 0, y: 0, cell: 10, side };
  const noisy = east.map((one) => one + 4);
  area.rebuild(grid, noisy, east, 1, skin);
  expect(area.filled).toEqual([30, 18]); // from x = 20 m on above the noise, from 60 m above the signals
  expect(area.object.visible).toBe(true);
  const excess = area.object.geometry.getAttribute("excess");
  expect([0, 14, 15].map((k) => [excess.getX(k), excess.getY(k), excess.getZ(k)])).toEqual([
    [-1, -5, 0], // the edge fades
    [3, -1, 1],
    [5, 1, 1],
  ]);
  const quiet = east.map(() => -1);
  area.rebuild(grid, quiet, quiet, 1, skin);
  expect(area.object.visible).toBe(false);
  area.dispose();
});
