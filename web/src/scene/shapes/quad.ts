// A quadrotor in X layout, 0.35 m from its centre to the rotor rims; white lamps in front, red ones behind.
import type { BufferGeometry } from "three";
import { type P3, ROTOR, ShapeBuilder } from "./builder";

const ARM = 0.16; // m: motor position along x and along y
const ROTOR_RADIUS = 0.125;
const CORNERS: readonly (readonly [number, number])[] = [
  [1, 1],
  [1, -1],
  [-1, -1],
  [-1, 1],
];

export function detailedQuad(): BufferGeometry {
  const b = new ShapeBuilder();
  b.paint("#20272e").loft(hull(0.115, 0.052, -0.022, 0.016));
  b.paint("#d8dde2", 0.95).loft(hull(0.1, 0.042, 0.016, 0.05));
  b.paint("#0e1216").box([0.085, -0.022, -0.012], [0.135, 0.022, 0.03], [0.012, 0.006]); // camera
  b.paint("#7fd4ff").box([0.134, -0.01, 0.002], [0.138, 0.01, 0.02]);
  b.paint("#2c343c").box([-0.07, -0.035, -0.058], [0.05, 0.035, -0.022]); // battery
  for (const [sx, sy] of CORNERS) arm(b, sx, sy);
  return b.build();
}

/** An elongated hexagon seen from above. */
function hull(long: number, wide: number, low: number, high: number): P3[][] {
  const ring = (x: number, half: number): P3[] => [
    [x, -half, low],
    [x, half, low],
    [x, half * 0.8, high],
    [x, -half * 0.8, high],
  ];
  return [ring(-long, wide * 0.55), ring(-long * 0.55, wide), ring(long * 0.55, wide), ring(long, wide * 0.55)];
}

function arm(b: ShapeBuilder, sx: number, sy: number): void {
  const [x, y] = [sx * ARM, sy * ARM];
  beam(b, [sx * 0.04, sy * 0.03], [x, y]);
  b.paint("#3a444e").cylinder([x, y, 0.012], 0.026, 0.05, "z", 8);
  b.paint(sx > 0 ? "#f4f8fb" : "#ff5a52").box([x - 0.012, y - 0.012, -0.03], [x + 0.012, y + 0.012, -0.012]);
  b.paint("#20272e").box([x - 0.008, y - 0.008, -0.075], [x + 0.008, y + 0.008, -0.02]); // foot
  b.paint("#c8d0d8", 0.35).moving(ROTOR, [x, y, 0.05]);
  for (const s of [-1, 1]) {
    const blade: P3[] = [
      [x, y - 0.012 * s, 0.05],
      [x + s * ROTOR_RADIUS, y - 0.016 * s, 0.052],
      [x + s * ROTOR_RADIUS, y + 0.004 * s, 0.048],
      [x, y + 0.012 * s, 0.05],
    ];
    b.cap(blade);
  }
  b.moving(0);
}

function beam(b: ShapeBuilder, from: readonly [number, number], to: readonly [number, number]): void {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const length = Math.hypot(dx, dy);
  const [nx, ny] = [(-dy / length) * 0.013, (dx / length) * 0.013];
  const ring = (z: number): P3[] => [
    [from[0] - nx, from[1] - ny, z],
    [to[0] - nx, to[1] - ny, z],
    [to[0] + nx, to[1] + ny, z],
    [from[0] + nx, from[1] + ny, z],
  ];
  const [low, top] = [ring(-0.012), ring(0.01)];
  b.paint("#2b333b")
    .bridge(low, top)
    .cap(top)
    .cap([...low].reverse());
}

/** Spinning blades: translucent discs with a brighter rim, drawn after solid parts. */
export function quadBlur(): BufferGeometry {
  const b = new ShapeBuilder();
  for (const [sx, sy] of CORNERS) {
    const middle: P3 = [sx * ARM, sy * ARM, 0.05];
    b.paint("#dfe7ee", 0.55).moving(ROTOR, middle).disc(middle, ROTOR_RADIUS, "z", 20);
  }
  return b.build();
}

export function simpleQuad(): BufferGeometry {
  const b = new ShapeBuilder();
  const plate = (x: number, y: number, r: number): void => {
    b.quad([x - r, y, 0.05], [x, y - r, 0.05], [x + r, y, 0.05], [x, y + r, 0.05]);
  };
  b.paint("#d8dde2", 0.95).box([-0.11, -0.05, -0.03], [0.12, 0.05, 0.05], [0.02, 0.01]);
  b.paint("#98a3ad", 0.6);
  for (const [sx, sy] of CORNERS) plate(sx * ARM, sy * ARM, ROTOR_RADIUS);
  return b.build();
}
