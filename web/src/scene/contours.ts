// Lines of equal value on a square grid (marching squares).

/** Values (rows from the south), or a function of their index. */
type Values = (index: number) => number;

export interface Grid {
  x: number; // m, of the first value
  y: number;
  cell: number; // m
  side: number;
}

/** Segments x1, y1, x2, y2 along which the values are 0. */
export function zeroLines({ x, y, cell, side }: Grid, valueAt: Values): number[] {
  const lines: number[] = [];
  for (let j = 0; j + 1 < side; j++) {
    for (let i = 0; i + 1 < side; i++) {
      const k = j * side + i;
      const [a, b, c, d] = [valueAt(k), valueAt(k + 1), valueAt(k + side + 1), valueAt(k + side)] as const;
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
