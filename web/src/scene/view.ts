// The camera of the current frame, projection, sizes of vehicle kinds, and picking.
import { signal } from "@preact/signals";
import type { PerspectiveCamera } from "three";
import { type Appearance, appearances, type CarStyle, carPlan, carStyle } from "../state/appearance";
import type { Skin } from "./skin";

/** Incremented when drawing code has been loaded that the view waits for. */
export const drawingLoaded = signal(0);

export interface KindTraits {
  size: number; // m: longest side
  height: number; // m: height of its centre above its position
  wheel: number; // m: wheel radius; 0: no wheels
  wheelbase: number; // m
  tilt: number; // rad: camera tilt
  eye: readonly [number, number, number]; // m: camera position, body axes
  flies: boolean;
}

const KINDS: Record<string, KindTraits> = {
  car: { size: 4.5, height: 0.7, wheel: 0.34, wheelbase: 2.7, tilt: -0.03, eye: [0.35, 0, 1.22], flies: false },
  quad: { size: 0.8, height: 0.05, wheel: 0, wheelbase: 0, tilt: 0.35, eye: [0.16, 0, 0.03], flies: true },
  rover: { size: 1, height: 0.35, wheel: 0.16, wheelbase: 0.62, tilt: 0, eye: [0.36, 0, 0.82], flies: false },
  aircraft: { size: 2.5, height: 0, wheel: 0, wheelbase: 0, tilt: 0.05, eye: [0.85, 0, 0.12], flies: true },
  cone: { size: 0.75, height: 0.2, wheel: 0, wheelbase: 0, tilt: 0, eye: [0.3, 0, 0.5], flies: false },
  crate: { size: 0.8, height: 0, wheel: 0, wheelbase: 0, tilt: 0, eye: [0.4, 0, 0.4], flies: false },
  agent: { size: 1, height: 0, wheel: 0, wheelbase: 0, tilt: 0, eye: [0.5, 0, 0.15], flies: true },
};
const OTHER = KINDS["agent"] as KindTraits;

/** Overhang beyond both axles, height of the middle and of the driver's eyes, all per wheelbase; place of the eyes. */
const CARS: Readonly<Record<CarStyle, readonly [over: number, middle: number, eyes: number, ahead: number]>> = {
  sedan: [0.69, 0.26, 0.46, 0.13],
  sports: [0.7, 0.25, 0.44, 0.12],
  race: [0.75, 0.2, 0.38, 0.08],
  formula: [0.75, 0.22, 0.55, 0],
  driverless: [0.75, 0.22, 0.66, -0.1],
  buggy: [0.5, 0.2, 0.5, 0.05],
};
const known = new WeakMap<Appearance, KindTraits>();

/** Traits of a fleet: of its kind, and of its own dimensions where they are known. */
export function traitsOf(fleet: { kind: string; name: string } | undefined): KindTraits {
  const usual = KINDS[fleet?.kind ?? ""] ?? OTHER;
  const look = fleet && appearances.peek().get(fleet.name);
  if (!look || Object.keys(look.dimensions).length === 0) return usual;
  const traits = known.get(look) ?? ownTraits(fleet.kind, look, usual);
  known.set(look, traits);
  return traits;
}

function ownTraits(kind: string, look: Appearance, usual: KindTraits): KindTraits {
  const { length, width, height } = look.dimensions;
  if (kind !== "car") return { ...usual, size: Math.max(length ?? 0, width ?? 0, height ?? 0) || usual.size };
  const style = carStyle(look);
  const { front, rear, wheel } = carPlan(style, look.dimensions);
  const wheelbase = front + rear;
  const [over, middle, eyes, ahead] = CARS[style].map((share) => share * wheelbase) as [number, number, number, number];
  return { ...usual, size: wheelbase + over, height: middle, wheel, wheelbase, eye: [ahead, 0, eyes] };
}

// projection ---------------------------------------------------------------------------------------------------------

export interface Size {
  width: number; // CSS px
  height: number;
}

/** Column-major, as in three.js. */
export type Matrix = ArrayLike<number>;

/** x, y in px (y down) and depth in m; false if not in front of the camera. */
export function toScreen(m: Matrix, x: number, y: number, z: number, size: Size, into: number[]): boolean {
  const w = at(m, 3) * x + at(m, 7) * y + at(m, 11) * z + at(m, 15);
  if (!(w > 1e-6)) return false; // also NaN
  into[0] = (0.5 + (0.5 * (at(m, 0) * x + at(m, 4) * y + at(m, 8) * z + at(m, 12))) / w) * size.width;
  into[1] = (0.5 - (0.5 * (at(m, 1) * x + at(m, 5) * y + at(m, 9) * z + at(m, 13))) / w) * size.height;
  into[2] = w;
  return true;
}

/** Where the ray from the eye through a far point meets the plane z = height; null: nowhere. */
export function onPlane(
  eye: readonly number[],
  beyond: readonly number[],
  height: number,
): [number, number, number] | null {
  const [ex = 0, ey = 0, ez = 0] = eye;
  const [bx = 0, by = 0, bz = 0] = beyond;
  const along = (height - ez) / (bz - ez);
  if (!(along > 0) || !Number.isFinite(along)) return null;
  return [ex + along * (bx - ex), ey + along * (by - ey), height];
}

function at(m: Matrix, k: number): number {
  return m[k] as number;
}

// view ---------------------------------------------------------------------------------------------------------------

export interface ViewState {
  camera: PerspectiveCamera;
  matrix: Matrix; // view-projection
  eye: [number, number, number];
  focal: number; // CSS px of one metre at a distance of one metre
  ratio: number; // canvas px per CSS px
  size: Size;
  unit: number; // CSS px of 1 px on a small screen: lines and dots scale with the page's font
  skin: Skin;
  now: number; // performance.now()
}

// picking ------------------------------------------------------------------------------------------------------------

const REACH = 14; // px around a vehicle that count as a hit

/** Positions of vehicles: x, y, z of each; NaN: none. */
interface Places {
  positions: Float32Array;
  count: number;
  /** px of one metre at a distance of one metre. */
  focal: number;
  /** m: half of the vehicle's length. */
  radiusOf(row: number): number;
}

/** The row at a position, or -1. The nearest to the camera wins unless another is clearly closer to the pointer. */
export function rowAt(places: Places, m: Matrix, size: Size, x: number, y: number): number {
  const screen = [0, 0, 0];
  let best = -1;
  let least = Number.POSITIVE_INFINITY;
  for (let row = 0; row < places.count; row++) {
    const p = 3 * row;
    if (!toScreen(m, val(places, p), val(places, p + 1), val(places, p + 2), size, screen)) continue;
    const [sx = 0, sy = 0, depth = 0] = screen;
    const away = Math.hypot(sx - x, sy - y);
    if (away > 400) continue;
    const reach = Math.max(REACH, 0.8 * places.radiusOf(row) * (places.focal / depth));
    if (away > reach) continue;
    const score = depth * (1 + away / reach);
    if (score < least) [least, best] = [score, row];
  }
  return best;
}

/** All rows whose centre is inside a box on the screen. */
export function rowsIn(
  places: Places,
  m: Matrix,
  size: Size,
  a: readonly [number, number],
  b: readonly [number, number],
): number[] {
  const [left, right] = [Math.min(a[0], b[0]), Math.max(a[0], b[0])];
  const [top, bottom] = [Math.min(a[1], b[1]), Math.max(a[1], b[1])];
  const screen = [0, 0, 0];
  const rows: number[] = [];
  for (let row = 0; row < places.count; row++) {
    const p = 3 * row;
    if (!toScreen(m, val(places, p), val(places, p + 1), val(places, p + 2), size, screen)) continue;
    const [sx = 0, sy = 0] = screen;
    if (sx >= left && sx <= right && sy >= top && sy <= bottom) rows.push(row);
  }
  return rows;
}

function val(places: Places, k: number): number {
  return places.positions[k] as number;
}
