// Poses between two moments.
import { orientationOf, positionOf, type Quaternion, type Vector } from "./frame";
import type { Sample } from "./source";

export interface Pose {
  position: Vector; // m (ENU)
  quaternion: Quaternion; // body to world
}

const other: Pose = { position: [0, 0, 0], quaternion: [0, 0, 0, 1] };

/** The pose of a row at a sample; NaN where the vehicle is nowhere. */
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

/** The simulated time of a sample, s. */
export function timeOf({ from, to, mix }: Sample): number {
  return from.time + (to.time - from.time) * mix;
}

function mixVectors(from: Vector, to: Vector, mix: number, into: Vector): void {
  for (let k = 0; k < 3; k++) into[k] = (from[k] as number) + ((to[k] as number) - (from[k] as number)) * mix;
}

/** The shorter way, straight and normalised: frames are close enough together for that. */
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
