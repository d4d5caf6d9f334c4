// The shapes of each kind: in detail, simple, and what is translucent (fast blades).
import type { BufferGeometry } from "three";
import { detailedAgent, simpleAgent } from "./agent";
import { aircraftBlur, detailedAircraft, simpleAircraft } from "./aircraft";
import { detailedCar, simpleCar } from "./car";
import { detailedQuad, quadBlur, simpleQuad } from "./quad";
import { detailedRover, simpleRover } from "./rover";

export interface Shape {
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
