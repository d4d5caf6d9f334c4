// Roads: a strip of asphalt along a line, with lines at its edges and, on a circuit, a start line; draped over hills.
import type { Relief } from "../state/scenery";
import type { RoadTree } from "../wire/schema";
import { AsphaltLayer, gridIndex, type Height, heightOf, type Place, type Surface, type Tints } from "./asphalt";
import { raw } from "./skin";

/** Vertices of a road; at most `piece` m apart on uneven ground, where they have its height. Spots: m left, m along. */
export function stripOf({ points, width, closed }: RoadTree, height: Height, piece: number): Surface {
  const line = divided(closed ? [...points, points[0] as RoadTree["points"][number]] : points, piece);
  const columns = Math.max(1, Math.ceil(width / piece)) + 1;
  const places = new Float32Array(3 * columns * line.length);
  const spots = new Float32Array(2 * columns * line.length);
  let along = 0;
  line.forEach(([x, y], row) => {
    const before = line[row - 1] ?? (closed ? line.at(-2) : undefined);
    const after = line[row + 1] ?? (closed ? line[1] : undefined);
    const [nx, ny] = sideways(before ?? [x, y], [x, y], after ?? [x, y]);
    if (row > 0) along += Math.hypot(x - (before as Place)[0], y - (before as Place)[1]);
    for (let k = 0; k < columns; k++) {
      const left = width * (k / (columns - 1) - 0.5);
      const [px, py] = [x + left * nx, y + left * ny];
      places.set([px, py, height(px, py)], 3 * (row * columns + k));
      spots.set([left, along], 2 * (row * columns + k));
    }
  });
  return { places, spots, index: gridIndex(columns, line.length) };
}

function divided(points: RoadTree["points"], piece: number): Place[] {
  const line: Place[] = [];
  points.forEach(([x, y], k) => {
    const [px, py] = points[k - 1] ?? [x, y];
    const parts = Math.max(1, Math.ceil(Math.hypot(x - px, y - py) / piece));
    for (let i = k === 0 ? parts : 1; i <= parts; i++)
      line.push([px + (i / parts) * (x - px), py + (i / parts) * (y - py)]);
  });
  return line;
}

/** The vector to the left of a line at one of its points: longer in bends, so that the edges keep their distance. */
function sideways(a: Place, b: Place, c: Place): Place {
  const unit = (from: Place, to: Place): Place => {
    const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
    const length = Math.hypot(dx, dy);
    return length > 0 ? [-dy / length, dx / length] : [0, 0];
  };
  const [into, outOf] = [unit(a, b), unit(b, c)];
  const [x, y] = [into[0] + outOf[0], into[1] + outOf[1]];
  const [first, last] = [Math.hypot(...into), Math.hypot(...outOf)];
  if (first === 0 || last === 0) return first === 0 ? outOf : into;
  const square = Math.max(x * x + y * y, 1); // a hairpin of 120 degrees or more is not sharpened
  return [(2 * x) / square, (2 * y) / square];
}

// drawing ------------------------------------------------------------------------------------------------------------

const CODE = /* glsl */ `
uniform vec3 road; // width, 1: with a start line, opacity
vec4 surface() {
  vec3 colour = mix(asphalt, paint, 0.85 * band(0.5 * road.x - abs(at.x), 0.1, 0.25));
  colour = mix(colour, chequered(at.xy, 0.75, 0.5), road.y * band(at.y, 0.0, 1.5));
  return vec4(colour, road.z);
}`;

const TINTS: Tints = {
  dark: { asphalt: raw("#272e35"), paint: raw("#9aa7b3") },
  light: { asphalt: raw("#c4c4c2"), paint: raw("#fcfcfa") },
};
const ORDER = -9.8; // on the ground, below friction and grid

export function roadLayer(roads: readonly RoadTree[], relief: Relief | null, ground: number): AsphaltLayer {
  const layer = new AsphaltLayer({ code: CODE, tints: TINTS, order: ORDER }, relief !== null);
  const piece = relief ? Math.max(relief.grid.cell / 2, 1) : Number.POSITIVE_INFINITY;
  for (const road of roads) {
    const opacity = relief ? 0.8 : 1; // on hills the friction below shows through
    const uniforms = { road: { value: [road.width, road.closed ? 1 : 0, opacity] } };
    layer.add(stripOf(road, heightOf(relief, ground), piece), uniforms);
  }
  return layer;
}
