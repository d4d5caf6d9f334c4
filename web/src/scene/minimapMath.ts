// Between the world seen from above (x right, y up) and the pixels of a square map.
export interface MapFrame {
  x: number; // m: what is in the middle
  y: number;
  half: number; // m: from the middle to an edge
}

/**
 * A frame around all positions (x, y, z of each), a little wider; stays when it still fits, so that the map does not
 * breathe.
 */
export function mapFrame(positions: Float32Array, count: number, before: MapFrame | null): MapFrame | null {
  let [left, right, low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY];
  for (let row = 0; row < count; row++) {
    const x = positions[3 * row] as number;
    const y = positions[3 * row + 1] as number;
    if (x < left) left = x;
    if (x > right) right = x;
    if (y < low) low = y;
    if (y > high) high = y;
  }
  if (!(left <= right && low <= high)) return before;
  const needed = Math.max(right - left, high - low) / 2;
  if (before && fits(before, left, right, low, high) && needed > 0.4 * before.half) return before;
  return { x: (left + right) / 2, y: (low + high) / 2, half: Math.max(1.18 * needed, 10) };
}

function fits({ x, y, half }: MapFrame, left: number, right: number, low: number, high: number): boolean {
  return left >= x - half && right <= x + half && low >= y - half && high <= y + half;
}

/** Pixels of a point; the map is `side` px wide and high. */
export function toMap({ x, y, half }: MapFrame, side: number, px: number, py: number): [number, number] {
  return [(0.5 + (px - x) / (2 * half)) * side, (0.5 - (py - y) / (2 * half)) * side];
}

/** The point of the world at pixels of the map. */
export function fromMap({ x, y, half }: MapFrame, side: number, mx: number, my: number): [number, number] {
  return [x + (mx / side - 0.5) * 2 * half, y - (my / side - 0.5) * 2 * half];
}
