// Cars with a closed body: saloon, sports car, race car. They stand on z = 0 with the nose along +x, their position
// between the axles; body in the vehicle's colour.
import type { BufferGeometry } from "three";
import type { CarPlan } from "../../state/appearance";
import { type P3, ShapeBuilder } from "./builder";
import { wheels } from "./wheel";

/** Half widths at sill, waist and shoulder (shares of the half width), their heights (m), at a place along the car. */
type Section = readonly [
  x: number,
  sill: number,
  waist: number,
  shoulder: number,
  low: number,
  middle: number,
  high: number,
];

const PAINT = "#d8dde2";
const GLASS = "#131a22";
const TRIM = "#10151a";

/** Places along a car as shares: -1 the rear axle, 1 the front axle, beyond them metres. */
function along({ front, rear }: CarPlan): (share: number) => number {
  return (share) => {
    if (share > 1) return front + (share - 1);
    if (share < -1) return -rear + (share + 1);
    return (front - rear) / 2 + (share * (front + rear)) / 2;
  };
}

function halfWidth({ trackFront, trackRear }: CarPlan): number {
  return Math.max(trackFront, trackRear) + 0.1;
}

function body(b: ShapeBuilder, plan: CarPlan, sections: readonly Section[]): void {
  const [at, half] = [along(plan), halfWidth(plan)];
  const rings = sections.map(([x, sill, waist, shoulder, low, middle, high]): P3[] => [
    [at(x), -sill * half, low],
    [at(x), sill * half, low],
    [at(x), waist * half, middle],
    [at(x), shoulder * half, high],
    [at(x), -shoulder * half, high],
    [at(x), -waist * half, middle],
  ]);
  b.paint(PAINT, 0.96).loft(rings);
}

/** Windows between the waist and the roof: places of their lower and upper ends, heights, half widths. */
interface Cabin {
  foot: readonly [rear: number, front: number];
  roof: readonly [rear: number, front: number];
  base: readonly [rear: number, front: number]; // m
  top: number;
  wide: readonly [foot: number, roof: number]; // shares of the half width
}

function cabin(b: ShapeBuilder, plan: CarPlan, { foot, roof, base, top, wide }: Cabin): void {
  const [at, half] = [along(plan), halfWidth(plan)];
  const ring = ([back, nose]: readonly [number, number], w: number, zs: readonly [number, number]): P3[] => [
    [at(back), -w * half, zs[0]],
    [at(nose), -w * half, zs[1]],
    [at(nose), w * half, zs[1]],
    [at(back), w * half, zs[0]],
  ];
  const low = ring(foot, wide[0], base);
  const high = ring(roof, wide[1], [top - 0.04, top - 0.03]);
  b.paint(GLASS).bridge(low, high);
  const crown = ring([roof[0] + 0.06, roof[1] - 0.05], wide[1] - 0.06, [top, top]);
  b.paint(PAINT, 0.9).bridge(high, crown).cap(crown);
  pillars(b, low, high);
}

/** Strips just outside the side windows, in the middle. */
function pillars(b: ShapeBuilder, low: readonly P3[], high: readonly P3[]): void {
  const between = (p: P3, q: P3, share: number): P3 => [
    p[0] + share * (q[0] - p[0]),
    p[1] + share * (q[1] - p[1]) + Math.sign(p[1]) * 0.012,
    p[2] + share * (q[2] - p[2]),
  ];
  for (const [back, nose, turned] of [
    [0, 1, false],
    [3, 2, true],
  ] as const) {
    const foot = (share: number): P3 => between(low[back] as P3, low[nose] as P3, share);
    const top = (share: number): P3 => between(high[back] as P3, high[nose] as P3, share);
    const corners = [foot(0.46), foot(0.5), top(0.5), top(0.44)];
    b.cap(turned ? corners.reverse() : corners);
  }
}

/** Dark arches around the wheels, which stand out a little. */
function arches(b: ShapeBuilder, plan: CarPlan): void {
  const face = halfWidth(plan) + 0.004;
  for (const side of [-1, 1]) {
    for (const x of [plan.front, -plan.rear]) {
      const rim = Array.from({ length: 15 }, (_, k): P3 => {
        const angle = -0.4 + (k / 14) * (Math.PI + 0.8); // not below the sill
        const radius = plan.wheel + 0.055;
        return [x + radius * Math.cos(angle), side * face, plan.wheel + 0.03 + radius * Math.sin(angle)];
      });
      b.paint("#0c1014").cap(side > 0 ? rim.reverse() : rim);
    }
  }
}

interface Lamps {
  front: readonly [x: number, y: number, z: number];
  rear: readonly [x: number, y: number, z: number];
  wide: number;
}

function lamps(b: ShapeBuilder, plan: CarPlan, { front, rear, wide }: Lamps): void {
  const [at, half] = [along(plan), halfWidth(plan)];
  for (const s of [-1, 1]) {
    const [fy, ry] = [s * front[1] * half, s * rear[1] * half];
    b.paint("#fff6dc").box(
      [at(front[0]) - 0.1, fy - wide, front[2]],
      [at(front[0]), fy + wide, front[2] + 0.08],
      [0.02, 0.02],
    );
    b.paint("#ff4a44").box([at(rear[0]), ry - wide, rear[2]], [at(rear[0]) + 0.06, ry + wide, rear[2] + 0.08]);
  }
}

function mirrors(b: ShapeBuilder, plan: CarPlan, x: number, z: number): void {
  const [at, half] = [along(plan), halfWidth(plan)];
  for (const s of [-1, 1]) {
    const y = s * 0.94 * half;
    b.paint(PAINT, 0.9).box([at(x) - 0.06, y - 0.1, z], [at(x) + 0.06, y + 0.1, z + 0.12], [0.02, 0.02]);
  }
}

/** A wing across the tail on two struts. */
function wing(b: ShapeBuilder, plan: CarPlan, x: number, z: number, span: number, foot: number): void {
  const [at, half] = [along(plan), halfWidth(plan)];
  const [left, deep] = [span * half, 0.28];
  b.paint(PAINT, 0.85).box([at(x), -left, z], [at(x) + deep, left, z + 0.035]);
  for (const s of [-1, 1]) {
    b.paint("#20272e").box([at(x) + 0.1, s * 0.5 * half - 0.02, foot], [at(x) + 0.2, s * 0.5 * half + 0.02, z]);
    b.paint(TRIM).box([at(x) - 0.03, s * left - 0.012, z - 0.1], [at(x) + deep + 0.03, s * left + 0.012, z + 0.1]);
  }
}

function bumper(b: ShapeBuilder, plan: CarPlan, x: number, share: number, z0: number, z1: number, deep = 0.12): void {
  const [at, half] = [along(plan), halfWidth(plan)];
  b.paint(TRIM).box([at(x) - (x > 0 ? deep : 0), -share * half, z0], [at(x) + (x > 0 ? 0 : deep), share * half, z1]);
}

// saloon -------------------------------------------------------------------------------------------------------------

const SALOON: readonly Section[] = [
  [-2.02, 0.78, 0.88, 0.78, 0.34, 0.6, 0.92],
  [-1.86, 0.86, 0.97, 0.86, 0.26, 0.6, 1.0],
  [-1, 0.88, 1, 0.88, 0.2, 0.6, 1.01],
  [-0.1, 0.88, 0.98, 0.88, 0.19, 0.6, 0.96],
  [0.72, 0.88, 0.98, 0.86, 0.19, 0.6, 0.93],
  [1, 0.87, 0.99, 0.82, 0.2, 0.58, 0.9],
  [1.66, 0.8, 0.92, 0.72, 0.22, 0.54, 0.8],
  [1.84, 0.66, 0.76, 0.6, 0.28, 0.5, 0.7],
];

export function saloon(plan: CarPlan): BufferGeometry {
  const b = new ShapeBuilder();
  body(b, plan, SALOON);
  const glass = {
    foot: [-1.25, 0.62],
    roof: [-0.62, 0.12],
    base: [0.98, 0.94],
    top: 1.45,
    wide: [0.82, 0.66],
  } as const;
  cabin(b, plan, glass);
  lamps(b, plan, { front: [1.8, 0.62, 0.6], rear: [-2.05, 0.66, 0.72], wide: 0.15 });
  mirrors(b, plan, 0.5, 0.95);
  bumper(b, plan, 1.86, 0.6, 0.28, 0.46);
  bumper(b, plan, -2.04, 0.72, 0.3, 0.48);
  arches(b, plan);
  wheels(b, plan, { wide: 0.245 });
  return b.build();
}

// sports car ---------------------------------------------------------------------------------------------------------

const SPORTS: readonly Section[] = [
  [-1.88, 0.65, 0.8, 0.71, 0.42, 0.62, 0.84],
  [-1.74, 0.8, 0.93, 0.8, 0.28, 0.58, 0.92],
  [-0.97, 0.86, 1, 0.86, 0.2, 0.56, 0.91],
  [-0.22, 0.86, 0.96, 0.86, 0.19, 0.54, 0.84],
  [0.55, 0.86, 0.97, 0.84, 0.19, 0.54, 0.82],
  [1.04, 0.85, 0.99, 0.78, 0.2, 0.54, 0.76],
  [1.69, 0.73, 0.88, 0.65, 0.22, 0.46, 0.63],
  [1.91, 0.54, 0.65, 0.5, 0.26, 0.42, 0.54],
];

export function sportsCar(plan: CarPlan): BufferGeometry {
  const b = new ShapeBuilder();
  body(b, plan, SPORTS);
  const glass = { foot: [-1.3, 0.63], roof: [-0.7, 0.01], base: [0.88, 0.8], top: 1.28, wide: [0.76, 0.57] } as const;
  cabin(b, plan, glass);
  lamps(b, plan, { front: [1.78, 0.54, 0.53], rear: [-1.9, 0.52, 0.68], wide: 0.14 });
  mirrors(b, plan, 0.42, 0.82);
  bumper(b, plan, 1.94, 0.54, 0.2, 0.3, 0.2);
  bumper(b, plan, -1.92, 0.6, 0.27, 0.42, 0.2);
  wing(b, plan, -1.93, 1.05, 0.78, 0.86);
  arches(b, plan);
  wheels(b, plan, { wide: 0.27 });
  return b.build();
}

// race car -----------------------------------------------------------------------------------------------------------

const RACE: readonly Section[] = [
  [-2.0, 0.9, 0.94, 0.86, 0.3, 0.5, 0.72],
  [-1.3, 0.94, 1, 0.9, 0.16, 0.5, 0.86],
  [-0.95, 0.94, 1, 0.9, 0.12, 0.5, 0.84],
  [-0.4, 0.9, 0.9, 0.66, 0.1, 0.42, 0.74],
  [0.45, 0.9, 0.9, 0.56, 0.1, 0.4, 0.66],
  [0.8, 0.94, 1, 0.82, 0.1, 0.46, 0.74],
  [1.1, 0.94, 1, 0.82, 0.12, 0.46, 0.74],
  [1.7, 0.9, 0.92, 0.62, 0.12, 0.3, 0.44],
  [2.0, 0.8, 0.82, 0.5, 0.12, 0.2, 0.28],
];

export function raceCar(plan: CarPlan): BufferGeometry {
  const b = new ShapeBuilder();
  body(b, plan, RACE);
  const glass = { foot: [-0.95, 0.52], roof: [-0.45, 0.02], base: [0.8, 0.64], top: 1.12, wide: [0.52, 0.36] } as const;
  cabin(b, plan, glass);
  const [at, half] = [along(plan), halfWidth(plan)];
  b.paint(TRIM).box([at(1.75), -0.98 * half, 0.07], [at(2.12), 0.98 * half, 0.11]); // splitter
  b.paint(TRIM).box([at(-2.1), -0.8 * half, 0.16], [at(-1.9), 0.8 * half, 0.34]); // diffuser
  b.paint(PAINT, 0.7).box([at(-1.9), -0.015, 0.7], [at(-0.5), 0.015, 1.12], [0.3, 0]); // fin
  wing(b, plan, -2.15, 1.08, 0.98, 0.6);
  lamps(b, plan, { front: [1.52, 0.68, 0.5], rear: [-2.03, 0.7, 0.56], wide: 0.12 });
  mirrors(b, plan, 0.62, 0.78);
  arches(b, plan);
  wheels(b, plan, { wide: 0.3, rim: "#c9a14a" });
  return b.build();
}

/** A box with a cabin, for cars far away. */
export function simpleRoadCar(plan: CarPlan, height: number): BufferGeometry {
  const [at, half] = [along(plan), halfWidth(plan)];
  const b = new ShapeBuilder();
  const waist = 0.64 * height;
  b.paint(PAINT, 0.96).box([at(-1.92), -half, 0.2], [at(1.86), half, waist], [0.12, 0.1], false);
  b.paint(GLASS).box([at(-1.2), -0.8 * half, waist], [at(0.6), 0.8 * half, height], [0.6, 0.16], false);
  const [back, nose, side] = [at(-1.2) + 0.68, at(0.6) - 0.68, 0.8 * half - 0.2];
  const top: P3[] = [
    [back, -side, height + 0.01],
    [nose, -side, height + 0.01],
    [nose, side, height + 0.01],
    [back, side, height + 0.01],
  ];
  return b.paint(PAINT, 0.9).cap(top).build();
}
