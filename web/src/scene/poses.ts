// Interpolated poses on the CPU, and the followed vehicle at full precision.
import { type ColumnRequest, listOf, requestColumns } from "../state/columns";
import { type Pose, poseAt } from "../state/poses";
import type { Fleet } from "../state/roster";
import type { Sample } from "../state/source";
import { type Frame, floatsOf, type Quaternion, type Vector } from "../wire/frame";

/** A sample whose frames have the same rows; between two rosters the later frame is used. */
export function coherent(sample: Sample): Sample {
  const { from, to } = sample;
  return from.roster === to.roster && from.count === to.count ? sample : { from: to, to, mix: 1 };
}

export class PoseBlend {
  positions = new Float32Array(0);
  count = 0;
  sample: Sample | null = null;

  update(sample: Sample): void {
    const count = Math.min(sample.from.count, sample.to.count);
    if (this.positions.length !== 3 * count) this.positions = new Float32Array(3 * count);
    this.count = count;
    this.sample = sample;
    blendPositions(floatsOf(sample.from.poses), floatsOf(sample.to.poses), sample.mix, count, this.positions);
  }

  clear(): void {
    this.count = 0;
    this.sample = null;
  }

  position(row: number): [number, number, number] | null {
    if (!(row >= 0 && row < this.count)) return null;
    const [x = 0, y = 0, z = 0] = this.positions.subarray(3 * row, 3 * row + 3);
    return Number.isFinite(x + y + z) ? [x, y, z] : null;
  }

  orientation(row: number): Quaternion {
    if (this.sample === null) return [0, 0, 0, 1];
    return [...poseAt(this.sample, row).quaternion];
  }
}

function blendPositions(a: Float32Array, b: Float32Array, mix: number, count: number, into: Float32Array): void {
  const rest = 1 - mix;
  for (let row = 0, p = 0, w = 0; row < count; row++, p += 3, w += 4) {
    into[p] = rest * (a[w] as number) + mix * (b[w] as number);
    into[p + 1] = rest * (a[w + 1] as number) + mix * (b[w + 1] as number);
    into[p + 2] = rest * (a[w + 2] as number) + mix * (b[w + 2] as number);
  }
}

/** Heading of an orientation: rad counter-clockwise from east. */
export function headingOf([x, y, z, w]: Quaternion): number {
  return Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z));
}

// followed vehicle ---------------------------------------------------------------------------------------------------

const POSE = ["x", "y", "z", "qx", "qy", "qz", "qw"] as const;
const GAUGES = [
  "speed",
  "airspeed",
  "vz",
  "voltage",
  "charge",
  "command.armed",
  "command.mode",
  "command.throttle",
  "command.gear",
  "wheel_speed",
  "steer",
] as const;

type Gauge = (typeof GAUGES)[number];
const DERIVED: readonly string[] = ["speed"]; // available for every vehicle

export class PreciseState {
  private request: ColumnRequest | null = null;
  private names: readonly string[] = [];
  private followed: string | null = null;

  /** Request a vehicle's columns; null: none. */
  follow(id: number | null, fleet: Fleet | undefined): void {
    const key = id === null || !fleet ? null : `${id} ${fleet.columns.join()}`;
    if (key === this.followed) return;
    this.followed = key;
    this.request?.release();
    this.request = null;
    if (id === null || !fleet) return;
    const has = (name: string): boolean => fleet.columns.includes(name);
    this.names = [...POSE.filter(has), ...GAUGES.filter((name) => has(name) || DERIVED.includes(name))];
    this.request = requestColumns("camera", [{ of: id, columns: this.names }]);
  }

  /** The pose at a sample, as precise as available. */
  pose(sample: Sample, row: number): Pose {
    const rough = poseAt(sample, row);
    const [a, b] = [this.exact(sample.from), this.exact(sample.to)];
    if (!a || !b) return rough;
    const position = a.position.map((start, k) => start + sample.mix * ((b.position[k] as number) - start)) as Vector;
    return { position, quaternion: mixed(a.quaternion, b.quaternion, sample.mix) };
  }

  /** The value of an instrument at a frame; NaN if unknown. */
  gauge(frame: Frame, name: Gauge): number {
    return this.value(frame, name);
  }

  release(): void {
    this.follow(null, undefined);
  }

  private exact(frame: Frame): Pose | null {
    const values = POSE.map((name) => this.value(frame, name));
    if (!values.every(Number.isFinite)) return null;
    return { position: values.slice(0, 3) as Vector, quaternion: values.slice(3) as Quaternion };
  }

  private value(frame: Frame, name: string): number {
    const start = this.request ? listOf(frame)?.starts.get(this.request) : undefined;
    const at = this.names.indexOf(name);
    if (start === undefined || at < 0) return Number.NaN;
    const block = frame.columns.find(({ request }) => request === start);
    return block && block.vehicles === 1 ? (block.values[at] ?? Number.NaN) : Number.NaN;
  }
}

function mixed(a: Quaternion, b: Quaternion, mix: number): Quaternion {
  const dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
  const to = dot < 0 ? -mix : mix;
  const sum = a.map((component, k) => (1 - mix) * component + to * (b[k] as number)) as Quaternion;
  const length = Math.hypot(...sum) || 1;
  return sum.map((component) => component / length) as Quaternion;
}
