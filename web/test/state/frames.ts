// Frames for tests: vehicles in a row along y, all at the same x.
import type { Frame } from "../../src/wire/frame";

export function made(time: number, x: number, more: Partial<Frame> & { count?: number } = {}): Frame {
  const count = more.count ?? 1;
  const poses = new Uint32Array(4 * count);
  const floats = new Float32Array(poses.buffer);
  for (let row = 0; row < count; row++) {
    floats.set([x, row, 0], 4 * row);
    poses[4 * row + 3] = 0xdff7fdff; // w largest, the others 511: 0
  }
  const frame = { run: 0, tick: Math.round(100 * time), time, wall: time, roster: 1, count, columns: [], wanted: 0 };
  return { ...frame, ...more, poses: more.poses ?? poses };
}
