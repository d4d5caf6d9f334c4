// Scenery, routes and looks from the metadata of a recording; damaged or missing parts are left out.
import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { Recording } from "../../src/replay/recording";
import { surroundingsIn } from "../../src/replay/surroundings";
import { fileOf, smallBytes } from "./files";

const packed = (tree: unknown): string => deflateSync(JSON.stringify(tree)).toString("base64");
const GROUND = { x: -1, y: 0, cell: 2, rows: 2, columns: 3, heights: [0, 1, 2, 3, 4, 5], friction: null };
const BOX = { name: "hut", kind: "box", x: 1, y: 2, base: 0, top: 3, heading: 0, length: 4, width: 5, radius: null };
const ROAD = {
  width: 9,
  closed: true,
  points: [
    [0, 0, 0],
    [10, 0, 0],
    [0, 10, 0],
  ],
};
const LINE = [
  [0, 0],
  [1, 1],
];
const TRACK = {
  ...{ name: "t", closed: false, length: 1.4, start: [0, 0, 0], cones: [[0, 2]], colours: [0], colour_names: ["blue"] },
  ...{ movable: false, centre: LINE, left_width: [1, 1], right_width: [1, 1], left: LINE, right: LINE },
  ...{ left_cones: [0], right_cones: [], gates: [{ name: "start", left: [0, 1], right: [0, -1], along: 0 }] },
};
const GIVEN = { ground_z: 0.5, mu: 0.9, ground: GROUND, obstacles: [BOX], roads: [ROAD], track: TRACK };
const SCENERY = { ...GIVEN, section: { grade: 0.1 } };
const read = (entries: Record<string, string>) => surroundingsIn(new Map(Object.entries(entries)));

test("scenery, routes and looks", async () => {
  const looks = { red: { preset: "sports", dimensions: { cg_to_front: 1.2, odd: "x" } } };
  const routes = [{ fleet: "red", points: [[1, 2, 3]] }, { fleet: "odd" }, null];
  const units = { red: { steer: "rad", odd: 3 }, odd: 3 };
  const trees = { looks, routes, units };
  const entries = Object.entries(trees).map(([name, tree]) => [name, JSON.stringify(tree)] as const);
  const found = await read({ scenery: packed(SCENERY), ...Object.fromEntries(entries) });
  expect(found.units).toEqual(
    new Map([
      ["red", new Map([["steer", "rad"]])],
      ["odd", new Map()],
    ]),
  );
  expect(found.scenery).toEqual(SCENERY);
  expect(found.looks.get("red")).toEqual({ preset: "sports", dimensions: { cg_to_front: 1.2 } });
  expect(found.routes).toEqual([routes[0]]);
});

test.each([
  ["no base64", "§§"],
  ["not compressed", btoa("{}")],
  ["no object", packed(3)],
  ["a grid with too few values", packed({ ...SCENERY, ground: { ...GROUND, heights: [1] } })],
  ["a grid with text", packed({ ...SCENERY, ground: { ...GROUND, heights: [0, 1, 2, 3, 4, "5"] } })],
  ["no height", packed({ ...SCENERY, ground_z: null })],
])("%s: no scenery", async (_, scenery) => {
  const nothing = {
    scenery: null,
    looks: new Map(),
    units: new Map(),
    routes: [],
    arrays: new Map(),
    radio: null,
    race: null,
  };
  expect(await read({ scenery, looks: "[", routes: "3", arrays: "7", radio: "[]", race: "{}" })).toEqual(nothing);
});

test.each([
  ["none, in earlier files", undefined],
  ["a colour too few", { ...TRACK, colours: [] }],
  ["cones in text", { ...TRACK, cones: ["here"] }],
  ["widths that end early", { ...TRACK, left_width: [1] }],
  ["a gate without ends", { ...TRACK, gates: [{ name: "start" }] }],
])("track: %s", async (_, track) => {
  expect((await read({ scenery: packed({ ...SCENERY, track }) })).scenery?.track).toBeNull();
});

test("arrays of sensors; odd ones are left out", async () => {
  const ranges = {
    name: "lidar.ranges",
    shape: [90],
    sensor: "lidar",
    unit: "m",
    meaning: "",
    fields: [],
    options: {},
  };
  const odd = [{ ...ranges, shape: "90" }, { ...ranges, fields: [{}] }, { ...ranges, options: { rate: "x" } }, null];
  const { arrays } = await read({ arrays: JSON.stringify({ red: [ranges, ...odd], blue: 3 }) });
  expect([...arrays]).toEqual([
    ["red", [ranges]],
    ["blue", []],
  ]);
});

test("odd obstacles and roads are left out", async () => {
  const obstacles = [{ ...BOX, kind: "tree" }, { ...BOX, x: null }, BOX, 7];
  const roads = [
    { ...ROAD, points: [[0, 0, 0]] },
    { ...ROAD, width: "9" },
    {
      ...ROAD,
      points: [
        [0, 0],
        [1, 1],
      ],
    },
    ROAD,
  ];
  const found = (await read({ scenery: packed({ ...SCENERY, obstacles, roads }) })).scenery;
  expect([found?.obstacles, found?.roads]).toEqual([[BOX], [ROAD]]);
});

test("a recording of an earlier version has none", async () => {
  const { surroundings } = await Recording.open(fileOf(smallBytes()));
  expect([surroundings.scenery, surroundings.looks.size]).toEqual([null, 0]);
});
