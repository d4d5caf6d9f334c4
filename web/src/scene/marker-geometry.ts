// Markers to segments, triangles, dots and labels. Non-finite values are skipped and counted.
import { rotated } from "../state/poses";
import type { Marker, MarkerKind } from "../wire/decode";
import type { Quaternion } from "../wire/frame";

class Growing {
  values = new Float32Array(256);
  length = 0;

  push(...numbers: number[]): void {
    if (this.length + numbers.length > this.values.length) this.grow(this.length + numbers.length);
    for (const number of numbers) this.values[this.length++] = number;
  }

  /** A view of the contents. */
  get view(): Float32Array {
    return this.values.subarray(0, this.length);
  }

  private grow(least: number): void {
    const larger = new Float32Array(Math.max(least, 2 * this.values.length));
    larger.set(this.values);
    this.values = larger;
  }
}

export interface MarkerLabel {
  text: string;
  position: [number, number, number];
  height: number; // m
  colour: readonly [number, number, number, number]; // 0 to 255
}

export class MarkerParts {
  readonly segments = new Growing(); // x, y, z, x, y, z, width (m; 0: hairline), r, g, b, a
  readonly triangles = new Growing(); // per corner: x, y, z, nx, ny, nz, r, g, b, a (0 to 1)
  readonly clear = new Growing(); // the same, translucent
  readonly dots = new Growing(); // x, y, z, diameter in m, r, g, b, a (0 to 1)
  readonly labels: MarkerLabel[] = [];
}

export const SEGMENT = 11;
export const CORNER = 10;
export const DOT = 8;

// solids -------------------------------------------------------------------------------------------------------------

type SolidVertex = readonly [number, number, number];

type Solid = readonly SolidVertex[];

const ROUND = 16;

function ring(radius: number, z: number, sides = ROUND): SolidVertex[] {
  return Array.from({ length: sides }, (_, k) => {
    const angle = (2 * Math.PI * k) / sides;
    return [radius * Math.cos(angle), radius * Math.sin(angle), z];
  });
}

function walls(low: readonly SolidVertex[], top: readonly SolidVertex[]): SolidVertex[] {
  return low.flatMap((a, k) => {
    const next = (k + 1) % low.length;
    const [b, c, d] = [low[next] as SolidVertex, top[next] as SolidVertex, top[k] as SolidVertex];
    return [a, b, c, a, c, d];
  });
}

function lid(corners: readonly SolidVertex[], up = true): SolidVertex[] {
  const out: SolidVertex[] = [];
  for (let k = 2; k < corners.length; k++) {
    const [a, b, c] = [corners[0] as SolidVertex, corners[k - 1] as SolidVertex, corners[k] as SolidVertex];
    out.push(...(up ? [a, b, c] : [a, c, b]));
  }
  return out;
}

function box(low: SolidVertex, high: SolidVertex): Solid {
  const floor: SolidVertex[] = [low, [high[0], low[1], low[2]], [high[0], high[1], low[2]], [low[0], high[1], low[2]]];
  const roof = floor.map(([x, y]): SolidVertex => [x, y, high[2]]);
  return [...walls(floor, roof), ...lid(roof), ...lid(floor, false)];
}

/** A cone: diameter 1, height 1, truncated, on a square base. */
const CONE: Solid = [
  ...box([-0.5, -0.5, 0], [0.5, 0.5, 0.06]),
  ...walls(ring(0.36, 0.06), ring(0.07, 1)),
  ...lid(ring(0.07, 1)),
];
const CYLINDER: Solid = [
  ...walls(ring(0.5, -0.5), ring(0.5, 0.5)),
  ...lid(ring(0.5, 0.5)),
  ...lid(ring(0.5, -0.5), false),
];
const BOX = box([-0.5, -0.5, -0.5], [0.5, 0.5, 0.5]);
const SPHERE = sphere();
const GATE = gate();

function sphere(): Solid {
  const bands = 8;
  const at = (k: number): SolidVertex[] =>
    ring(0.5 * Math.sin((Math.PI * k) / bands), -0.5 * Math.cos((Math.PI * k) / bands));
  return Array.from({ length: bands }, (_, k) => walls(at(k), at(k + 1))).flat();
}

/** A gate to pass through along x: 1 m wide and high outside. */
function gate(): Solid {
  const [w, t] = [0.08, 0.05];
  return [
    ...box([-t, -0.5, 0], [t, -0.5 + w, 1]),
    ...box([-t, 0.5 - w, 0], [t, 0.5, 1]),
    ...box([-t, -0.5 + w, 1 - w], [t, 0.5 - w, 1]),
    ...box([-t, -0.5 + w, 0], [t, 0.5 - w, w]),
  ];
}

/** A car in a box of 1 x 1 x 1 m, standing on its position. */
const CAR: Solid = [...box([-0.5, -0.5, 0.12], [0.5, 0.5, 0.58]), ...box([-0.34, -0.42, 0.58], [0.18, 0.42, 1])];

const NAMED: Record<string, Solid> = {
  cone: CONE,
  box: BOX,
  cube: BOX,
  sphere: SPHERE,
  cylinder: CYLINDER,
  gate: GATE,
};

/** The solid for a mesh name (`cone`, `models/cone.glb`); a box if unknown. */
export function solidOf(name: string): Solid {
  const stem = (name.split("/").at(-1) ?? "").split(".")[0]?.toLowerCase() ?? "";
  return NAMED[stem] ?? BOX;
}

/** Along x: a shaft, then a head as long as it is wide. */
function arrow(length: number, shaft: number, head: number): Solid {
  const tip = Math.min(head, length);
  const turn = ([x, y, z]: SolidVertex): SolidVertex => [z, x, y]; // built along z
  const body = [
    ...walls(ring(shaft / 2, 0, 8), ring(shaft / 2, length - tip, 8)),
    ...lid(ring(shaft / 2, 0, 8), false),
  ];
  const point = [
    ...walls(ring(head / 2, length - tip, 12), ring(0, length, 12)),
    ...lid(ring(head / 2, length - tip, 12), false),
  ];
  return [...body, ...point].map(turn);
}

/** A disc with a hole (inner 0: without), two-sided. */
function annulus(outer: number, inner: number): Solid {
  const sides = 64;
  const [a, b] = [ring(outer, 0, sides), ring(inner, 0, sides)];
  return walls(a, b);
}

// geometry by kind ---------------------------------------------------------------------------------------------------

type P = readonly [number, number, number];
type Colour = readonly [number, number, number, number];

interface MarkerDrawing {
  frames: Map<string, MarkerParts>; // by frame
  skipped: number; // markers not drawn completely because of non-finite values
}

const CIRCLE = 64;
const AXIS_COLOURS: readonly Colour[] = [
  [255, 92, 92, 255],
  [95, 211, 141, 255],
  [88, 150, 255, 255],
];

export function drawMarkers(markers: Iterable<Marker>): MarkerDrawing {
  const drawing: MarkerDrawing = { frames: new Map(), skipped: 0 };
  for (const marker of markers) {
    if (!sound(marker)) {
      drawing.skipped += 1;
      continue;
    }
    const frame = marker.frame === "world" ? "" : marker.frame;
    const parts = drawing.frames.get(frame) ?? new MarkerParts();
    drawing.frames.set(frame, parts);
    if ((DRAW[marker.kind]?.(marker, parts) ?? 1) > 0) drawing.skipped += 1;
  }
  return drawing;
}

function sound({ position, quaternion, scale }: Marker): boolean {
  return [...position, ...quaternion, ...scale].every(Number.isFinite);
}

/** Drawing by kind; each returns the number of skipped points. */
const DRAW: Record<MarkerKind, (marker: Marker, parts: MarkerParts) => number> = {
  points: dots,
  line_strip: (marker, parts) => lines(marker, parts, 1),
  line_list: (marker, parts) => lines(marker, parts, 2),
  circle: circle,
  ring: ({ scale, ...rest }, parts) =>
    solid({ scale, ...rest }, parts, annulus(scale[0], Math.max(scale[0] - scale[1], 0)), [1, 1, 1]),
  arrow: (marker, parts) => solid(marker, parts, arrow(...marker.scale), [1, 1, 1]),
  text: words,
  triangle_list: triangles,
  car: (marker, parts) => solid(marker, parts, CAR, marker.scale),
  mesh: (marker, parts) => solid(marker, parts, solidOf(marker.text), marker.scale),
  axes: axes,
};

function placed({ position, quaternion }: Marker, point: P): [number, number, number] {
  const [x, y, z] = rotated(quaternion as Quaternion, point);
  return [position[0] + x, position[1] + y, position[2] + z];
}

function pointAt({ points }: Marker, k: number): [number, number, number] | null {
  const [x = Number.NaN, y = Number.NaN, z = Number.NaN] = points.subarray(3 * k, 3 * k + 3);
  return Number.isFinite(x + y + z) ? [x, y, z] : null;
}

function dots(marker: Marker, parts: MarkerParts): number {
  let skipped = 0;
  const colour = shares(marker.color);
  for (let k = 0; k < Math.floor(marker.points.length / 3); k++) {
    const point = pointAt(marker, k);
    if (point) parts.dots.push(...placed(marker, point), marker.scale[0], ...colour);
    else skipped += 1;
  }
  return skipped;
}

/** From each point to the next: a strip (step 1) or pairs (step 2). */
function lines(marker: Marker, parts: MarkerParts, step: number): number {
  let skipped = 0;
  const count = Math.floor(marker.points.length / 3);
  for (let k = 0; k + 1 < count; k += step) {
    const [a, b] = [pointAt(marker, k), pointAt(marker, k + 1)];
    if (a && b) segment(parts, placed(marker, a), placed(marker, b), marker.scale[0], marker.color);
    else skipped += 1;
  }
  return skipped;
}

function segment(parts: MarkerParts, a: P, b: P, width: number, colour: Colour): void {
  parts.segments.push(...a, ...b, width, ...colour);
}

/** An outline with a translucent fill. */
function circle(marker: Marker, parts: MarkerParts): number {
  const radius = marker.scale[0];
  const at = (k: number): P => {
    const angle = (2 * Math.PI * k) / CIRCLE;
    return placed(marker, [radius * Math.cos(angle), radius * Math.sin(angle), 0]);
  };
  for (let k = 0; k < CIRCLE; k++) segment(parts, at(k), at(k + 1), 0, marker.color);
  const [r, g, b, a] = marker.color;
  return solid({ ...marker, color: [r, g, b, 0.14 * a] }, parts, annulus(radius, 0), [1, 1, 1]);
}

function words(marker: Marker, parts: MarkerParts): number {
  parts.labels.push({
    text: marker.text,
    position: [...marker.position],
    height: marker.scale[0],
    colour: marker.color,
  });
  return 0;
}

function triangles(marker: Marker, parts: MarkerParts): number {
  let skipped = 0;
  for (let k = 0; k + 2 < Math.floor(marker.points.length / 3); k += 3) {
    const [a, b, c] = [pointAt(marker, k), pointAt(marker, k + 1), pointAt(marker, k + 2)];
    if (a && b && c) face(parts, placed(marker, a), placed(marker, b), placed(marker, c), marker.color);
    else skipped += 1;
  }
  return skipped;
}

function solid(marker: Marker, parts: MarkerParts, shape: Solid, [sx, sy, sz]: P): number {
  const corners = shape.map(([x, y, z]) => placed(marker, [sx * x, sy * y, sz * z]));
  for (let k = 0; k + 2 < corners.length; k += 3) {
    face(parts, corners[k] as P, corners[k + 1] as P, corners[k + 2] as P, marker.color);
  }
  return 0;
}

function face(parts: MarkerParts, a: P, b: P, c: P, colour: Colour): void {
  const [ux, uy, uz] = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
  const [vx, vy, vz] = [c[0] - a[0], c[1] - a[1], c[2] - a[2]];
  const normal = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
  const length = Math.hypot(...normal);
  if (!(length > 0)) return; // degenerate triangle
  const [nx = 0, ny = 0, nz = 0] = normal.map((component) => component / length);
  const into = colour[3] < 250 ? parts.clear : parts.triangles;
  const [r, g, bl, al] = shares(colour);
  for (const [x, y, z] of [a, b, c]) into.push(x, y, z, nx, ny, nz, r, g, bl, al);
}

function axes(marker: Marker, parts: MarkerParts): number {
  const length = marker.scale[0];
  const tips: P[] = [
    [length, 0, 0],
    [0, length, 0],
    [0, 0, length],
  ];
  tips.forEach((tip, k) =>
    segment(parts, marker.position, placed(marker, tip), length / 20, AXIS_COLOURS[k] as Colour),
  );
  return 0;
}

function shares([r, g, b, a]: Colour): [number, number, number, number] {
  return [r / 255, g / 255, b / 255, a / 255];
}
