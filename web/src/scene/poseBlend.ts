// Where all vehicles are between two frames, on the CPU: for picking, labels, trails and the level of detail.
import type { Quaternion } from "../state/frame";
import { poseAt } from "../state/interpolate";
import type { Sample } from "../state/source";
import { floatsOf } from "../state/words";

/** A sample whose frames have the same rows: what lies between two rosters is the later one. */
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

export function blendPositions(a: Float32Array, b: Float32Array, mix: number, count: number, into: Float32Array): void {
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
