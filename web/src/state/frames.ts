// Named transform frames, and where they are in the world.
import { signal } from "@preact/signals";
import type { Quaternion, Vector } from "./frame";
import { type Pose, poseAt } from "./interpolate";
import type { TransformTree } from "./methods";
import type { Roster } from "./roster";
import type { Sample } from "./source";

export const transforms = signal<ReadonlyMap<string, TransformTree>>(new Map());

export function setTransforms(list: readonly TransformTree[]): void {
  transforms.value = new Map(list.map((one) => [one.name, one]));
}

const DEEPEST = 32; // a chain that is longer goes round in a circle

/** The world pose of a frame or a vehicle; null when there is none of that name, or it hangs on itself. */
export function worldPose(name: string, sample: Sample, roster: Roster, depth = 0): Pose | null {
  if (name === "" || name === "world") return { position: [0, 0, 0], quaternion: [0, 0, 0, 1] };
  const row = roster.rowOfName(name);
  if (row !== undefined) return poseAt(sample, row);
  const own = transforms.peek().get(name);
  if (own === undefined || depth >= DEEPEST) return null;
  const parent = worldPose(own.parent, sample, roster, depth + 1);
  return parent && composed(parent, own);
}

/** A pose that is given within another one. */
export function composed(outer: Pose, inner: Pick<TransformTree, "position" | "quaternion">): Pose {
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
