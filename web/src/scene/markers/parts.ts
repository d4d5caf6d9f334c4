// What markers are drawn with: segments, triangles, dots and words, all in the coordinates of one frame.
import { Growing } from "./growing";

export interface Words {
  text: string;
  position: [number, number, number];
  height: number; // m
  colour: readonly [number, number, number, number]; // 0 to 255
}

export class MarkerParts {
  readonly segments = new Growing(); // x, y, z, x, y, z, width (m; 0: as thin as can be), r, g, b, a
  readonly triangles = new Growing(); // of each corner: x, y, z, nx, ny, nz, r, g, b, a (0 to 1)
  readonly clear = new Growing(); // the same, translucent
  readonly dots = new Growing(); // x, y, z, diameter in m, r, g, b, a (0 to 1)
  readonly words: Words[] = [];
}

export const SEGMENT = 11;
export const CORNER = 10;
export const DOT = 8;
