// The camera: orbit and top view around a target, chase and first person on the followed vehicle.
import { Matrix4, PerspectiveCamera, Vector3 } from "three";
import { type Pose, rotated } from "../state/poses";
import type { CameraMode } from "../state/store";
import type { Quaternion } from "../wire/frame";
import { headingOf } from "./poses";
import type { KindTraits, Size } from "./view";

type Point = [number, number, number];

/** Axes of a camera: unit vectors. */
interface Sight {
  right: readonly number[];
  up: readonly number[];
  ahead: readonly number[];
}

/** Tangents of half the view angles, and the free margin at each side as a fraction. */
interface Window {
  across: number;
  upwards: number;
  free: { top: number; bottom: number; side: number };
}

const ROUNDS = 8; // each iteration centres the points better

/** Tangents within which points must lie: to the sides, up and down. */
interface Room {
  side: number;
  above: number;
  below: number;
}

/** Target and distance at which all finite points (x, y, z of each) with a radius are visible; null without points. */
export function fit(
  points: ArrayLike<number>,
  radius: number,
  sight: Sight,
  window: Window,
): { target: Point; distance: number } | null {
  const { across, upwards, free } = window;
  const room = {
    side: across * (1 - 2 * free.side),
    above: upwards * (1 - 2 * free.top),
    below: upwards * (1 - 2 * free.bottom),
  };
  const target = middleOf(points);
  if (target === null) return null;
  for (let round = 0; round < ROUNDS; round++) {
    const distance = needed(points, radius, target, sight, room);
    const [x, y] = centre(points, target, sight, Math.max(distance, 1e-3));
    move(target, sight.right, x * distance);
    move(target, sight.up, (y - (room.above - room.below) / 2) * distance);
  }
  return { target, distance: needed(points, radius, target, sight, room) };
}

/** Centre of the bounding box of the finite points. */
function middleOf(points: ArrayLike<number>): Point | null {
  const low: Point = [Infinity, Infinity, Infinity];
  const high: Point = [-Infinity, -Infinity, -Infinity];
  for (let k = 0; k + 2 < points.length; k += 3) {
    if (!Number.isFinite(at(points, k) + at(points, k + 1) + at(points, k + 2))) continue;
    for (let axis = 0; axis < 3; axis++) {
      low[axis] = Math.min(low[axis] as number, at(points, k + axis));
      high[axis] = Math.max(high[axis] as number, at(points, k + axis));
    }
  }
  return low[0] <= high[0] ? [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2] : null;
}

function needed(
  points: ArrayLike<number>,
  radius: number,
  target: Point,
  { right, up, ahead }: Sight,
  { side, above, below }: Room,
): number {
  let most = 0;
  for (let k = 0; k + 2 < points.length; k += 3) {
    const across = (Math.abs(along(points, k, target, right)) + radius) / side;
    const upwards = along(points, k, target, up);
    const distance =
      Math.max(across, (upwards + radius) / above, (radius - upwards) / below) - along(points, k, target, ahead);
    if (distance > most) most = distance; // skips NaN
  }
  return most;
}

/** Centre of the projected points, as tangents from the image centre. */
function centre(
  points: ArrayLike<number>,
  target: Point,
  { right, up, ahead }: Sight,
  distance: number,
): [number, number] {
  let [left, most, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let k = 0; k + 2 < points.length; k += 3) {
    const depth = Math.max(distance + along(points, k, target, ahead), 1e-6);
    const [x, y] = [along(points, k, target, right) / depth, along(points, k, target, up) / depth];
    if (x < left) left = x;
    if (x > most) most = x;
    if (y < low) low = y;
    if (y > high) high = y;
  }
  return [(left + most) / 2, (low + high) / 2];
}

function along(points: ArrayLike<number>, k: number, target: Point, way: readonly number[]): number {
  return (
    (at(points, k) - target[0]) * at(way, 0) +
    (at(points, k + 1) - target[1]) * at(way, 1) +
    (at(points, k + 2) - target[2]) * at(way, 2)
  );
}

function move(target: Point, way: readonly number[], by: number): void {
  for (let axis = 0; axis < 3; axis++) target[axis] = (target[axis] as number) + by * at(way, axis);
}

function at(values: ArrayLike<number>, k: number): number {
  return values[k] as number;
}

// rig ----------------------------------------------------------------------------------------------------------------

/** The vehicle that the camera follows. */
export interface Followed {
  pose: Pose;
  traits: KindTraits;
}

const FOV: Record<CameraMode, number> = { orbit: 50, chase: 55, top: 20, fpv: 95 };
const LOWEST = 0.02; // rad above the horizon: the camera stays above the ground
const HIGHEST = 1.55;
const NEAREST = 1;
const FARTHEST = 60_000;
const CLOSEST = 9; // m, for a single vehicle
const TOOLS_PX = 60; // the toolbar covers the upper edge
const EDGE_PX = 24;
const FOLLOW = 0.16; // s, time constant of the chase camera

export class CameraRig {
  readonly camera = new PerspectiveCamera(FOV.orbit, 1, 0.1, 10_000);
  target: Point = [0, 0, 0];
  distance = 30;
  azimuth = -Math.PI / 2 - 0.5; // direction of the eye from the target
  elevation = 0.5;
  private chaseAzimuth = 0; // user offset from straight behind
  private chaseElevation = 0.26;
  private chaseDistance = 2.2; // in vehicle sizes
  private behind = Number.NaN; // current heading of the chase camera
  private off = 0; // remaining rotation, rad
  private mode: CameraMode = "orbit";
  private ground: Height = LEVEL;

  /** Place the camera; without a followed vehicle, chase and first person act as orbit. */
  update(
    mode: CameraMode,
    followed: Followed | null,
    { width, height }: Size,
    seconds: number,
    ground: Height = LEVEL,
  ): void {
    this.ground = ground;
    this.mode = followed === null && (mode === "chase" || mode === "fpv") ? "orbit" : mode;
    this.camera.aspect = width / height;
    this.camera.fov = FOV[this.mode];
    if (this.mode !== "chase") [this.behind, this.off] = [Number.NaN, 0];
    if (this.mode === "top") this.placeTop();
    else if (this.mode === "chase" && followed) this.placeChase(followed, seconds);
    else if (this.mode === "fpv" && followed) this.placeAboard(followed);
    else this.placeOrbit();
    this.camera.updateProjectionMatrix();
    this.camera.updateMatrixWorld(true);
  }

  /** Whether the camera is still moving. */
  get settling(): boolean {
    return Math.abs(this.off) > 1e-3;
  }

  get shown(): CameraMode {
    return this.mode;
  }

  /** Orbit by a drag in px. */
  turn(dx: number, dy: number): void {
    if (this.mode === "fpv") return;
    if (this.mode === "top") return this.pan(dx, dy, 720);
    if (this.mode === "chase") {
      this.chaseAzimuth -= 0.006 * dx;
      this.chaseElevation = clamp(this.chaseElevation + 0.005 * dy, LOWEST, HIGHEST);
      return;
    }
    this.azimuth -= 0.006 * dx;
    this.elevation = clamp(this.elevation + 0.005 * dy, LOWEST, HIGHEST);
  }

  /** Pan the target over the ground; `height`: canvas height in px. */
  pan(dx: number, dy: number, height: number): void {
    if (this.mode === "fpv" || this.mode === "chase") return;
    const metres = (2 * this.distance * Math.tan((FOV.orbit * Math.PI) / 360)) / height;
    const heading = this.mode === "top" ? Math.PI / 2 : this.azimuth + Math.PI;
    const slope = this.mode === "top" ? 1 : Math.max(Math.sin(this.elevation), 0.25);
    const [ahead, aside] = [(dy * metres) / slope, -dx * metres];
    this.target[0] += ahead * Math.cos(heading) + aside * Math.sin(heading);
    this.target[1] += ahead * Math.sin(heading) - aside * Math.cos(heading);
  }

  /** Zoom (factor < 1: closer) towards a point, which stays in place on the screen. */
  zoom(factor: number, around: readonly number[] | null): void {
    if (this.mode === "fpv") return;
    if (this.mode === "chase") {
      this.chaseDistance = clamp(this.chaseDistance * factor, 0.8, 60);
      return;
    }
    const distance = clamp(this.distance * factor, NEAREST, FARTHEST);
    const share = distance / this.distance;
    this.distance = distance;
    if (around === null) return;
    const [x = 0, y = 0, z = 0] = around;
    const [tx, ty, tz] = this.target;
    this.target = [x + share * (tx - x), y + share * (ty - y), z + share * (tz - z)];
  }

  /** Frame points (x, y, z of each) on a canvas of this size, clear of overlays at its edges. */
  frame(points: ArrayLike<number>, radius: number, { width, height }: Size): boolean {
    const top = this.mode === "top";
    const upwards = Math.tan((FOV[top ? "top" : "orbit"] * Math.PI) / 360);
    const free = { top: share(TOOLS_PX, height), bottom: share(EDGE_PX, height), side: share(EDGE_PX, width) };
    const sight = top ? DOWN : sightFrom(this.azimuth, this.elevation);
    const framed = fit(points, radius, sight, { upwards, across: (upwards * width) / height, free });
    if (framed === null) return false;
    this.target = framed.target;
    const seen = (framed.distance * upwards) / Math.tan((FOV.orbit * Math.PI) / 360); // the top view uses a narrow angle
    this.distance = clamp(seen, CLOSEST, FARTHEST);
    return true;
  }

  /** Orientation and target, to detect changes. */
  get placed(): string {
    return [...this.target, this.distance, this.azimuth, this.elevation].join(" ");
  }

  private placeOrbit(): void {
    const { target, distance, azimuth, elevation } = this;
    this.camera.up.set(0, 0, 1);
    this.aim(around(target, distance, azimuth, elevation, this.ground), target, distance);
  }

  private placeTop(): void {
    const { target, distance } = this;
    const height = (distance * Math.tan((FOV.orbit * Math.PI) / 360)) / Math.tan((FOV.top * Math.PI) / 360);
    this.camera.up.set(0, 1, 0);
    this.aim([target[0], target[1], target[2] + height], target, height);
  }

  private placeChase({ pose, traits }: Followed, seconds: number): void {
    const heading = headingOf(pose.quaternion);
    if (Number.isNaN(this.behind)) this.behind = heading;
    this.off = Math.atan2(Math.sin(heading - this.behind), Math.cos(heading - this.behind));
    this.behind += this.off * (1 - Math.exp(-seconds / FOLLOW));
    const [x, y, z] = pose.position;
    const middle: Point = [x, y, z + traits.height];
    const distance = Math.max(this.chaseDistance * traits.size, 0.9);
    this.target = middle;
    this.camera.up.set(0, 0, 1);
    this.aim(
      around(middle, distance, this.behind + Math.PI + this.chaseAzimuth, this.chaseElevation, this.ground),
      middle,
      distance,
    );
  }

  private placeAboard({ pose, traits }: Followed): void {
    const { position, quaternion } = pose;
    const eye = rotated(quaternion, traits.eye);
    this.camera.position.set(position[0] + eye[0], position[1] + eye[1], position[2] + eye[2]);
    const [ahead, left, up] = tilted(quaternion, traits.tilt);
    const basis = new Matrix4().makeBasis(left.negate(), up, ahead.negate()); // a camera looks along -z
    this.camera.quaternion.setFromRotationMatrix(basis);
    this.target = [...position];
    this.camera.near = 0.02;
    this.camera.far = 5_000;
  }

  private aim(eye: Point, target: Point, distance: number): void {
    this.camera.position.set(...eye);
    this.camera.lookAt(...target);
    this.camera.near = clamp(0.01 * distance, 0.03, 50);
    this.camera.far = Math.max(3_000, 40 * distance);
  }
}

const DOWN: Sight = { right: [1, 0, 0], up: [0, 1, 0], ahead: [0, 0, -1] };

/** The axes of a camera at two angles from its target. */
function sightFrom(azimuth: number, elevation: number): Sight {
  const [ca, sa, ce, se] = [Math.cos(azimuth), Math.sin(azimuth), Math.cos(elevation), Math.sin(elevation)];
  return { right: [-sa, ca, 0], up: [-se * ca, -se * sa, ce], ahead: [-ce * ca, -ce * sa, -se] };
}

/** A margin in px as a fraction, limited so that the view stays usable. */
function share(px: number, whole: number): number {
  return Math.min(px / Math.max(whole, 1), 0.25);
}

/** Height of the ground at a place, m. */
type Height = (x: number, y: number) => number;
const LEVEL: Height = () => 0;
const CLEARANCE = 0.05; // m: the camera stays this far above the ground

function around([x, y, z]: Point, distance: number, azimuth: number, elevation: number, ground: Height): Point {
  const flat = distance * Math.cos(elevation);
  const [ex, ey] = [x + flat * Math.cos(azimuth), y + flat * Math.sin(azimuth)];
  return [ex, ey, Math.max(z + distance * Math.sin(elevation), ground(ex, ey) + CLEARANCE)];
}

/** Forward, left and up of a body whose camera is tilted up. */
function tilted(turn: Quaternion, tilt: number): [Vector3, Vector3, Vector3] {
  const [c, s] = [Math.cos(tilt), Math.sin(tilt)];
  const vector = (v: Point): Vector3 => new Vector3(...rotated(turn, v));
  return [vector([c, 0, s]), vector([0, 1, 0]), vector([-s, 0, c])];
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
