// A sports car, 4.5 m long, standing on z = 0 with its nose along +x; body in the vehicle's colour.
import type { BufferGeometry } from "three";
import { FIXED, type P3, ROLLING, ShapeBuilder, STEERED } from "./builder";

const AXLE_FRONT = 1.36;
const AXLE_REAR = -1.34;
const TRACK = 0.79;
const WHEEL = 0.34;

/** A section of the body: half widths at sill, waist and shoulder, and their heights. */
function section(
  x: number,
  sill: number,
  waist: number,
  shoulder: number,
  heights: readonly [number, number, number],
): P3[] {
  const [low, middle, high] = heights;
  return [
    [x, -sill, low],
    [x, sill, low],
    [x, waist, middle],
    [x, shoulder, high],
    [x, -shoulder, high],
    [x, -waist, middle],
  ];
}

const BODY: P3[][] = [
  section(-2.22, 0.6, 0.74, 0.66, [0.42, 0.62, 0.84]),
  section(-2.08, 0.74, 0.86, 0.74, [0.28, 0.58, 0.92]),
  section(-1.3, 0.8, 0.93, 0.8, [0.2, 0.56, 0.91]),
  section(-0.3, 0.8, 0.89, 0.8, [0.19, 0.54, 0.84]),
  section(0.75, 0.8, 0.9, 0.78, [0.19, 0.54, 0.82]),
  section(1.4, 0.79, 0.92, 0.72, [0.2, 0.54, 0.76]),
  section(2.05, 0.68, 0.82, 0.6, [0.22, 0.46, 0.63]),
  section(2.27, 0.5, 0.6, 0.46, [0.26, 0.42, 0.54]),
];

export function detailedCar(): BufferGeometry {
  const b = new ShapeBuilder();
  b.paint("#d8dde2", 0.96).loft(BODY);
  greenhouse(b);
  trim(b);
  for (const side of [-1, 1]) {
    wheel(b, AXLE_FRONT, side, STEERED);
    wheel(b, AXLE_REAR, side, ROLLING);
  }
  return b.build();
}

function greenhouse(b: ShapeBuilder): void {
  const base: P3[] = [
    [-1.75, -0.68, 0.88],
    [0.86, -0.72, 0.8],
    [0.86, 0.72, 0.8],
    [-1.75, 0.68, 0.88],
  ];
  const roof: P3[] = [
    [-0.95, -0.52, 1.26],
    [0.02, -0.54, 1.27],
    [0.02, 0.54, 1.27],
    [-0.95, 0.52, 1.26],
  ];
  b.paint("#131a22").bridge(base, roof);
  const crown: P3[] = [
    [-0.86, -0.45, 1.3],
    [-0.06, -0.47, 1.3],
    [-0.06, 0.47, 1.3],
    [-0.86, 0.45, 1.3],
  ];
  b.paint("#d8dde2", 0.9).bridge(roof, crown).cap(crown);
  // pillars: thin strips just above the glass
  for (const s of [-1, 1]) {
    const strip = (x0: number, z0: number, x1: number, z1: number, wide: number): void => {
      const [ya, yb] = [s * (0.7 + 0.012), s * (0.53 + 0.012)];
      const corners: P3[] = [
        [x0, ya, z0],
        [x0 + wide, ya, z0],
        [x1 + wide, yb, z1],
        [x1, yb, z1],
      ];
      b.cap(s < 0 ? corners : corners.reverse());
    };
    strip(-0.52, 0.86, -0.46, 1.26, 0.09);
  }
}

function trim(b: ShapeBuilder): void {
  b.paint("#10151a").box([2.1, -0.5, 0.2], [2.3, 0.5, 0.3]); // splitter
  b.paint("#1a2027").box([2.2, -0.3, 0.32], [2.285, 0.3, 0.45]); // grille
  b.paint("#10151a").box([-2.26, -0.55, 0.27], [-2.05, 0.55, 0.42]); // diffuser
  b.paint("#10151a").box([-0.95, -0.86, 0.17], [0.95, -0.8, 0.25]).box([-0.95, 0.8, 0.17], [0.95, 0.86, 0.25]); // sills
  b.paint("#d8dde2", 0.85).box([-2.25, -0.72, 1.05], [-1.98, 0.72, 1.09]); // wing
  for (const s of [-1, 1]) {
    b.paint("#20272e").box([-2.16, s * 0.5 - 0.025, 0.86], [-2.05, s * 0.5 + 0.025, 1.05]);
    b.paint("#fff6dc").box([2.02, s * 0.5 - 0.13, 0.535], [2.16, s * 0.5 + 0.13, 0.6], [0.02, 0.02]);
    b.paint("#ff4a44").box([-2.245, s * 0.48 - 0.16, 0.68], [-2.19, s * 0.48 + 0.16, 0.76]);
    b.paint("#d8dde2", 0.9).box([0.5, s * 0.83 - 0.1, 0.8], [0.62, s * 0.83 + 0.1, 0.92], [0.02, 0.02]); // mirror
  }
}

function wheel(b: ShapeBuilder, x: number, side: number, part: number): void {
  const middle: P3 = [x, side * TRACK, WHEEL];
  b.moving(FIXED)
    .paint("#0c1014")
    .disc([x, side * 0.925, WHEEL + 0.03], WHEEL + 0.065, "y", 16, side);
  b.moving(part, middle)
    .paint("#171b20")
    .cylinder([x, side * (TRACK + 0.03), WHEEL], WHEEL, 0.25, "y", 16);
  const face = side * (TRACK + 0.03 + 0.126);
  b.paint("#8d97a1").disc([x, face, WHEEL], 0.235, "y", 14, side);
  b.paint("#20262c");
  for (let k = 0; k < 5; k++) spoke(b, x, face + side * 0.004, (2 * Math.PI * k) / 5, side);
  b.moving(FIXED);
}

/** The dark gap between two spokes, which makes rolling visible. */
function spoke(b: ShapeBuilder, x: number, y: number, angle: number, side: number): void {
  const at = (r: number, turn: number): P3 => [x + r * Math.sin(angle + turn), y, WHEEL + r * Math.cos(angle + turn)];
  const corners = [at(0.07, 0), at(0.205, -0.38), at(0.215, 0), at(0.205, 0.38)];
  b.cap(side > 0 ? corners : corners.reverse());
}

export function simpleCar(): BufferGeometry {
  const b = new ShapeBuilder();
  b.paint("#d8dde2", 0.96).box([-2.22, -0.88, 0.22], [2.25, 0.88, 0.84], [0.12, 0.1], false);
  b.paint("#131a22").box([-1.7, -0.7, 0.84], [0.85, 0.7, 1.28], [0.75, 0.16], false);
  const top: P3[] = [
    [-0.92, -0.5, 1.29],
    [0.06, -0.5, 1.29],
    [0.06, 0.5, 1.29],
    [-0.92, 0.5, 1.29],
  ];
  return b.paint("#d8dde2", 0.9).cap(top).build();
}
