// The track: asphalt between its boundaries with painted edges, gates, and cones by colour; draped over hills.
import { BufferAttribute, BufferGeometry, GLSL3, Mesh, RawShaderMaterial } from "three";
import type { Relief } from "../state/scenery";
import type { ObstacleTree, TrackTree } from "../wire/schema";
import { SUN, SUNLIGHT, shadowUniforms } from "./light";
import { UNDERNEATH } from "./ribbons";
import { raw } from "./skin";
import type { ViewState } from "./view";

const SHOULDER = 1; // m of asphalt beyond the boundaries
const PAINT = 0.12; // m, width of the painted edges
const LIFT = 0.03; // m above uneven ground
const ACROSS = 6; // cells across on uneven ground
const CHEQUER = 0.5; // m, squares of the start line
const START = 1; // m, thickness of the start line
const SECTOR = 0.2; // m, of the other gates

/** Cones of Formula Student: radius of the base and height, m. */
const CONE_SIZES = { small: [0.114, 0.325], big_orange: [0.1425, 0.505] } as const;

export interface Surface {
  places: Float32Array; // x, y, z
  spots: Float32Array; // m inside the left and the right boundary, kind: 0 edge, 1 inner part, 2 start line, 3 gate
  index: Uint32Array;
}

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
  return { places: new Float32Array(places), spots: new Float32Array(spots), index: cells(across, rows) };
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
  const found: Record<string, ObstacleTree[]> = {};
  if (movable) return found;
  cones.forEach(([x, y], k) => {
    const colour = colour_names[colours[k] ?? 0] ?? "unknown";
    const [radius, tall] = colour === "big_orange" ? CONE_SIZES.big_orange : CONE_SIZES.small;
    const base = height(x, y);
    const cone = { name: colour, kind: "cone", x, y, base, top: base + tall, heading: 0, radius } as const;
    found[colour] = [...(found[colour] ?? []), { ...cone, length: null, width: null }];
  });
  return found;
}

export type ColouredCones = Readonly<Record<string, readonly ObstacleTree[]>>;
type Place = readonly [number, number];
type Height = (x: number, y: number) => number;
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

function cells(across: number, rows: number): Uint32Array {
  const index: number[] = [];
  for (let row = 0; row + 1 < rows; row++) {
    for (let i = 0; i < across; i++) {
      const a = row * (across + 1) + i;
      index.push(a, a + 1, a + across + 1, a + 1, a + across + 2, a + across + 1);
    }
  }
  return new Uint32Array(index);
}

// drawing ------------------------------------------------------------------------------------------------------------

const VERTEX = /* glsl */ `precision highp float;
in vec3 place;
in vec3 spot;
uniform mat4 viewMatrix, projectionMatrix;
out vec3 where;
out vec3 at;
void main() {
  where = place;
  at = spot;
  gl_Position = projectionMatrix * viewMatrix * vec4(place, 1.0);
}`;

const FRAGMENT = /* glsl */ `precision highp float;
in vec3 where;
in vec3 at;
uniform vec3 asphalt, paint, accent;
uniform float shaded; // 1: uneven ground
out vec4 shown;
${SUNLIGHT}
float band(float value, float low, float high) { // covered share of the pixel
  float wide = max(fwidth(value), 1e-5);
  return clamp((min(value + 0.5 * wide, high) - max(value - 0.5 * wide, low)) / wide, 0.0, 1.0);
}
float grain(vec2 p) { return fract(sin(dot(floor(p * 14.0), vec2(12.9898, 78.233))) * 43758.5453); }
void main() {
  float inside = min(at.x, at.y);
  float near = 1.0 - smoothstep(0.02, 0.12, max(fwidth(where.x), fwidth(where.y)));
  vec3 tar = asphalt * (1.0 + 0.07 * near * (grain(where.xy) - 0.5));
  vec4 result = vec4(tar, 1.0);
  if (at.z < 0.5) { // with painted edges and a soft end
    result.rgb = mix(tar * 0.92, paint, 0.9 * band(inside, 0.0, ${PAINT}));
    result.a = smoothstep(-${SHOULDER}.0, -0.4 * ${SHOULDER}.0, inside);
  } else if (at.z > 1.5 && at.z < 2.5) { // start line
    float square = mod(floor(at.x / ${CHEQUER}) + floor(at.y / ${CHEQUER}), 2.0);
    float clear = 1.0 - smoothstep(0.2, 0.6, max(fwidth(at.x), fwidth(at.y)));
    result.rgb = mix(asphalt * 0.4, paint, mix(0.5, square, clear));
  } else if (at.z > 2.5) {
    result = vec4(accent, 0.75);
  }
  float light = shaded > 0.0 ? 0.42 + 0.58 * mix(0.45, 1.0, sunlight(where, vec3(${SUN.join(", ")}))) : 1.0;
  shown = vec4(result.rgb * light, result.a);
}`;

const COLOURS = {
  dark: { asphalt: raw("#2a3138"), paint: raw("#c5ced6"), accent: raw("#3fb6c9") },
  light: { asphalt: raw("#b9bab9"), paint: raw("#ffffff"), accent: raw("#0f8ea1") },
} as const;

export class TrackLayer {
  readonly meshes: readonly Mesh<BufferGeometry, RawShaderMaterial>[];

  constructor(track: TrackTree, relief: Relief | null, ground: number) {
    const height = relief ? (x: number, y: number) => relief.heightAt(x, y) + LIFT : () => ground;
    const across = relief ? ACROSS : 1;
    // the inner part covers edges that cross it, where a track meets itself
    const edge = trackStrip(track, SHOULDER, 0, height, relief ? ACROSS : 4);
    const surfaces = [edge, trackStrip(track, -PAINT, 1, height, across), gateQuads(track, height)];
    this.meshes = surfaces.map((surface, k) => {
      const mesh = new Mesh(geometryOf(surface), materialOf(relief !== null));
      mesh.frustumCulled = false;
      mesh.renderOrder = -9.7 + 0.01 * k; // on roads, below friction and grid
      return mesh;
    });
  }

  view({ skin }: ViewState, shown: boolean): void {
    for (const mesh of this.meshes) {
      mesh.visible = shown;
      for (const [name, value] of Object.entries(COLOURS[skin.theme])) {
        Object.assign(mesh.material.uniforms[name] as object, { value });
      }
    }
  }

  dispose(): void {
    for (const { geometry, material } of this.meshes) {
      geometry.dispose();
      material.dispose();
    }
  }
}

function geometryOf({ places, spots, index }: Surface): BufferGeometry {
  const geometry = new BufferGeometry();
  geometry.setAttribute("place", new BufferAttribute(places, 3));
  geometry.setAttribute("spot", new BufferAttribute(spots, 3));
  geometry.setIndex(new BufferAttribute(index, 1));
  return geometry;
}

function materialOf(uneven: boolean): RawShaderMaterial {
  return new RawShaderMaterial({
    glslVersion: GLSL3,
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
    uniforms: {
      ...shadowUniforms,
      asphalt: { value: null },
      paint: { value: null },
      accent: { value: null },
      shaded: { value: uneven ? 1 : 0 },
    },
    side: 2,
    ...UNDERNEATH,
    depthTest: uneven,
    depthWrite: false,
    ...(uneven ? { polygonOffset: true, polygonOffsetFactor: 0.5, polygonOffsetUnits: 1 } : {}),
  });
}
