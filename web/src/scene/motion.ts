// How wheels stand and roll: steering angle from what the server says or from how the vehicle turns, rolling from
// the way it has made.
import type { Sample } from "../state/source";
import { floatsOf } from "../state/words";
import type { KindTraits } from "./kinds";
import { headingOf } from "./poseBlend";
import { moved } from "./rowMoves";
import { type Quaternion, unpackOrientation, WORDS } from "../state/frame";

const MOST = 0.6; // rad
const SMOOTH = 0.15; // of the way to a new angle, each drawn frame

const turnA: Quaternion = [0, 0, 0, 1];
const turnB: Quaternion = [0, 0, 0, 1];

/**
 * Forward speed (m/s) and the steering angle (rad, + left) that would make a vehicle move as it does between two
 * frames.
 */
export function drivenAs(sample: Sample, row: number, traits: KindTraits): { speed: number; steer: number } {
  const dt = sample.to.time - sample.from.time;
  if (!(dt > 0)) return { speed: 0, steer: 0 };
  const [a, b] = [floatsOf(sample.from.poses), floatsOf(sample.to.poses)];
  const k = WORDS * row;
  const [dx, dy] = [(b[k] ?? 0) - (a[k] ?? 0), (b[k + 1] ?? 0) - (a[k + 1] ?? 0)];
  const before = headingOf(unpackOrientation(sample.from.poses[k + 3] ?? 0, turnA));
  const after = headingOf(unpackOrientation(sample.to.poses[k + 3] ?? 0, turnB));
  const turn = Math.atan2(Math.sin(after - before), Math.cos(after - before));
  const speed = (dx * Math.cos(after) + dy * Math.sin(after)) / dt;
  if (Math.abs(speed) < 0.3) return { speed: finite(speed), steer: 0 };
  const steer = Math.atan((traits.wheelbase * turn) / dt / speed);
  return { speed: finite(speed), steer: Math.max(-MOST, Math.min(MOST, finite(steer))) };
}

/** Angles of the wheels of all rows, kept from frame to frame. */
export class WheelAngles {
  private spins = new Float32Array(0);
  private steers = new Float32Array(0);

  /** So many rows now; those who stay (rows before and after) keep their angles. */
  move(count: number, rows: readonly (readonly [number, number])[]): void {
    this.spins = moved(this.spins, new Float32Array(count), rows);
    this.steers = moved(this.steers, new Float32Array(count), rows);
  }

  /** Move on by some simulated seconds; `told` is the steering angle from the server, NaN when it is not known. */
  advance(sample: Sample, row: number, traits: KindTraits, seconds: number, told: number): [steer: number,
    spin: number] {
    const { speed, steer } = drivenAs(sample, row, traits);
    const spin = ((this.spins[row] ?? 0) + (speed * seconds) / traits.wheel) % (2 * Math.PI);
    const before = this.steers[row] ?? 0;
    const angle = Number.isNaN(told) ? before + SMOOTH * (steer - before) : told;
    this.spins[row] = spin;
    this.steers[row] = angle;
    return [angle, spin];
  }
}

function finite(value: number): number {
  return Number.isFinite(value) ? value : 0;
}
