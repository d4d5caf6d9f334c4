// The ground: uneven ground as a mesh with grid and contour lines, and the tint of its friction.
import { BufferAttribute, BufferGeometry, type DataTexture, GLSL3, Mesh, RawShaderMaterial } from "three";
import type { Relief } from "../state/scenery";
import type { FrictionImage } from "./friction";
import { gridFor, gridHeight } from "./ground";
import { SUN, SUNLIGHT, shadowUniforms } from "./light";
import { UNDERNEATH } from "./ribbons";
import { raw } from "./skin";
import type { ViewState } from "./view";

const BEYOND = [0.06, 0.25, 0.8, 2.5]; // rings of cells around the grid, in sides of it

/** Values along one axis: those of the grid, and farther and farther ones beyond both ends. */
export function axisOf(first: number, cell: number, count: number): { at: Float64Array; away: Float64Array } {
  const side = cell * (count - 1);
  const before = [...BEYOND].reverse().map((share) => first - share * side);
  const inside = Array.from({ length: count }, (_, k) => first + k * cell);
  const after = BEYOND.map((share) => first + side + share * side);
  const fade = BEYOND.map((_, k) => k / (BEYOND.length - 1)); // 0 to 1, at the outermost ring
  return {
    at: Float64Array.from([...before, ...inside, ...after]),
    away: Float64Array.from([...[...fade].reverse(), ...inside.map(() => 0), ...fade]),
  };
}

/** Vertices (x, y, z and how far outside), unit normals and triangles of uneven ground. */
export function terrainArrays(relief: Relief): { places: Float32Array; normals: Float32Array; index: Uint32Array } {
  const { x, y, cell, columns, rows } = relief.grid;
  const [across, up] = [axisOf(x, cell, columns), axisOf(y, cell, rows)];
  const [wide, high] = [across.at.length, up.at.length];
  const places = new Float32Array(4 * wide * high);
  const normals = new Float32Array(3 * wide * high);
  for (let j = 0; j < high; j++) {
    for (let i = 0; i < wide; i++) {
      const k = j * wide + i;
      const [px, py] = [across.at[i] as number, up.at[j] as number];
      places.set([px, py, relief.heightAt(px, py), Math.max(across.away[i] as number, up.away[j] as number)], 4 * k);
      normals.set(normalAt(relief, px, py, cell), 3 * k);
    }
  }
  return { places, normals, index: triangles(wide, high) };
}

/** From the heights one cell to each side. */
function normalAt(relief: Relief, x: number, y: number, cell: number): [number, number, number] {
  const sx = (relief.heightAt(x + cell, y) - relief.heightAt(x - cell, y)) / (2 * cell);
  const sy = (relief.heightAt(x, y + cell) - relief.heightAt(x, y - cell)) / (2 * cell);
  const up = 1 / Math.hypot(1, sx, sy);
  return [-sx * up, -sy * up, up];
}

function triangles(wide: number, high: number): Uint32Array {
  const index = new Uint32Array(6 * (wide - 1) * (high - 1));
  let at = 0;
  for (let j = 0; j + 1 < high; j++) {
    for (let i = 0; i + 1 < wide; i++) {
      const k = j * wide + i;
      index.set([k, k + 1, k + wide + 1, k, k + wide + 1, k + wide], at);
      at += 6;
    }
  }
  return index;
}

/** Height between contour lines, m: 1, 2 or 5 times a power of ten, about twelve lines over a range. */
export function contourStep(range: number): number {
  const wanted = Math.max(range, 1e-3) / 12;
  const power = 10 ** Math.floor(Math.log10(wanted));
  return power * ([1, 2, 5].find((digit) => digit * power >= wanted) ?? 10);
}

// drawing ------------------------------------------------------------------------------------------------------------

const VERTEX = /* glsl */ `precision highp float;
in vec4 place; // x, y, z, how far outside
in vec3 normal;
uniform mat4 viewMatrix, projectionMatrix;
out vec3 where;
out vec3 facing;
out float away;
void main() {
  where = place.xyz;
  facing = normal;
  away = place.w;
  gl_Position = projectionMatrix * viewMatrix * vec4(where, 1.0);
}`;

/** `tint`: colour and opacity of the friction at a point; none where it is that of the world. */
const TINT = /* glsl */ `
uniform sampler2D grip;
uniform vec4 area; // x, y of a corner, 1 / width, 1 / height
uniform vec3 scale; // friction of a full texel, friction of the world, opacity
vec4 tint(vec2 p) {
  if (scale.z == 0.0) return vec4(0.0);
  float mu = scale.x * texture(grip, (p - area.xy) * area.zw).r;
  float less = clamp((scale.y - mu) / max(scale.y, 0.05), -1.0, 1.0);
  if (abs(less) < 0.02) return vec4(0.0);
  vec3 colour = less > 0.0 ? vec3(0.36, 0.70, 1.0) : vec3(0.93, 0.55, 0.16);
  return vec4(colour, scale.z * (0.25 + 0.75 * abs(less)));
}`;

const FRAGMENT = /* glsl */ `precision highp float;
in vec3 where;
in vec3 facing;
in float away;
uniform vec3 lowColour, highColour, minor, major, background;
uniform vec4 levels; // lowest, range, contour step, brightness of lines
uniform vec2 cells; // fine and coarse grid, m
uniform float fine; // opacity of the fine grid
uniform float lines;
out vec4 shown;
${SUNLIGHT}
${TINT}
float nearLine(float value) {
  float wide = fwidth(value);
  return (1.0 - min(abs(fract(value - 0.5) - 0.5) / max(wide, 1e-6), 1.0)) * (1.0 - smoothstep(0.2, 0.6, wide));
}
float grid(float cell) { return max(nearLine(where.x / cell), nearLine(where.y / cell)); }
void main() {
  vec3 n = normalize(facing);
  vec3 sun = vec3(${SUN.join(", ")});
  float lit = sunlight(where, n);
  vec3 base = mix(lowColour, highColour, clamp((where.z - levels.x) / levels.y, 0.0, 1.0));
  base *= 1.0 - 0.45 * smoothstep(0.02, 0.45, 1.0 - n.z);
  vec4 slick = tint(where.xy);
  base = mix(base, slick.rgb, slick.a);
  vec3 colour = base * (0.42 + 0.72 * max(dot(n, sun), 0.0) * mix(0.45, 1.0, lit));
  if (lines > 0.0) {
    colour = mix(colour, minor, 0.55 * fine * grid(cells.x));
    colour = mix(colour, mix(minor, major, 0.5), 0.7 * grid(cells.y));
    float step = where.z / levels.z;
    float heavy = nearLine(step / 5.0);
    colour = mix(colour, major, levels.w * max(0.55 * nearLine(step), heavy));
  }
  shown = vec4(mix(colour, background, away * away), 1.0);
}`;

const FLAT = /* glsl */ `precision highp float;
in vec3 where;
in vec3 facing;
in float away;
out vec4 shown;
${TINT}
void main() {
  vec4 slick = tint(where.xy);
  shown = vec4(slick.rgb, slick.a * (1.0 - away));
}`;

const COLOURS = {
  dark: { low: raw("#1a242c"), high: raw("#3c4b57"), line: raw("#5b6d7e"), contours: 0.75 },
  light: { low: raw("#e3dfd3"), high: raw("#fffdf8"), line: raw("#a89f8f"), contours: 0.6 },
} as const;

export class Terrain {
  readonly mesh: Mesh<BufferGeometry, RawShaderMaterial>;

  /** `relief` null: level ground, of which only the friction is drawn. */
  constructor(
    private readonly relief: Relief | null,
    height: number,
    friction: FrictionImage | null,
  ) {
    const material = new RawShaderMaterial({
      glslVersion: GLSL3,
      vertexShader: VERTEX,
      fragmentShader: relief ? FRAGMENT : FLAT,
      uniforms: { ...shadowUniforms, ...values(friction) },
      side: 2,
      ...(relief ? { polygonOffset: true, polygonOffsetFactor: 1.5, polygonOffsetUnits: 4 } : LEVEL),
    });
    this.mesh = new Mesh(relief ? unevenGeometry(relief) : levelGeometry(height, friction), material);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = relief ? -10 : -9.5; // sky, ground, grid
  }

  view(view: ViewState, grid: boolean, friction: boolean): void {
    const { skin } = view;
    const { low, high, line, contours } = COLOURS[skin.theme];
    const { cell, fine } = gridFor(gridHeight(view));
    const [lowest, range] = this.relief ? [this.relief.low, this.relief.high - this.relief.low] : [0, 1];
    this.set("lowColour", low);
    this.set("highColour", high);
    this.set("minor", skin.gridMajor);
    this.set("major", line);
    this.set("background", skin.ground);
    this.set("levels", [lowest, Math.max(range, 0.5), contourStep(range), contours]);
    this.set("cells", [cell / 10, cell]);
    this.set("fine", fine);
    this.set("lines", grid ? 1 : 0);
    const scale = this.mesh.material.uniforms["scale"] as { value: number[] };
    scale.value[2] = friction && this.mesh.material.uniforms["grip"]?.value ? 0.62 : 0;
  }

  dispose(): void {
    const grip = this.mesh.material.uniforms["grip"]?.value as DataTexture | null;
    grip?.dispose();
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
  }

  private set(name: string, value: unknown): void {
    (this.mesh.material.uniforms[name] as { value: unknown }).value = value;
  }
}

const LEVEL = { ...UNDERNEATH, depthTest: false, depthWrite: false } as const;
const NAMES = ["lowColour", "highColour", "minor", "major", "background", "levels", "cells", "fine", "lines"];

function values(friction: FrictionImage | null): Record<string, { value: unknown }> {
  const { x = 0, y = 0, width = 1, height = 1 } = friction?.area ?? {};
  return {
    ...Object.fromEntries(NAMES.map((name) => [name, { value: 0 as unknown }])),
    grip: { value: friction?.texture() ?? null },
    area: { value: [x, y, 1 / width, 1 / height] },
    scale: { value: [friction?.most ?? 1, friction?.mu ?? 1, 0] },
  };
}

function unevenGeometry(relief: Relief): BufferGeometry {
  const { places, normals, index } = terrainArrays(relief);
  const geometry = new BufferGeometry();
  geometry.setAttribute("place", new BufferAttribute(places, 4));
  geometry.setAttribute("normal", new BufferAttribute(normals, 3));
  geometry.setIndex(new BufferAttribute(index, 1));
  return geometry;
}

/** The area of the friction, and a margin in which what its edge has fades out. */
function levelGeometry(z: number, friction: FrictionImage | null): BufferGeometry {
  const { x = 0, y = 0, width = 0, height = 0 } = friction?.area ?? {};
  const [across, up] = [axisOf(x, width, 2), axisOf(y, height, 2)];
  const [wide, high] = [across.at.length, up.at.length];
  const places = new Float32Array(4 * wide * high);
  for (let k = 0; k < wide * high; k++) {
    const [i, j] = [k % wide, Math.floor(k / wide)];
    const away = Math.max(across.away[i] as number, up.away[j] as number);
    places.set([across.at[i] as number, up.at[j] as number, z, away], 4 * k);
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("place", new BufferAttribute(places, 4));
  geometry.setAttribute("normal", new BufferAttribute(new Float32Array(3 * wide * high), 3));
  geometry.setIndex(new BufferAttribute(triangles(wide, high), 1));
  return geometry;
}
