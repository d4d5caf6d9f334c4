// A field rover about 1 m long: four large wheels, a deck in the vehicle's colour, a mast with a camera.
import type { BufferGeometry } from "three";
import { FIXED, type P3, ROLLING, ShapeBuilder } from "./builder";

const WHEEL = 0.16;

export function detailedRover(): BufferGeometry {
  const b = new ShapeBuilder();
  b.paint("#2a323a").box([-0.44, -0.22, 0.17], [0.44, 0.22, 0.31], [-0.02, 0]);
  b.paint("#d8dde2", 0.95).box([-0.46, -0.27, 0.31], [0.46, 0.27, 0.37], [0.03, 0.03]);
  b.paint("#17202b").box([-0.4, -0.22, 0.37], [0.1, 0.22, 0.385]); // solar deck
  b.paint("#2f4a66");
  for (const x of [-0.38, -0.22, -0.06]) for (const y of [-0.2, 0.01]) b.box([x, y, 0.385], [x + 0.14, y + 0.19, 0.39]);
  mast(b);
  b.paint("#fff6dc").box([0.455, -0.16, 0.22], [0.475, -0.08, 0.27]).box([0.455, 0.08, 0.22], [0.475, 0.16, 0.27]);
  b.paint("#ff4a44").box([-0.475, -0.16, 0.23], [-0.455, -0.09, 0.27]).box([-0.475, 0.09, 0.23], [-0.455, 0.16, 0.27]);
  for (const s of [-1, 1]) for (const x of [-0.31, 0.31]) wheel(b, x, s);
  return b.build();
}

function mast(b: ShapeBuilder): void {
  b.paint("#3a444e").cylinder([0.28, 0, 0.55], 0.022, 0.38, "z", 8);
  b.paint("#d8dde2", 0.9).box([0.22, -0.1, 0.74], [0.34, 0.1, 0.84], [0.01, 0.015]);
  b.paint("#0e1216")
    .box([0.335, -0.075, 0.765], [0.352, -0.02, 0.815])
    .box([0.335, 0.02, 0.765], [0.352, 0.075, 0.815]);
  b.paint("#7fd4ff").box([0.35, -0.06, 0.78], [0.356, -0.035, 0.8]).box([0.35, 0.035, 0.78], [0.356, 0.06, 0.8]);
  b.paint("#3a444e").cylinder([-0.38, 0.2, 0.56], 0.006, 0.4, "z", 5);
  b.paint("#ffb03b").cylinder([-0.38, 0.2, 0.77], 0.014, 0.03, "z", 6);
}

function wheel(b: ShapeBuilder, x: number, side: number): void {
  const y = side * 0.31;
  const middle: P3 = [x, y, WHEEL];
  b.moving(FIXED)
    .paint("#3a444e")
    .box([x - 0.03, Math.min(side * 0.2, y), 0.14], [x + 0.03, Math.max(side * 0.2, y), 0.2]);
  b.moving(ROLLING, middle)
    .paint("#1b2026")
    .cylinder(middle, WHEEL - 0.012, 0.14, "y", 14);
  b.paint("#262d34");
  for (let k = 0; k < 10; k++) tread(b, middle, (2 * Math.PI * k) / 10);
  b.paint("#98a3ad", 0.4).disc([x, y + side * 0.071, WHEEL], 0.085, "y", 8, side);
  b.paint("#20262c").disc([x + 0.03, y + side * 0.073, WHEEL + 0.03], 0.022, "y", 6, side);
  b.moving(FIXED);
}

function tread(b: ShapeBuilder, [x, y, z]: P3, angle: number): void {
  const at = (r: number, turn: number, dy: number): P3 => [
    x + r * Math.sin(angle + turn),
    y + dy,
    z + r * Math.cos(angle + turn),
  ];
  const [low, top] = [WHEEL - 0.02, WHEEL];
  const ring = (r: number, turn: number): P3[] => [
    at(r, turn, -0.072),
    at(r, -turn, -0.072),
    at(r, -turn, 0.072),
    at(r, turn, 0.072),
  ];
  b.bridge([...ring(low, 0.14)].reverse(), [...ring(top, 0.1)].reverse()).cap([...ring(top, 0.1)].reverse());
}

export function simpleRover(): BufferGeometry {
  const b = new ShapeBuilder();
  b.paint("#1b2026").box([-0.46, -0.37, 0], [0.46, 0.37, 0.24], [0.08, 0], false);
  b.paint("#d8dde2", 0.95).box([-0.46, -0.27, 0.24], [0.46, 0.27, 0.37], [0.03, 0.03], false);
  return b.paint("#d8dde2", 0.9).box([0.22, -0.1, 0.37], [0.34, 0.1, 0.84], [0.02, 0.02], false).build();
}
