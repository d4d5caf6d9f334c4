// Roads: a strip of asphalt along a line, with lines at its edges and, on a circuit, a start line; draped over hills.
import { BufferAttribute, BufferGeometry, GLSL3, Mesh, RawShaderMaterial } from "three";
import type { Relief } from "../state/scenery";
import type { RoadTree } from "../wire/schema";
import { SUN, SUNLIGHT, shadowUniforms } from "./light";
import { UNDERNEATH } from "./ribbons";
import { raw } from "./skin";
import type { ViewState } from "./view";

const LIFT = 0.03; // m above uneven ground

interface Strip {
  places: Float32Array; // x, y, z
  spots: Float32Array; // m to the left of the middle, m along
  index: Uint32Array;
}

/** Vertices of a road; at most `piece` m apart on uneven ground, where they have its height. */
export function stripOf(
  { points, width, closed }: RoadTree,
  height: (x: number, y: number) => number,
  piece: number,
): Strip {
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
  return { places, spots, index: cells(columns, line.length) };
}

type Place = readonly [number, number];

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
  const [one, two] = [unit(a, b), unit(b, c)];
  const [x, y] = [one[0] + two[0], one[1] + two[1]];
  const [first, last] = [Math.hypot(...one), Math.hypot(...two)];
  if (first === 0 || last === 0) return first === 0 ? two : one;
  const square = Math.max(x * x + y * y, 1); // a hairpin of 120 degrees or more is not sharpened
  return [(2 * x) / square, (2 * y) / square];
}

function cells(columns: number, rows: number): Uint32Array {
  const index: number[] = [];
  for (let row = 0; row + 1 < rows; row++) {
    for (let k = 0; k + 1 < columns; k++) {
      const a = row * columns + k;
      index.push(a, a + 1, a + columns, a + 1, a + columns + 1, a + columns);
    }
  }
  return new Uint32Array(index);
}

// drawing ------------------------------------------------------------------------------------------------------------

const VERTEX = /* glsl */ `precision highp float;
in vec3 place;
in vec2 spot;
uniform mat4 viewMatrix, projectionMatrix;
out vec3 where;
out vec2 at;
void main() {
  where = place;
  at = spot;
  gl_Position = projectionMatrix * viewMatrix * vec4(place, 1.0);
}`;

const FRAGMENT = /* glsl */ `precision highp float;
in vec3 where;
in vec2 at;
uniform vec3 asphalt, paint;
uniform vec3 road; // width, 1: with a start line, opacity
uniform float shaded; // 1: uneven ground
out vec4 shown;
${SUNLIGHT}
float band(float value, float low, float high) { // covered share of the pixel
  float wide = max(fwidth(value), 1e-5);
  return clamp((min(value + 0.5 * wide, high) - max(value - 0.5 * wide, low)) / wide, 0.0, 1.0);
}
void main() {
  float edge = band(0.5 * road.x - abs(at.x), 0.1, 0.25);
  float near = 1.0 - smoothstep(0.3, 0.9, max(fwidth(at.x), fwidth(at.y)));
  float square = mod(floor(at.x / 0.75) + floor(at.y / 0.75), 2.0);
  float start = road.y * band(at.y, 0.0, 1.5);
  vec3 colour = mix(asphalt, paint, 0.85 * edge);
  colour = mix(colour, mix(asphalt * 0.5, paint, mix(0.5, square, near)), start);
  float light = shaded > 0.0 ? 0.42 + 0.58 * mix(0.45, 1.0, sunlight(where, vec3(${SUN.join(", ")}))) : 1.0;
  shown = vec4(colour * light, road.z);
}`;

const COLOURS = {
  dark: { asphalt: raw("#272e35"), paint: raw("#9aa7b3") },
  light: { asphalt: raw("#c4c4c2"), paint: raw("#fcfcfa") },
} as const;

export class RoadLayer {
  readonly meshes: readonly Mesh<BufferGeometry, RawShaderMaterial>[];

  constructor(roads: readonly RoadTree[], relief: Relief | null, height: number) {
    const heightAt = relief ? (x: number, y: number) => relief.heightAt(x, y) + LIFT : () => height;
    const piece = relief ? Math.max(relief.grid.cell / 2, 1) : Number.POSITIVE_INFINITY;
    this.meshes = roads.map((road) => {
      const mesh = new Mesh(geometryOf(stripOf(road, heightAt, piece)), materialOf(road, relief !== null));
      mesh.frustumCulled = false;
      mesh.renderOrder = -9.8; // on the ground, below friction and grid
      return mesh;
    });
  }

  view({ skin }: ViewState, shown: boolean): void {
    const { asphalt, paint } = COLOURS[skin.theme];
    for (const mesh of this.meshes) {
      const { uniforms } = mesh.material;
      mesh.visible = shown;
      Object.assign(uniforms["asphalt"] as object, { value: asphalt });
      Object.assign(uniforms["paint"] as object, { value: paint });
    }
  }

  dispose(): void {
    for (const { geometry, material } of this.meshes) {
      geometry.dispose();
      material.dispose();
    }
  }
}

function geometryOf({ places, spots, index }: Strip): BufferGeometry {
  const geometry = new BufferGeometry();
  geometry.setAttribute("place", new BufferAttribute(places, 3));
  geometry.setAttribute("spot", new BufferAttribute(spots, 2));
  geometry.setIndex(new BufferAttribute(index, 1));
  return geometry;
}

function materialOf({ width, closed }: RoadTree, uneven: boolean): RawShaderMaterial {
  return new RawShaderMaterial({
    glslVersion: GLSL3,
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
    uniforms: {
      ...shadowUniforms,
      asphalt: { value: null },
      paint: { value: null },
      road: { value: [width, closed ? 1 : 0, uneven ? 0.8 : 1] }, // on hills the friction below shows through
      shaded: { value: uneven ? 1 : 0 },
    },
    side: 2,
    ...UNDERNEATH,
    depthTest: uneven,
    depthWrite: false,
    ...(uneven ? { polygonOffset: true, polygonOffsetFactor: 0.5, polygonOffsetUnits: 1 } : {}),
  });
}
