import { expect, test } from "vitest";
import { gateQuads, isTrackRoad, trackCones, trackStrip } from "../../src/scene/track";
import type { RoadTree, TrackTree } from "../../src/wire/schema";

const STRAIGHT: TrackTree = {
  name: "straight",
  closed: false,
  length: 20,
  start: [0, 0, 0],
  cones: [
    [0, 2],
    [0, -1],
    [20, 2],
  ],
  colours: [0, 1, 3],
  colour_names: ["blue", "yellow", "orange", "big_orange", "unknown"],
  movable: false,
  centre: [
    [0, 0],
    [10, 0],
    [20, 0],
  ],
  left_width: [2, 2, 2],
  right_width: [1, 1, 1],
  left: [],
  right: [],
  left_cones: [0],
  right_cones: [1],
  gates: [{ name: "start", left: [5, 2], right: [5, -1], along: 5 }],
};
const flat = () => 0;

test("a strip covers the track and as much beyond its boundaries as requested", () => {
  const { places, spots, index } = trackStrip(STRAIGHT, 0.5, 0, flat, 1);
  expect([...places.slice(0, 6)]).toEqual([0, 2.5, 0, 0, -1.5, 0]);
  expect([...spots.slice(0, 6)]).toEqual([-0.5, 3.5, 0, 3.5, -0.5, 0]);
  expect(index).toHaveLength(2 * 6);
});

test("a closed track joins its end to its start", () => {
  const square = { ...STRAIGHT, closed: true, centre: [[0, 0], [10, 0], [10, 10], [0, 10]] as const }; // biome-ignore format: a square
  const { places, index } = trackStrip(
    { ...square, left_width: [1, 1, 1, 1], right_width: [1, 1, 1, 1] },
    0,
    1,
    flat,
    1,
  );
  expect(index).toHaveLength(4 * 6);
  expect([...places.slice(0, 6)]).toEqual([...places.slice(-6)]);
});

test("a gate is a rectangle between its ends, chequered at the start", () => {
  const { places, spots } = gateQuads(STRAIGHT, flat);
  expect([...places]).toEqual([4.5, 2, 0, 4.5, -1, 0, 5.5, 2, 0, 5.5, -1, 0].map((value) => expect.closeTo(value)));
  expect([spots[0], spots[3], spots[2]]).toEqual([0, 3, 2]);
});

test("cones are obstacles by colour, unless they are vehicles", () => {
  const cones = trackCones(STRAIGHT, () => 1);
  expect(Object.keys(cones)).toEqual(["blue", "yellow", "big_orange"]);
  expect(cones["big_orange"]?.[0]).toMatchObject({ x: 20, y: 2, base: 1, top: 1.505, radius: 0.1425 });
  expect(trackCones({ ...STRAIGHT, movable: true }, flat)).toEqual({});
});

test("a road along the middle line is the track itself, and a track without lines has no strip", () => {
  const along = (y: number): RoadTree => ({ width: 3, closed: false, points: [[0, y, 0], [10, y, 0], [20, y, 0]] }); // biome-ignore format: a table
  expect([along(0.5), along(6)].map((road) => isTrackRoad(road, STRAIGHT))).toEqual([true, false]);
  const none = { ...STRAIGHT, closed: true, centre: [], left_width: [], right_width: [] };
  expect(trackStrip(none, 0.5, 0, flat, 1)).toMatchObject({ places: new Float32Array(0), index: new Uint32Array(0) });
});
