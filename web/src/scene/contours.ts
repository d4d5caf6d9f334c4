// Lines of equal value on a square grid (marching squares).

/** Values (rows from the south), or a function of their index. */
type Values = (index: number) => number;

export interface Grid {
  x: number; // m, of the first value
  y: number;
  cell: number; // m
  side: number;
}

/** Values averaged with their neighbours (1 2 1 in both directions), so that lines of equal value have few islands. */
export function smoothed(values: ArrayLike<number>, side: number): Float64Array {
  const along = (heights: ArrayLike<number>, step: number, other: number) => {
    const smooth = new Float64Array(side * side);
    for (let j = 0; j < side; j++) {
      for (let i = 0; i < side; i++) {
        const at = j * other + i * step;
        const [before, own, after] = [i > 0 ? at - step : at, at, i + 1 < side ? at + step : at].map((k) => heights[k]);
        smooth[at] = 0.25 * ((before as number) + (after as number)) + 0.5 * (own as number);
      }
    }
    return smooth;
  };
  return along(along(values, 1, side), side, 1);
}

/** Values on a grid with `parts` cells for each one, by cubic interpolation (Catmull-Rom). */
export function refined(values: ArrayLike<number>, side: number, parts: number): Float64Array {
  const fine = parts * (side - 1) + 1;
  const across = new Float64Array(side * fine); // rows of values, finer along x only
  for (let j = 0; j < side; j++) {
    for (let i = 0; i < fine; i++) across[j * fine + i] = cubic((k) => values[j * side + k] as number, side, i / parts);
  }
  const refined = new Float64Array(fine * fine);
  for (let j = 0; j < fine; j++) {
    for (let i = 0; i < fine; i++) {
      refined[j * fine + i] = cubic((k) => across[k * fine + i] as number, side, j / parts);
    }
  }
  return refined;
}

function cubic(value: Values, count: number, at: number): number {
  const k = Math.min(Math.floor(at), count - 2);
  const t = at - k;
  const [b, c] = [value(k), value(k + 1)];
  const a = k > 0 ? value(k - 1) : 2 * b - c; // beyond the edge: straight on
  const d = k + 2 < count ? value(k + 2) : 2 * c - b;
  return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}

/** Segments x1, y1, x2, y2 along which the values are 0. */
export function zeroLines({ x, y, cell, side }: Grid, valueAt: Values): number[] {
  const lines: number[] = [];
  for (let j = 0; j + 1 < side; j++) {
    for (let i = 0; i + 1 < side; i++) {
      const k = j * side + i;
      const [a, b, c, d] = [valueAt(k), valueAt(k + 1), valueAt(k + side + 1), valueAt(k + side)] as const;
      if (a > 0 === b > 0 && b > 0 === c > 0 && c > 0 === d > 0) continue;
      // crossings of the lower, right, upper and left edge of the cell, in this order
      const crossings: [number, number][] = [];
      if (a > 0 !== b > 0) crossings.push([i + a / (a - b), j]);
      if (b > 0 !== c > 0) crossings.push([i + 1, j + b / (b - c)]);
      if (d > 0 !== c > 0) crossings.push([i + d / (d - c), j + 1]);
      if (a > 0 !== d > 0) crossings.push([i, j + a / (a - d)]);
      const add = (from: number, to: number): void => {
        const [p, q] = [crossings[from], crossings[to]];
        if (p && q) lines.push(x + cell * p[0], y + cell * p[1], x + cell * q[0], y + cell * q[1]);
      };
      if (crossings.length === 2) add(0, 1);
      else if (crossings.length === 4) {
        // opposite corners: the middle decides which are connected
        const joined = a + b + c + d > 0 === a > 0;
        add(0, joined ? 1 : 3);
        add(2, joined ? 3 : 1);
      }
    }
  }
  return lines;
}
