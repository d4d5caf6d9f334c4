// A small fixed-wing aircraft, 2.5 m span: propeller in front, high wing, fin and tailplane.
import type { BufferGeometry } from "three";
import { type P3, PROPELLER, ShapeBuilder } from "./builder";

/** An octagonal section of the fuselage. */
function hoop(x: number, wide: number, high: number, z: number): P3[] {
  return Array.from({ length: 8 }, (_, k) => {
    const angle = (2 * Math.PI * (k + 0.5)) / 8 - Math.PI / 2;
    return [x, wide * Math.cos(angle), z + high * Math.sin(angle)];
  });
}

const FUSELAGE = [
  hoop(-0.86, 0.025, 0.03, 0.05),
  hoop(-0.4, 0.05, 0.06, 0.03),
  hoop(0.05, 0.1, 0.115, 0.01),
  hoop(0.42, 0.105, 0.115, 0),
  hoop(0.68, 0.08, 0.085, -0.01),
  hoop(0.8, 0.05, 0.05, -0.01),
];

export function detailedAircraft(): BufferGeometry {
  const b = new ShapeBuilder();
  b.paint("#e4e8ec", 0.18).loft(FUSELAGE);
  b.paint("#131a22").loft([hoop(0.12, 0.075, 0.06, 0.1), hoop(0.3, 0.08, 0.075, 0.09), hoop(0.46, 0.05, 0.03, 0.08)]);
  for (const s of [-1, 1]) {
    panel(
      b,
      s,
      { root: [0.36, 0.02], tip: [0.27, 0.06], from: 0.06, to: 0.78, z0: 0.11, z1: 0.14, thick: 0.036 },
      "#e4e8ec",
      0.18,
    );
    panel(
      b,
      s,
      { root: [0.27, 0.06], tip: [0.19, 0.09], from: 0.78, to: 1.25, z0: 0.14, z1: 0.17, thick: 0.026 },
      "#d8dde2",
      0.96,
    );
    panel(
      b,
      s,
      { root: [-0.62, -0.84], tip: [-0.7, -0.85], from: 0.0, to: 0.4, z0: 0.07, z1: 0.07, thick: 0.018 },
      "#d8dde2",
      0.9,
    );
    b.paint(s > 0 ? "#ff4a44" : "#5fd38d").box([0.1, s * 1.25 - 0.015, 0.16], [0.17, s * 1.25 + 0.015, 0.185]);
  }
  fin(b);
  b.paint("#2b333b").loft([hoop(0.8, 0.045, 0.045, -0.01), hoop(0.9, 0.008, 0.008, -0.01)]);
  propeller(b);
  return b.build();
}

interface Panel {
  root: readonly [lead: number, trail: number];
  tip: readonly [lead: number, trail: number];
  from: number;
  to: number;
  z0: number;
  z1: number;
  thick: number;
}

/** A wing panel: diamond section, between two stations of y. */
function panel(b: ShapeBuilder, side: number, p: Panel, hex: string, accent: number): void {
  const ring = ([lead, trail]: readonly [number, number], y: number, z: number): P3[] => {
    const crest = lead - 0.35 * (lead - trail);
    return [
      [lead, side * y, z],
      [crest, side * y, z + p.thick / 2],
      [trail, side * y, z],
      [crest, side * y, z - p.thick / 2],
    ];
  };
  const [inner, outer] = [ring(p.root, p.from, p.z0), ring(p.tip, p.to, p.z1)];
  b.paint(hex, accent);
  if (side > 0) b.bridge([...inner].reverse(), [...outer].reverse()).cap([...outer].reverse());
  else b.bridge(inner, outer).cap(outer);
}

function fin(b: ShapeBuilder): void {
  const ring = (x0: number, x1: number, z: number): P3[] => [
    [x1, 0, z],
    [(x0 + x1) / 2, -0.012, z],
    [x0, 0, z],
    [(x0 + x1) / 2, 0.012, z],
  ];
  const [low, top] = [ring(-0.58, -0.86, 0.06), ring(-0.72, -0.9, 0.36)];
  b.paint("#d8dde2", 0.96).bridge(low, top).cap(top);
}

function propeller(b: ShapeBuilder): void {
  b.moving(PROPELLER, [0.86, 0, -0.01]).paint("#2b333b");
  for (const s of [-1, 1]) {
    b.box([0.855, Math.min(0, s * 0.24), -0.026], [0.865, Math.max(0, s * 0.24), 0.006]);
  }
  b.moving(0);
}

export function aircraftBlur(): BufferGeometry {
  const b = new ShapeBuilder();
  const ring: P3[] = Array.from({ length: 20 }, (_, k) => {
    const angle = (2 * Math.PI * k) / 20;
    return [0.865, 0.24 * Math.cos(angle), -0.01 + 0.24 * Math.sin(angle)];
  });
  return b.paint("#dfe7ee", 0.2).moving(PROPELLER, [0.865, 0, -0.01]).cap(ring).build();
}

export function simpleAircraft(): BufferGeometry {
  const b = new ShapeBuilder();
  const slab = (points: P3[]): void => void b.cap(points).cap([...points].reverse());
  b.paint("#d8dde2", 0.96);
  slab(
    [
      [0.06, 1.25, 0.17],
      [0.02, 0, 0.11],
      [0.36, 0, 0.11],
      [0.19, 1.25, 0.17],
    ].map((p) => p as unknown as P3),
  );
  slab(
    [
      [0.19, -1.25, 0.17],
      [0.36, 0, 0.11],
      [0.02, 0, 0.11],
      [0.06, -1.25, 0.17],
    ].map((p) => p as unknown as P3),
  );
  slab([
    [-0.85, 0.4, 0.07],
    [-0.85, -0.4, 0.07],
    [-0.62, 0, 0.07],
  ]);
  slab([
    [-0.86, 0, 0.06],
    [-0.58, 0, 0.06],
    [-0.9, 0, 0.36],
  ]);
  return b.paint("#e4e8ec", 0.3).box([-0.86, -0.07, -0.08], [0.86, 0.07, 0.1], [0.05, 0.02]).build();
}
