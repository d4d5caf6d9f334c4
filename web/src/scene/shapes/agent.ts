// An abstract agent: a folded dart, 1 m long, for vehicles that are no more than a place and a direction.
import type { BufferGeometry } from "three";
import { type P3, ShapeBuilder } from "./builder";

const NOSE: P3 = [0.55, 0, 0];
const RIDGE: P3 = [-0.3, 0, 0.16];
const KEEL: P3 = [-0.3, 0, -0.06];
const LEFT: P3 = [-0.45, 0.34, 0];
const RIGHT: P3 = [-0.45, -0.34, 0];

export function detailedAgent(): BufferGeometry {
  const b = new ShapeBuilder();
  b.paint("#d8dde2", 0.96).triangle(NOSE, LEFT, RIDGE).triangle(NOSE, RIDGE, RIGHT);
  b.paint("#9aa5af", 0.7).triangle(NOSE, KEEL, LEFT).triangle(NOSE, RIGHT, KEEL);
  b.paint("#39424b", 0.35).triangle(RIDGE, LEFT, KEEL).triangle(RIDGE, KEEL, RIGHT);
  return b.build();
}

export function simpleAgent(): BufferGeometry {
  return detailedAgent();
}
