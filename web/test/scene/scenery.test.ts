// Terrain, friction, obstacles and shadows: geometry against values computed by hand.
import { expect, test } from "vitest";
import { boundsOf, distanceFrom, FrictionImage, frictionImage, type Patch } from "../../src/scene/friction";
import { SUN } from "../../src/scene/light";
import { Governor } from "../../src/scene/loop";
import { instancesOf } from "../../src/scene/obstacles";
import { coverage } from "../../src/scene/shadows";
import { axisOf, contourStep, terrainArrays } from "../../src/scene/terrain";
import { Relief, slopeOf } from "../../src/state/scenery";
import type { GroundTree, ObstacleTree } from "../../src/wire/schema";

/** A grid of heights around the origin. */
function grid(height: (x: number, y: number) => number, cell = 2, side = 11): GroundTree {
  const first = (-cell * (side - 1)) / 2;
  const heights = Array.from({ length: side * side }, (_, k) => {
    return height(first + cell * (k % side), first + cell * Math.floor(k / side));
  });
  return { x: first, y: first, cell, rows: side, columns: side, heights, friction: null };
}

// heights ------------------------------------------------------------------------------------------------------------

test("heights lie on a plane between the values, and beyond the edge", () => {
  const slope = slopeOf({ grade: 0.1, bank: 0.2, heading: Math.PI / 2 }); // rises to the north, and to the west
  expect(slope[0]).toBeCloseTo(-0.2, 12);
  expect(slope[1]).toBeCloseTo(0.1, 12);
  const relief = new Relief(
    grid((x, y) => 3 - 0.2 * x + 0.1 * y),
    slope,
  );
  for (const [x, y] of [
    [0, 0],
    [3.3, -7.1],
    [10, 10],
    [40, -25],
    [-100, 3],
  ] as const) {
    expect(relief.heightAt(x, y)).toBeCloseTo(3 - 0.2 * x + 0.1 * y, 9);
  }
  expect([relief.low, relief.high]).toEqual([expect.closeTo(0, 9), expect.closeTo(6, 9)]);
});

test("a height map without a slope continues as at its edge", () => {
  const relief = new Relief(grid((x) => x * x));
  expect(relief.heightAt(500, 0)).toBe(100);
  expect(relief.heightAt(1, 0)).toBeCloseTo(2, 12); // between 0 and 4
});

test("a ray meets the nearest slope of a ridge", () => {
  const ridge = new Relief(grid((x) => Math.max(0, 6 - Math.abs(x)))); // 6 m high along y, 45 degrees
  const found = ridge.hit([-20, 1, 4], [-19, 1, 4]) as [number, number, number]; // level, at a height of 4 m
  expect(found[0]).toBeCloseTo(-2, 3);
  expect(found[1]).toBeCloseTo(1, 6);
  expect(found[2]).toBeCloseTo(4, 3);
  const steep = ridge.hit([0, 0, 30], [0, 0, 29]) as [number, number, number];
  expect(steep[2]).toBeCloseTo(6, 6);
  expect(ridge.hit([0, 0, 30], [0, 0, 31])).toBeNull();
  expect(ridge.hit([-20, 0, 7], [-19, 0, 7])).toBeNull(); // above the crest
});

// terrain ------------------------------------------------------------------------------------------------------------

test("the mesh has the heights, normals and upward triangles of the ground", () => {
  const relief = new Relief(
    grid((x) => 0.5 * x),
    [0.5, 0],
  );
  const { places, normals, index } = terrainArrays(relief);
  const wide = axisOf(-10, 2, 11).at.length;
  expect(places.length).toBe(4 * wide * wide);
  for (let k = 0; k < wide * wide; k++) {
    expect(places[4 * k + 2]).toBeCloseTo(0.5 * (places[4 * k] as number), 4);
    expect(normals[3 * k]).toBeCloseTo(-0.4472136, 5); // -0.5 / sqrt(1.25)
    expect(normals[3 * k + 2]).toBeCloseTo(0.8944272, 5);
  }
  for (let t = 0; t < index.length; t += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => 4 * (index[t + k] as number)) as [number, number, number];
    const at = (k: number): number => places[k] as number;
    const area = (at(b) - at(a)) * (at(c + 1) - at(a + 1)) - (at(c) - at(a)) * (at(b + 1) - at(a + 1));
    expect(area).toBeGreaterThan(0); // counter-clockwise from above
  }
});

test("the ring around the grid fades outwards", () => {
  const { at, away } = axisOf(0, 1, 5);
  expect([...at.slice(4, 9)]).toEqual([0, 1, 2, 3, 4]);
  expect([...away.slice(3, 10)]).toEqual([0, 0, 0, 0, 0, 0, 0]);
  expect([at[0], away[0], at.at(-1), away.at(-1)]).toEqual([-10, 1, 14, 1]);
});

test("contour lines are 1, 2 or 5 times a power of ten apart", () => {
  expect([0.5, 10, 12, 30, 100, 1000].map(contourStep)).toEqual([0.05, 1, 1, 5, 10, 100]);
});

// friction -----------------------------------------------------------------------------------------------------------

test("distances from the edges of patches", () => {
  const circle: Patch = { mu: 0.1, circle: { center: [3, 4], radius: 2 } };
  expect(distanceFrom(circle, 0, 0)).toBeCloseTo(3, 12);
  expect(distanceFrom(circle, 3, 3)).toBeCloseTo(-1, 12);
  const turned: Patch = { mu: 0.1, rectangle: { center: [0, 0], size: [10, 2], heading: Math.PI / 2 } };
  expect(distanceFrom(turned, 0, 4)).toBeCloseTo(-1, 12);
  expect(distanceFrom(turned, 4, 0)).toBeCloseTo(3, 12);
  expect(distanceFrom(turned, 4, 9)).toBeCloseTo(5, 12);
  const triangle: Patch = {
    mu: 0.1,
    polygon: [
      [0, 0],
      [4, 0],
      [0, 3],
    ],
  };
  expect(distanceFrom(triangle, 1, 1)).toBeCloseTo(-1, 12); // its inscribed circle
  expect(distanceFrom(triangle, 4, 3)).toBeCloseTo(2.4, 12);
  const left: Patch = { mu: 0.1, half_plane: { point: [0, 1], heading: 0 } };
  expect([distanceFrom(left, 7, 3), distanceFrom(left, 7, 0)]).toEqual([-2, 1]);
  expect(boundsOf(left)).toBeNull();
  expect(boundsOf({ ...circle, transition: 1 })).toEqual([0.5, 1.5, 5.5, 6.5]);
});

test("later patches cover earlier ones, with their transitions", () => {
  const patches: Patch[] = [
    { mu: 0.2, rectangle: { center: [0, 0], size: [40, 20] } },
    { mu: 0.8, circle: { center: [0, 0], radius: 5 }, transition: 4 },
  ];
  const image = new FrictionImage({ x: -32, y: -32, width: 64, height: 64 }, 1, patches, null, 256);
  expect(image.at(0, 0)).toBeCloseTo(0.8, 6);
  expect(image.at(15, 5)).toBeCloseTo(0.2, 6);
  expect(image.at(25, 0)).toBeCloseTo(1, 6);
  expect(image.at(4.99, 0)).toBeCloseTo(0.5, 1); // half way
  expect([image.least, image.most]).toEqual([expect.closeTo(0.2, 6), 1]);
});

test("a friction map is drawn over its area, and nothing without patches or a map", () => {
  const ground = { ...grid(() => 0), friction: grid((x) => (x < 0 ? 0.3 : 1.2)).heights };
  const tree = { ground_z: 0, mu: 1, ground, obstacles: [], roads: [], track: null };
  const image = frictionImage(tree, { friction_map: {} }) as FrictionImage;
  expect(image.at(-8, 0)).toBeCloseTo(0.3, 5);
  expect(image.at(8, 3)).toBeCloseTo(1.2, 5);
  expect(frictionImage(tree, {})).toBeNull();
  const split = frictionImage(tree, { patches: [{ mu: 0.1, half_plane: { heading: Math.PI / 2 } }] }) as FrictionImage;
  expect([split.at(-5, 0), split.at(5, 0)]).toEqual([expect.closeTo(0.1, 6), 1]);
});

// obstacles and shadows ----------------------------------------------------------------------------------------------

test("obstacles as instances: base, heading, full sizes", () => {
  const shared = { name: "", x: 1, y: 2, base: 3, top: 5 };
  const box: ObstacleTree = { ...shared, kind: "box", heading: 0.5, length: 4, width: 6, radius: null };
  const cone: ObstacleTree = { ...shared, kind: "cone", heading: 0, length: null, width: null, radius: 0.25 };
  const { stand, extent } = instancesOf([box, cone]);
  expect([...stand]).toEqual([1, 2, 3, 0.5, 1, 2, 3, 0]);
  expect([...extent]).toEqual([4, 6, 2, 0.25, 0.25, 2]);
});

test("the shadow map covers what is looked at, in whole texels", () => {
  expect(Math.hypot(...SUN)).toBeCloseTo(1, 12);
  const near = coverage([0, -10, 5], [0, 0, 0]);
  expect(near.reach).toBeGreaterThanOrEqual(18);
  expect(near.reach).toBeLessThan(26);
  const texel = (2 * near.reach) / 2048;
  expect(Math.hypot(...near.middle)).toBeLessThan(texel);
  const moved = coverage([0.3 * texel, -10, 5], [0.3 * texel, 0, 0]);
  expect(moved.middle.every((one, k) => Math.abs(one - (near.middle[k] as number)) < 1.1 * texel)).toBe(true);
  expect(coverage([0, -1e5, 1e5], [0, 0, 0]).reach).toBeLessThan(900);
});

test("slow frames switch shadows off before the resolution falls, and for good after the second time", () => {
  const governor = new Governor();
  const pass = (ms: number, count: number) => {
    for (let k = 0; k < count; k++) governor.note(ms, governor.shadows);
  };
  pass(80, 12);
  expect([governor.shadows, governor.scale]).toEqual([false, 1]);
  pass(10, 90);
  expect(governor.shadows).toBe(true);
  pass(80, 12);
  pass(10, 1000);
  expect([governor.shadows, governor.scale]).toEqual([false, 1]);
  pass(80, 12);
  expect(governor.scale).toBe(0.75);
});
