// Things that are not driven: road cones and crates. Their position is their centre of mass.
import type { BufferGeometry } from "three";
import { type P3, ShapeBuilder } from "./builder";

export interface PropSize {
  length: number; // m
  width: number;
  height: number;
  balance: number; // height of the centre of mass over the base, share of the height
}

const SIDES = 16;
const FOOT = 0.06; // height of the base plate, share
const TIP = 0.16; // radius of the top, share

/** Colours of a cone and its bands. */
export interface ConePaint {
  body: string;
  band: string;
  bands: number;
}

/** Cones of Formula Student tracks, by the names of their colours; others look like road cones. */
export const CONE_PAINTS: Readonly<Record<string, ConePaint>> = {
  blue: { body: "#1d6fdc", band: "#f4f4f0", bands: 1 },
  yellow: { body: "#f5c400", band: "#1c1f23", bands: 1 },
  orange: { body: "#f26a1b", band: "#f4f4f0", bands: 1 },
  big_orange: { body: "#f26a1b", band: "#f4f4f0", bands: 2 },
  unknown: { body: "#9aa4ae", band: "#e6e9ec", bands: 1 },
};
const ROAD_CONE = CONE_PAINTS["orange"] as ConePaint;

/** A cone with one or two bands on a base plate. */
export function coneShape(
  { length, width, height, balance }: PropSize,
  sides = SIDES,
  { body, band, bands }: ConePaint = ROAD_CONE,
): BufferGeometry {
  const b = new ShapeBuilder();
  const low = -balance * height;
  const ring = (share: number): P3[] => {
    const wide = (0.4 - (0.4 - TIP / 2) * share) * 2;
    return Array.from({ length: sides }, (_, k) => {
      const angle = (2 * Math.PI * k) / sides;
      const [c, s] = [Math.cos(angle), Math.sin(angle)];
      return [0.5 * length * wide * c, 0.5 * width * wide * s, low + share * height];
    });
  };
  const plate: P3 = [0.5 * length, 0.5 * width, low + FOOT * height];
  b.paint("#2a2f35").box([-plate[0], -plate[1], low], plate);
  const edges = bands === 2 ? [FOOT, 0.3, 0.45, 0.6, 0.75, 1] : [FOOT, 0.42, 0.68, 1];
  edges.slice(1).forEach((edge, k) => {
    b.paint(k % 2 === 0 ? body : band).bridge(ring(edges[k] as number), ring(edge));
  });
  return b.paint(body).cap(ring(1)).build();
}

/** A crate of boards in the vehicle's colour on its edges. */
export function crateShape({ length, width, height, balance }: PropSize): BufferGeometry {
  const b = new ShapeBuilder();
  const [x, y, low] = [0.5 * length, 0.5 * width, -balance * height];
  const edge = 0.08 * Math.min(length, width, height);
  const inner = 0.4 * edge;
  b.paint("#b98a55").box([-x + inner, -y + inner, low + inner], [x - inner, y - inner, low + height - inner]);
  b.paint("#8c6239", 0.25);
  for (const z of [low, low + height - edge]) {
    for (const s of [-1, 1]) {
      b.box([-x, s > 0 ? y - edge : -y, z], [x, s > 0 ? y : -y + edge, z + edge]);
      b.box([s > 0 ? x - edge : -x, -y, z], [s > 0 ? x : -x + edge, y, z + edge]);
    }
  }
  for (const sx of [-1, 1]) {
    for (const sy of [-1, 1]) {
      const [cx, cy] = [sx > 0 ? x - edge : -x, sy > 0 ? y - edge : -y];
      b.box([cx, cy, low], [cx + edge, cy + edge, low + height]);
    }
  }
  return b.build();
}
