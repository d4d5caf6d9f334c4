// Cars with open wheels: single-seaters with a driver or without one, and a small buggy.
import type { BufferGeometry } from "three";
import type { CarPlan } from "../../state/appearance";
import { type P3, ShapeBuilder } from "./builder";
import { wheels } from "./wheel";

const PAINT = "#d8dde2";
const DARK = "#14191e";

/** Rings of a hull: place, half width, bottom and top. */
function hull(rings: readonly (readonly [x: number, half: number, low: number, high: number])[]): P3[][] {
  return rings.map(([x, half, low, high]) => [
    [x, -half * 0.8, low],
    [x, half * 0.8, low],
    [x, half, low + 0.45 * (high - low)],
    [x, half * 0.7, high],
    [x, -half * 0.7, high],
    [x, -half, low + 0.45 * (high - low)],
  ]);
}

/** A thin bar between two points. */
function bar(b: ShapeBuilder, from: P3, to: P3, thick: number): void {
  const [dx, dy, dz] = [to[0] - from[0], to[1] - from[1], to[2] - from[2]];
  const length = Math.hypot(dx, dy, dz) || 1;
  const flat = Math.hypot(dx, dy);
  const side: P3 = flat > 1e-6 ? [-dy / flat, dx / flat, 0] : [1, 0, 0];
  const up: P3 = [
    (dy * side[2] - dz * side[1]) / length,
    (dz * side[0] - dx * side[2]) / length,
    (dx * side[1] - dy * side[0]) / length,
  ];
  const ring = (p: P3): P3[] =>
    [
      [-1, -1],
      [1, -1],
      [1, 1],
      [-1, 1],
    ].map(
      ([s = 0, u = 0]): P3 => [
        p[0] + (thick / 2) * (s * side[0] + u * up[0]),
        p[1] + (thick / 2) * (s * side[1] + u * up[1]),
        p[2] + (thick / 2) * (s * side[2] + u * up[2]),
      ],
    );
  b.bridge(ring(from), ring(to))
    .cap(ring(to))
    .cap([...ring(from)].reverse());
}

// single-seaters -----------------------------------------------------------------------------------------------------

/** `manned`: with a driver; otherwise with a scanner and a camera in the driver's place. */
export function detailedSingleSeater(plan: CarPlan, manned: boolean): BufferGeometry {
  const b = new ShapeBuilder();
  const { front, rear } = plan;
  const size = (front + rear) / 1.55; // of the reference car
  const at = (share: number): number => (share >= 0 ? share * front : share * rear);
  const low = 0.1 * size;
  b.paint(PAINT, 0.96).loft(
    hull([
      [-rear - 0.1 * size, 0.14 * size, low + 0.08, 0.5 * size],
      [at(-0.6), 0.24 * size, low, 0.62 * size],
      [at(-0.2), 0.3 * size, low, 0.56 * size],
      [at(0.35), 0.25 * size, low, 0.5 * size],
      [at(0.95), 0.18 * size, low + 0.02, 0.42 * size],
      [front + 0.55 * size, 0.08 * size, low + 0.04, 0.22 * size],
    ]),
  );
  for (const s of [-1, 1]) sidepod(b, plan, size, s, low);
  if (manned) driver(b, at, size);
  else sensors(b, at, size);
  wings(b, plan, size);
  arms(b, plan, size);
  wheels(b, plan, { wide: 0.2 * size, rim: manned ? "#6c7680" : "#58c4ff" });
  return b.build();
}

function sidepod(b: ShapeBuilder, { front, rear }: CarPlan, size: number, side: number, low: number): void {
  const [inner, outer] = [side * 0.22 * size, side * 0.48 * size];
  const [y0, y1] = [Math.min(inner, outer), Math.max(inner, outer)];
  b.paint(PAINT, 0.75).box([-0.62 * rear, y0, low], [0.25 * front, y1, 0.38 * size], [0.08 * size, 0.04 * size]);
  b.paint(DARK).box([0.25 * front - 0.06 * size, y0 + 0.04, low + 0.05], [0.25 * front - 0.02, y1 - 0.04, 0.32 * size]);
}

function driver(b: ShapeBuilder, at: (share: number) => number, size: number): void {
  b.paint(DARK).box([at(-0.3), -0.2 * size, 0.5 * size], [at(0.3), 0.2 * size, 0.58 * size], [0.06, 0.04]); // cockpit
  b.paint("#f2f4f6", 0.5).box(
    [at(-0.2) - 0.02, -0.12 * size, 0.55 * size],
    [at(-0.2) + 0.24 * size, 0.12 * size, 0.8 * size],
    [0.05, 0.03],
  );
  b.paint("#131a22").box(
    [at(-0.2) + 0.2 * size, -0.1 * size, 0.63 * size],
    [at(-0.2) + 0.245 * size, 0.1 * size, 0.72 * size],
  );
  b.paint("#2a3138");
  hoop(b, at(-0.45), 0.2 * size, 0.5 * size, 0.95 * size, 0.035 * size);
}

function sensors(b: ShapeBuilder, at: (share: number) => number, size: number): void {
  b.paint("#22304a").box([at(-0.35), -0.22 * size, 0.52 * size], [at(0.35), 0.22 * size, 0.6 * size], [0.08, 0.05]);
  b.paint("#2a3138");
  hoop(b, at(-0.45), 0.2 * size, 0.5 * size, 0.92 * size, 0.035 * size);
  b.paint("#10151a").box([at(-0.45) - 0.03, -0.16 * size, 0.9 * size], [at(-0.45) + 0.06, 0.16 * size, 0.96 * size]); // cameras
  b.paint("#7fd4ff").box(
    [at(-0.45) + 0.055, -0.14 * size, 0.915 * size],
    [at(-0.45) + 0.065, 0.14 * size, 0.945 * size],
  );
  b.paint("#3a444e").cylinder([at(1) + 0.3 * size, 0, 0.36 * size], 0.07 * size, 0.1 * size, "z", 12); // scanner
  b.paint("#58c4ff").cylinder([at(1) + 0.3 * size, 0, 0.43 * size], 0.072 * size, 0.035 * size, "z", 12);
}

/** A roll hoop across the car. */
function hoop(b: ShapeBuilder, x: number, half: number, low: number, high: number, thick: number): void {
  const corners: P3[] = [
    [x, -half, low],
    [x, -0.7 * half, high],
    [x, 0.7 * half, high],
    [x, half, low],
  ];
  for (let k = 0; k < 3; k++) bar(b, corners[k] as P3, corners[k + 1] as P3, thick);
}

function wings(b: ShapeBuilder, { front, rear, trackFront, trackRear, wheel }: CarPlan, size: number): void {
  const [nose, tail] = [front + 0.36 * size, -rear - 0.3 * size];
  const [wide, high] = [trackFront + 0.06 * size, 0.95 * size];
  b.paint(PAINT, 0.85).box([nose, -wide, 0.09 * size], [nose + 0.3 * size, wide, 0.12 * size]);
  b.paint(PAINT, 0.6).box([nose - 0.06 * size, -wide, 0.16 * size], [nose + 0.08 * size, wide, 0.19 * size]);
  const span = 0.85 * trackRear;
  b.paint(PAINT, 0.85).box(
    [tail - 0.1 * size, -span, high - 0.12 * size],
    [tail + 0.22 * size, span, high - 0.09 * size],
  );
  b.paint(PAINT, 0.6).box([tail - 0.14 * size, -span, high], [tail + 0.04 * size, span, high + 0.03 * size]);
  b.paint(DARK);
  for (const s of [-1, 1]) {
    const thin = 0.012 * size;
    b.box([nose - 0.08 * size, s * wide - thin, 0.06 * size], [nose + 0.32 * size, s * wide + thin, 0.26 * size]);
    b.box(
      [tail - 0.16 * size, s * span - thin, high - 0.26 * size],
      [tail + 0.25 * size, s * span + thin, high + 0.06 * size],
    );
    bar(
      b,
      [-rear - 0.05 * size, s * 0.06 * size, 2 * wheel - 0.06],
      [tail + 0.05 * size, s * 0.12 * size, high - 0.11 * size],
      0.03 * size,
    );
  }
  b.paint("#ff4a44").box([tail - 0.02, -0.04 * size, 0.36 * size], [tail + 0.01, 0.04 * size, 0.44 * size]);
}

/** Suspension arms from the hull to the wheels. */
function arms(b: ShapeBuilder, plan: CarPlan, size: number): void {
  b.paint("#2a3138");
  for (const s of [-1, 1]) {
    for (const [x, track] of [
      [plan.front, plan.trackFront],
      [-plan.rear, plan.trackRear],
    ] as const) {
      for (const dx of [-0.14, 0.14]) {
        for (const dz of [-0.06, 0.08]) {
          const z = plan.wheel + dz * size;
          bar(b, [x + dx * size, s * 0.14 * size, z], [x, s * (track - 0.08 * size), z], 0.022 * size);
        }
      }
    }
  }
}

export function simpleSingleSeater(plan: CarPlan): BufferGeometry {
  const { front, rear, trackFront, trackRear, wheel } = plan;
  const size = (front + rear) / 1.55;
  const b = new ShapeBuilder();
  b.paint(PAINT, 0.96).box(
    [-rear, -0.28 * size, 0.1],
    [front + 0.5 * size, 0.28 * size, 0.5 * size],
    [0.3 * size, 0.12 * size],
    false,
  );
  b.paint(PAINT, 0.85).box(
    [-rear - 0.35 * size, -0.85 * trackRear, 0.8 * size],
    [-rear, 0.85 * trackRear, 0.86 * size],
  );
  b.paint(DARK);
  for (const [x, track] of [
    [front, trackFront],
    [-rear, trackRear],
  ] as const) {
    for (const s of [-1, 1]) {
      b.box(
        [x - wheel, s * track - 0.1 * size, 0],
        [x + wheel, s * track + 0.1 * size, 2 * wheel],
        [0.3 * wheel, 0],
        false,
      );
    }
  }
  return b.build();
}

// buggy --------------------------------------------------------------------------------------------------------------

export function detailedBuggy(plan: CarPlan): BufferGeometry {
  const b = new ShapeBuilder();
  const { front, rear, trackFront, wheel } = plan;
  const size = (front + rear) / 0.6;
  const half = trackFront * 0.45;
  b.paint("#20272e").box(
    [-rear - 0.05 * size, -half, 0.8 * wheel],
    [front + 0.06 * size, half, 0.8 * wheel + 0.03 * size],
  );
  b.paint(PAINT, 0.95).loft(
    hull([
      [-rear * 0.85, half * 0.7, wheel, 1.9 * wheel],
      [-rear * 0.2, half, wheel, 2.5 * wheel],
      [front * 0.45, half * 0.95, wheel, 2.2 * wheel],
      [front + 0.08 * size, half * 0.5, wheel, 1.4 * wheel],
    ]),
  );
  cage(b, plan, half, size);
  b.paint("#2a3138");
  for (const s of [-1, 1]) {
    for (const x of [front, -rear]) {
      bar(b, [x, s * 0.5 * half, wheel], [x, s * trackFront, wheel], 0.02 * size);
      b.paint("#ffb03b");
      bar(
        b,
        [x - 0.03 * size, s * 0.9 * trackFront, wheel],
        [x - 0.05 * size, s * 0.5 * half, 2.3 * wheel],
        0.025 * size,
      );
      b.paint("#2a3138");
    }
  }
  b.paint("#fff6dc").box(
    [front + 0.07 * size, -0.5 * half, 1.15 * wheel],
    [front + 0.09 * size, 0.5 * half, 1.35 * wheel],
  );
  wheels(b, plan, { wide: 0.09 * size, sides: 14, knobs: true, rim: "#e8e2d4" });
  return b.build();
}

/** Bars over the body. */
function cage(b: ShapeBuilder, { front, rear, wheel }: CarPlan, half: number, size: number): void {
  const [high, thick] = [3.4 * wheel, 0.018 * size];
  b.paint("#39424b");
  hoop(b, -0.25 * rear, 0.9 * half, 1.9 * wheel, high, thick);
  hoop(b, 0.3 * front, 0.85 * half, 1.8 * wheel, 0.95 * high, thick);
  for (const s of [-1, 1]) {
    const y = s * 0.62 * half;
    bar(b, [-0.25 * rear, y, high], [0.3 * front, y, 0.95 * high], thick);
    bar(b, [0.3 * front, y, 0.95 * high], [0.9 * front, y, 1.5 * wheel], thick);
    bar(b, [-0.25 * rear, y, high], [-0.85 * rear, y, 1.8 * wheel], thick);
  }
}

export function simpleBuggy(plan: CarPlan): BufferGeometry {
  const { front, rear, trackFront, wheel } = plan;
  const b = new ShapeBuilder();
  b.paint(DARK).box([-rear - wheel, -trackFront, 0], [front + wheel, trackFront, 1.6 * wheel], [0.4 * wheel, 0], false);
  return b
    .paint(PAINT, 0.95)
    .box(
      [-0.8 * rear, -0.6 * trackFront, 1.6 * wheel],
      [0.8 * front, 0.6 * trackFront, 3 * wheel],
      [0.4 * front, 0.1 * trackFront],
      false,
    )
    .build();
}
