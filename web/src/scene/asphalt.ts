// Asphalt on the ground: what roads and tracks share. Meshes, materials and shader code.
import { BufferAttribute, BufferGeometry, GLSL3, type IUniform, Mesh, RawShaderMaterial } from "three";
import type { Relief } from "../state/scenery";
import type { Theme } from "../state/store";
import { SUN, SUNLIGHT, shadowUniforms } from "./light";
import { UNDERNEATH } from "./ribbons";
import type { raw } from "./skin";
import type { ViewState } from "./view";

const LIFT = 0.03; // m above uneven ground

export type Place = readonly [number, number];
export type Height = (x: number, y: number) => number;
export type Tints = Readonly<Record<Theme, Readonly<Record<string, ReturnType<typeof raw>>>>>;

export interface Surface {
  places: Float32Array; // x, y, z
  spots: Float32Array; // 2 or 3 numbers for each place, the shader's `at`
  index: Uint32Array;
}

/** Height of the surface: on the ground, or a little above where it is uneven. */
export function heightOf(relief: Relief | null, ground: number): Height {
  return relief ? (x, y) => relief.heightAt(x, y) + LIFT : () => ground;
}

/** Triangles of a grid of places, row by row. */
export function gridIndex(columns: number, rows: number): Uint32Array {
  const index: number[] = [];
  for (let row = 0; row + 1 < rows; row++) {
    for (let k = 0; k + 1 < columns; k++) {
      const a = row * columns + k;
      index.push(a, a + 1, a + columns, a + 1, a + columns + 1, a + columns);
    }
  }
  return new Uint32Array(index);
}

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
uniform vec3 asphalt, paint;
uniform float shaded; // 1: uneven ground
out vec4 shown;
${SUNLIGHT}
float band(float value, float low, float high) { // covered share of the pixel
  float wide = max(fwidth(value), 1e-5);
  return clamp((min(value + 0.5 * wide, high) - max(value - 0.5 * wide, low)) / wide, 0.0, 1.0);
}
vec3 chequered(vec2 p, float size, float dark) { // grey from afar
  float square = mod(floor(p.x / size) + floor(p.y / size), 2.0);
  float near = 1.0 - smoothstep(0.4 * size, 1.2 * size, max(fwidth(p.x), fwidth(p.y)));
  return mix(asphalt * dark, paint, mix(0.5, square, near));
}
vec4 surface();
void main() {
  vec4 colour = surface();
  float light = shaded > 0.0 ? 0.42 + 0.58 * mix(0.45, 1.0, sunlight(where, vec3(${SUN.join(", ")}))) : 1.0;
  shown = vec4(colour.rgb * light, colour.a);
}
`;

export interface AsphaltLook {
  /** GLSL that defines `vec4 surface()` from `at` (the spot), `where` (m), `asphalt`, `paint`, `band`, `chequered`. */
  code: string;
  tints: Tints; // uniforms of type vec3; `asphalt` and `paint` among them
  order: number; // of rendering
}

/** Surfaces with one look. */
export class AsphaltLayer {
  readonly meshes: Mesh<BufferGeometry, RawShaderMaterial>[] = [];

  constructor(
    private readonly look: AsphaltLook,
    private readonly uneven: boolean,
  ) {}

  /** Add a surface above those before. */
  add(surface: Surface, uniforms: Readonly<Record<string, IUniform>> = {}): void {
    const mesh = new Mesh(geometryOf(surface), this.material(uniforms));
    mesh.frustumCulled = false;
    mesh.renderOrder = this.look.order + 1e-6 * this.meshes.length;
    this.meshes.push(mesh);
  }

  view({ skin }: ViewState, shown: boolean): void {
    for (const { material } of this.meshes) {
      for (const [name, value] of Object.entries(this.look.tints[skin.theme])) {
        Object.assign(material.uniforms[name] as object, { value });
      }
    }
    for (const mesh of this.meshes) mesh.visible = shown;
  }

  dispose(): void {
    for (const { geometry, material } of this.meshes) {
      geometry.dispose();
      material.dispose();
    }
  }

  private material(uniforms: Readonly<Record<string, IUniform>>): RawShaderMaterial {
    const { uneven } = this;
    const { code, tints } = this.look;
    return new RawShaderMaterial({
      glslVersion: GLSL3,
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT + code,
      uniforms: {
        ...shadowUniforms,
        ...Object.fromEntries(Object.keys(tints.dark).map((name) => [name, { value: null }])),
        shaded: { value: uneven ? 1 : 0 },
        ...uniforms,
      },
      side: 2,
      ...UNDERNEATH,
      depthTest: uneven,
      depthWrite: false,
      ...(uneven ? { polygonOffset: true, polygonOffsetFactor: 0.5, polygonOffsetUnits: 1 } : {}),
    });
  }
}

function geometryOf({ places, spots, index }: Surface): BufferGeometry {
  const geometry = new BufferGeometry();
  geometry.setAttribute("place", new BufferAttribute(places, 3));
  geometry.setAttribute("spot", new BufferAttribute(spots, places.length > 0 ? (3 * spots.length) / places.length : 3));
  geometry.setIndex(new BufferAttribute(index, 1));
  return geometry;
}
