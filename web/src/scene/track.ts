// The track: asphalt between its boundaries with painted edges, gates, and cones by colour; draped over hills.
import type { Relief } from "../state/scenery";
import type { ObstacleTree, RoadTree, TrackTree } from "../wire/schema";
import { AsphaltLayer, gridIndex, type Height, heightOf, type Place, type Surface, type Tints } from "./asphalt";
import { raw } from "./skin";

const SHOULDER = 1; // m of asphalt beyond the boundaries
const PAINT = 0.12; // m, width of the painted edges
const ACROSS = 6; // cells across on uneven ground
const SAME = 2; // m between a road and the middle line of a track
const CHEQUER = 0.5; // m, squares of the start line
const START = 1; // m, thickness of the start line
const SECTOR = 0.2; // m, of the other gates

/** Cones of Formula Student: radius of the base and height, m. */
const CONE_SIZES = { small: [0.114, 0.325], big_orange: [0.1425, 0.505] } as const;

// Spots: m inside the left and the right boundary, kind (0 edge, 1 inner part, 2 start line, 3 gate); on gates, m along
// and across.

/** A strip along the middle line that ends `beyond` m outside the boundaries (negative: inside them). */
export function trackStrip(track: TrackTree, beyond: number, kind: number, height: Height, across: number): Surface {
  const { centre, left_width, right_width, closed } = track;
  const rows = centre.length < 2 ? 0 : closed ? centre.length + 1 : centre.length;
  const [places, spots]: [number[], number[]] = [[], []];
  for (let row = 0; row < rows; row++) {
    const k = row % centre.length;
    const [[x, y], [nx, ny]] = [centre[k] as Place, leftOf(centre, k, closed)];
    const [left, right] = [left_width[k] ?? 0, right_width[k] ?? 0];
    for (let i = 0; i <= across; i++) {
      const offset = left + beyond - (i / across) * (left + right + 2 * beyond);
      const [px, py] = [x + offset * nx, y + offset * ny];
      places.push(px, py, height(px, py));
      spots.push(left - offset, right + offset, kind);
    }
  }
  return { places: new Float32Array(places), spots: new Float32Array(spots), index: gridIndex(across + 1, rows) };
}

/** A line across the track at each gate; the first one is chequered. */
export function gateQuads({ gates }: TrackTree, height: Height): Surface {
  const [places, spots, index]: [number[], number[], number[]] = [[], [], []];
  gates.forEach(({ left, right }, number) => {
    const [dx, dy] = [right[0] - left[0], right[1] - left[1]];
    const wide = Math.hypot(dx, dy) || 1;
    const thick = number === 0 ? START : SECTOR;
    for (const [end, side] of CORNERS) {
      const [px, py] = [
        left[0] + end * dx - (side * thick * dy) / wide,
        left[1] + end * dy + (side * thick * dx) / wide,
      ];
      places.push(px, py, height(px, py));
      spots.push(end * wide, (side + 0.5) * thick, number === 0 ? 2 : 3);
    }
    index.push(...[0, 1, 2, 1, 3, 2].map((corner) => 4 * number + corner));
  });
  return { places: new Float32Array(places), spots: new Float32Array(spots), index: new Uint32Array(index) };
}

/** The cones as obstacles, by colour; none if they are vehicles. */
export function trackCones({ cones, colours, colour_names, movable }: TrackTree, height: Height): ColouredCones {
  const byColour: Record<string, ObstacleTree[]> = {};
  if (movable) return byColour;
  cones.forEach(([x, y], k) => {
    const colour = colour_names[colours[k] ?? 0] ?? "unknown";
    const [radius, tall] = colour === "big_orange" ? CONE_SIZES.big_orange : CONE_SIZES.small;
    const base = height(x, y);
    const cone = { name: colour, kind: "cone", x, y, base, top: base + tall, heading: 0, radius } as const;
    byColour[colour] = [...(byColour[colour] ?? []), { ...cone, length: null, width: null }];
  });
  return byColour;
}

/** Whether a road is the track itself: the asphalt is drawn already. */
export function isTrackRoad({ points }: RoadTree, { centre }: TrackTree): boolean {
  const step = Math.max(1, Math.floor(points.length / 40));
  return points.every(([x, y], k) => {
    return k % step > 0 || centre.some(([cx, cy]) => Math.hypot(cx - x, cy - y) < SAME);
  });
}

export type ColouredCones = Readonly<Record<string, readonly ObstacleTree[]>>;
const CORNERS = [[0, -0.5], [1, -0.5], [0, 0.5], [1, 0.5]] as const; // biome-ignore format: a table

/** Unit vector to the left of a line at one of its points. */
function leftOf(line: readonly Place[], k: number, closed: boolean): Place {
  const last = line.length - 1;
  const [a, b] = closed
    ? [line[(k + last) % line.length], line[(k + 1) % line.length]]
    : [line[Math.max(k - 1, 0)], line[Math.min(k + 1, last)]];
  const [dx, dy] = [(b as Place)[0] - (a as Place)[0], (b as Place)[1] - (a as Place)[1]];
  const length = Math.hypot(dx, dy) || 1;
  return [-dy / length, dx / length];
}

// drawing ------------------------------------------------------------------------------------------------------------

const CODE = /* glsl */ `
uniform vec3 accent;
float noise(vec2 p) {
  vec2 cell = floor(p), part = smoothstep(0.0, 1.0, p - cell);
  vec4 corner = vec4(0.0, 1.0, 157.0, 158.0) + dot(mod(cell, 289.0), vec2(1.0, 157.0));
  corner = fract(sin(corner) * 43758.5453);
  return mix(mix(corner.x, corner.y, part.x), mix(corner.z, corner.w, part.x), part.y);
}
vec4 surface() {
  float inside = min(at.x, at.y);
  float near = 1.0 - smoothstep(0.02, 0.12, max(fwidth(where.x), fwidth(where.y)));
  vec3 tar = asphalt * (1.0 + near * (0.05 * noise(where.xy * 23.0) + 0.04 * noise(where.xy * 3.1) - 0.045));
  if (at.z < 0.5) // with painted edges and a soft end
    return vec4(mix(tar * 0.92, paint, 0.9 * band(inside, 0.0, ${PAINT})),
      smoothstep(-${SHOULDER}.0, -0.4 * ${SHOULDER}.0, inside));
  if (at.z < 1.5) return vec4(tar, 1.0);
  return at.z < 2.5 ? vec4(chequered(at.xy, ${CHEQUER}, 0.4), 1.0) : vec4(accent, 0.75);
}`;

const TINTS: Tints = {
  dark: { asphalt: raw("#2a3138"), paint: raw("#c5ced6"), accent: raw("#3fb6c9") },
  light: { asphalt: raw("#b9bab9"), paint: raw("#ffffff"), accent: raw("#0f8ea1") },
};
const ORDER = -9.7; // on roads, below friction and grid

export function trackLayer(track: TrackTree, relief: Relief | null, ground: number): AsphaltLayer {
  const layer = new AsphaltLayer({ code: CODE, tints: TINTS, order: ORDER }, relief !== null);
  const height = heightOf(relief, ground);
  // the inner part covers edges that cross it, where a track meets itself
  layer.add(trackStrip(track, SHOULDER, 0, height, relief ? ACROSS : 4));
  layer.add(trackStrip(track, -PAINT, 1, height, relief ? ACROSS : 1));
  layer.add(gateQuads(track, height));
  return layer;
}
