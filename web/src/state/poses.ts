// Interpolated poses, and the world poses of named transform frames.
import { signal } from "@preact/signals";
import type { TransformTree } from "../net/connection";
import { orientationOf, positionOf, type Quaternion, type Vector } from "../wire/frame";
import type { Roster } from "./roster";
import type { Sample } from "./source";

export interface Pose {
  position: Vector; // m (ENU)
  quaternion: Quaternion; // body to world
}

const other: Pose = { position: [0, 0, 0], quaternion: [0, 0, 0, 1] };

/** The pose of a row in a sample; NaN if the vehicle has no position. */
export function poseAt({ from, to, mix }: Sample, row: number, into: Pose = emptyPose()): Pose {
  positionOf(to, row, into.position);
  orientationOf(to, row, into.quaternion);
  if (from === to || mix >= 1) return into;
  positionOf(from, row, other.position);
  orientationOf(from, row, other.quaternion);
  mixVectors(other.position, into.position, mix, into.position);
  mixQuaternions(other.quaternion, into.quaternion, mix, into.quaternion);
  return into;
}

export function emptyPose(): Pose {
  return { position: [0, 0, 0], quaternion: [0, 0, 0, 1] };
}

/** Simulated time of a sample, s. */
export function timeOf({ from, to, mix }: Sample): number {
  return from.time + (to.time - from.time) * mix;
}

function mixVectors(from: Vector, to: Vector, mix: number, into: Vector): void {
  for (let k = 0; k < 3; k++) into[k] = (from[k] as number) + ((to[k] as number) - (from[k] as number)) * mix;
}

/** Normalised linear interpolation along the shorter arc; frames are close enough in time. */
function mixQuaternions(from: Quaternion, to: Quaternion, mix: number, into: Quaternion): void {
  const dot = from[0] * to[0] + from[1] * to[1] + from[2] * to[2] + from[3] * to[3];
  const far = dot < 0 ? -mix : mix;
  let square = 0;
  for (let k = 0; k < 4; k++) {
    const value = (from[k] as number) * (1 - mix) + (to[k] as number) * far;
    into[k] = value;
    square += value * value;
  }
  const scale = 1 / Math.sqrt(square || 1);
  for (let k = 0; k < 4; k++) into[k] = (into[k] as number) * scale;
}

// transform frames ---------------------------------------------------------------------------------------------------

export const transforms = signal<ReadonlyMap<string, TransformTree>>(new Map());

export function setTransforms(list: readonly TransformTree[]): void {
  transforms.value = new Map(list.map((transform) => [transform.name, transform]));
}

const DEEPEST = 32; // longer chains are circular

/** The world pose of a frame or vehicle; null if unknown or circular. */
export function worldPose(name: string, sample: Sample, roster: Roster, depth = 0): Pose | null {
  if (name === "" || name === "world") return { position: [0, 0, 0], quaternion: [0, 0, 0, 1] };
  const row = roster.rowOfName(name);
  if (row !== undefined) return poseAt(sample, row);
  const own = transforms.peek().get(name);
  if (own === undefined || depth >= DEEPEST) return null;
  const parent = worldPose(own.parent, sample, roster, depth + 1);
  return parent && composed(parent, own);
}

/** Compose an outer and an inner pose. */
function composed(outer: Pose, inner: Pick<TransformTree, "position" | "quaternion">): Pose {
  const moved = rotated(outer.quaternion, inner.position);
  const position: Vector = [0, 0, 0];
  for (let k = 0; k < 3; k++) position[k] = (outer.position[k] as number) + (moved[k] as number);
  return { position, quaternion: product(outer.quaternion, inner.quaternion) };
}

export function rotated(turn: Readonly<Quaternion>, vector: readonly [number, number, number]): Vector {
  const [x, y, z, w] = turn;
  const [a, b, c] = vector;
  const [tx, ty, tz] = [2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)];
  return [a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx];
}

function product(first: Readonly<Quaternion>, second: readonly [number, number, number, number]): Quaternion {
  const [x, y, z, w] = first;
  const [a, b, c, d] = second;
  return [
    w * a + x * d + y * c - z * b,
    w * b - x * c + y * d + z * a,
    w * c + x * b - y * a + z * d,
    w * d - x * a - y * b - z * c,
  ];
}

/** Roll, pitch (nose down positive) and yaw of an orientation, rad. */
export function eulerOf([x, y, z, w]: Quaternion): { roll: number; pitch: number; yaw: number } {
  return {
    roll: Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)),
    pitch: Math.asin(Math.min(1, Math.max(-1, 2 * (w * y - z * x)))),
    yaw: Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)),
  };
}
