// Markers to segments, triangles, dots and words. What is not finite is left out and counted, never drawn and never
// an exception.
import type { Quaternion } from "../../state/frame";
import { rotated } from "../../state/frames";
import type { Marker, MarkerKind } from "../../state/markers";
import { MarkerParts } from "./parts";
import { annulus, arrow, CAR, type Solid, solidOf } from "./solids";

type P = readonly [number, number, number];
type Colour = readonly [number, number, number, number];

export interface MarkerDrawing {
  frames: Map<string, MarkerParts>; // by the frame that they are in
  skipped: number; // markers that are not drawn, or not all of their points: they have numbers that are none
}

const CIRCLE = 64;
const AXIS_COLOURS: readonly Colour[] = [[255, 92, 92, 255], [95, 211, 141, 255], [88, 150, 255, 255]];

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

/** How each kind is drawn; gives the number of points that were left out. */
const DRAW: Record<MarkerKind, (marker: Marker, parts: MarkerParts) => number> = {
  points: dots,
  line_strip: (marker, parts) => lines(marker, parts, 1),
  line_list: (marker, parts) => lines(marker, parts, 2),
  circle: circle,
  ring: ({ scale, ...rest }, parts) => solid({ scale, ...rest }, parts, annulus(scale[0], Math.max(scale[0] - scale[1],
    0)), [1, 1, 1]),
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

/** From each point to the next: all of them in a strip (step 1), every other in a list (step 2). */
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

/** An outline, and inside it a breath of the same colour. */
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
  parts.words.push({ text: marker.text, position: [...marker.position], height: marker.scale[0],
    colour: marker.color });
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
  if (!(length > 0)) return; // nothing to see of a triangle without an area
  const [nx = 0, ny = 0, nz = 0] = normal.map((one) => one / length);
  const into = colour[3] < 250 ? parts.clear : parts.triangles;
  const [r, g, bl, al] = shares(colour);
  for (const [x, y, z] of [a, b, c]) into.push(x, y, z, nx, ny, nz, r, g, bl, al);
}

function axes(marker: Marker, parts: MarkerParts): number {
  const length = marker.scale[0];
  const tips: P[] = [[length, 0, 0], [0, length, 0], [0, 0, length]];
  tips.forEach((tip, k) => segment(parts, marker.position, placed(marker, tip), length / 20,
    AXIS_COLOURS[k] as Colour));
  return 0;
}

function shares([r, g, b, a]: Colour): [number, number, number, number] {
  return [r / 255, g / 255, b / 255, a / 255];
}
