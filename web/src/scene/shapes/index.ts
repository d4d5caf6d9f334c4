// The shape of each vehicle kind: detailed, simple, and translucent parts such as spinning blades.
import type { BufferGeometry } from "three";
import { aircraftBlur, detailedAircraft, simpleAircraft } from "./aircraft";
import { type P3, ShapeBuilder } from "./builder";
import { detailedCar, simpleCar } from "./car";
import { detailedQuad, quadBlur, simpleQuad } from "./quad";
import { detailedRover, simpleRover } from "./rover";

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

function simpleAgent(): BufferGeometry {
  return detailedAgent();
}

interface Shape {
  detailed(): BufferGeometry;
  simple(): BufferGeometry;
  blur?(): BufferGeometry;
}

export const SHAPES: Record<string, Shape> = {
  car: { detailed: detailedCar, simple: simpleCar },
  quad: { detailed: detailedQuad, simple: simpleQuad, blur: quadBlur },
  rover: { detailed: detailedRover, simple: simpleRover },
  aircraft: { detailed: detailedAircraft, simple: simpleAircraft, blur: aircraftBlur },
  agent: { detailed: detailedAgent, simple: simpleAgent },
};
