// A quaternion as angles that people know (yaw about z, then pitch about y, then roll about x; body forward-left-up).
import type { Quaternion } from "../state/frame";

export function eulerOf([x, y, z, w]: Quaternion): { roll: number; pitch: number; yaw: number } {
  return {
    roll: Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)),
    pitch: Math.asin(Math.min(1, Math.max(-1, 2 * (w * y - z * x)))),
    yaw: Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)),
  };
}
