// From the world to the screen and back with a column-major view-projection matrix; plain loops, because it runs for
// every vehicle.
export interface Size {
  width: number; // CSS px
  height: number;
}

/** Column-major, as in three.js. */
export type Matrix = ArrayLike<number>;

/** x, y in px (y downwards) and the depth along the view in m; false when it is not in front of the camera. */
export function toScreen(m: Matrix, x: number, y: number, z: number, size: Size, into: number[]): boolean {
  const w = at(m, 3) * x + at(m, 7) * y + at(m, 11) * z + at(m, 15);
  if (!(w > 1e-6)) return false; // also NaN
  into[0] = (0.5 + (0.5 * (at(m, 0) * x + at(m, 4) * y + at(m, 8) * z + at(m, 12))) / w) * size.width;
  into[1] = (0.5 - (0.5 * (at(m, 1) * x + at(m, 5) * y + at(m, 9) * z + at(m, 13))) / w) * size.height;
  into[2] = w;
  return true;
}

/** Where the ray from the eye through a point of the far side meets the plane z = height; null when it never does. */
export function onPlane(eye: readonly number[], beyond: readonly number[], height: number): [number, number,
  number] | null {
  const [ex = 0, ey = 0, ez = 0] = eye;
  const [bx = 0, by = 0, bz = 0] = beyond;
  const along = (height - ez) / (bz - ez);
  if (!(along > 0) || !Number.isFinite(along)) return null;
  return [ex + along * (bx - ex), ey + along * (by - ey), height];
}

function at(m: Matrix, k: number): number {
  return m[k] as number;
}
