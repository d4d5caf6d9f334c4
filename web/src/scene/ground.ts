// Ground grid and sky.
import {
  BufferAttribute,
  BufferGeometry,
  type Color,
  GLSL3,
  Group,
  LineSegments,
  Mesh,
  RawShaderMaterial,
} from "three";
import { bytes, Ribbons, UNDERNEATH } from "./ribbons";
import type { Skin } from "./skin";
import type { ViewState } from "./view";

const VERTEX = /* glsl */ `precision highp float;
in vec2 place; // cells
uniform mat4 viewMatrix, projectionMatrix;
uniform vec2 centre; // m, a corner of a cell
uniform vec2 eye;
uniform float cell, opacity, height;
out float strength;
void main() {
  vec2 p = centre + cell * place;
  gl_Position = projectionMatrix * viewMatrix * vec4(p, 0.0, 1.0);
  float far = length(p - eye);
  // gone before the horizon, where lines would run together into a band
  strength = opacity * clamp(1.0 - far / (cell * 38.0), 0.0, 1.0);
  strength *= clamp(9.0 * height / max(far, 0.01) - 0.15, 0.0, 1.0);
}`;

const FRAGMENT = /* glsl */ `precision mediump float;
in float strength;
uniform vec3 colour;
out vec4 shown;
void main() { shown = vec4(colour, strength); }`;

const REACH = 40; // cells to each side
const PIECES = 8; // per line, so that it can fade

/** Side of the coarse cells in m for an eye height, and the opacity of the fine cells (a tenth). */
export function gridFor(height: number): { cell: number; fine: number } {
  const level = Math.log10(Math.max(Math.abs(height), 0.5) * 0.8);
  const whole = Math.floor(level);
  return { cell: 10 ** (whole + 1), fine: Math.min(1, 1.8 * (1 - level + whole)) };
}

/** Eye height with the usual view angle for the same extent: the top view uses a narrow angle from far up. */
export function gridHeight({ camera, eye }: ViewState): number {
  return (eye[2] * Math.tan((camera.fov * Math.PI) / 360)) / Math.tan((25 * Math.PI) / 180);
}

export class Ground {
  readonly group = new Group();
  private readonly levels: LineSegments<BufferGeometry, RawShaderMaterial>[];
  private readonly axes = new Ribbons(-8, false, UNDERNEATH);

  constructor() {
    const geometry = gridLines();
    this.levels = [0, 1, 2].map(() => gridLevel(geometry));
    this.group.add(...this.levels, this.axes.object);
  }

  view(view: ViewState, shown: boolean): void {
    this.group.visible = shown;
    if (!shown) return;
    const { cell, fine } = gridFor(gridHeight(view));
    const { gridMinor, gridMajor } = view.skin;
    this.level(0, cell / 10, fine, gridMinor, view);
    this.level(1, cell, 1, gridMinor.clone().lerp(gridMajor, 0.35 + 0.65 * fine), view);
    this.level(2, cell * 10, 1, gridMajor, view);
    this.drawAxes(view, cell);
  }

  dispose(): void {
    this.axes.dispose();
    for (const { geometry, material } of this.levels) {
      geometry.dispose();
      material.dispose();
    }
  }

  private level(number: number, cell: number, opacity: number, { r, g, b }: Skin["line"], { eye }: ViewState): void {
    const line = this.levels[number];
    const uniforms = line?.material.uniforms;
    if (!line || !uniforms) return;
    line.visible = opacity > 0.03;
    const set = (name: string, value: unknown): void => {
      (uniforms[name] as { value: unknown }).value = value;
    };
    set("centre", [cell * Math.round(eye[0] / cell), cell * Math.round(eye[1] / cell)]);
    set("eye", [eye[0], eye[1]]);
    set("cell", cell);
    set("opacity", opacity);
    set("height", Math.abs(eye[2]));
    set("colour", [r, g, b]);
  }

  /** Through the origin: x red, y green, as far as the grid. */
  private drawAxes(view: ViewState, cell: number): void {
    const [x, y] = view.eye;
    const reach = cell * REACH;
    const [red, green] = [bytes(view.skin.red), bytes(view.skin.green)];
    const fade = (away: number): number => Math.round(130 * Math.max(0, 1 - Math.abs(away)));
    this.axes.clear();
    for (let k = -PIECES; k < PIECES; k++) {
      const [a, b] = [k / PIECES, (k + 1) / PIECES];
      const [near, far] = [a * Math.abs(a), b * Math.abs(b)]; // shorter pieces near the eye
      const paint = (rgb: readonly number[], at: number) =>
        [rgb[0], rgb[1], rgb[2], fade(at)] as [number, number, number, number];
      this.axes.add([x + near * reach, 0, 0], [x + far * reach, 0, 0], 1.6, paint(red, a), paint(red, b));
      this.axes.add([0, y + near * reach, 0], [0, y + far * reach, 0], 1.6, paint(green, a), paint(green, b));
    }
    this.axes.view(view);
    this.axes.show();
  }
}

function gridLevel(geometry: BufferGeometry): LineSegments<BufferGeometry, RawShaderMaterial> {
  const names = ["centre", "eye", "cell", "opacity", "height", "colour"];
  const material = new RawShaderMaterial({
    glslVersion: GLSL3,
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
    uniforms: Object.fromEntries(names.map((name) => [name, { value: 0 }])),
    ...UNDERNEATH,
    depthTest: false,
    depthWrite: false,
  });
  const lines = new LineSegments(geometry, material);
  lines.frustumCulled = false;
  lines.renderOrder = -9;
  return lines;
}

/** Lines of a square grid around (0, 0) with cells of 1. */
function gridLines(): BufferGeometry {
  const points: number[] = [];
  const step = (2 * REACH) / PIECES;
  for (let k = -REACH; k <= REACH; k++) {
    for (let piece = 0; piece < PIECES; piece++) {
      const [a, b] = [-REACH + piece * step, -REACH + (piece + 1) * step];
      if (Math.hypot(k, Math.min(Math.abs(a), Math.abs(b))) > REACH) continue; // transparent
      points.push(k, a, k, b, a, k, b, k);
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("place", new BufferAttribute(new Float32Array(points), 2));
  geometry.setDrawRange(0, points.length / 2);
  return geometry;
}

// sky ----------------------------------------------------------------------------------------------------------------

const SKY_VERTEX = /* glsl */ `precision highp float;
in vec3 position;
in vec3 paint;
uniform mat4 viewMatrix, projectionMatrix;
out vec3 colour;
void main() {
  vec4 clip = projectionMatrix * vec4(mat3(viewMatrix) * position, 1.0);
  gl_Position = vec4(clip.xy, clip.w, clip.w); // farther than everything
  colour = paint;
}`;

const SKY_FRAGMENT = /* glsl */ `precision mediump float;
in vec3 colour;
out vec4 shown;
void main() { shown = vec4(colour, 1.0); }`;

const SIDES = 24;
/** Elevation of the rings in degrees above the horizon; below the lowest one is plain ground. */
const RINGS = [-12, -5, -1.6, 0, 5, 14, 32, 89.9];

export class Sky {
  readonly object: Mesh<BufferGeometry, RawShaderMaterial>;

  constructor() {
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(places(), 3));
    geometry.setAttribute("paint", new BufferAttribute(new Float32Array(3 * RINGS.length * SIDES), 3));
    geometry.setIndex(corners());
    const shaders = { vertexShader: SKY_VERTEX, fragmentShader: SKY_FRAGMENT };
    const material = new RawShaderMaterial({
      glslVersion: GLSL3,
      ...shaders,
      depthTest: false,
      depthWrite: false,
      side: 2,
    });
    this.object = new Mesh(geometry, material);
    this.object.frustumCulled = false;
    this.object.renderOrder = -10;
  }

  dress(skin: Skin): void {
    const paint = this.object.geometry.getAttribute("paint") as BufferAttribute;
    RINGS.forEach((degrees, ring) => {
      const { r, g, b } = colourAt(degrees, skin);
      for (let k = 0; k < SIDES; k++) paint.setXYZ(ring * SIDES + k, r, g, b);
    });
    paint.needsUpdate = true;
  }

  /** Visible only when looking up. */
  view({ camera, eye }: ViewState): void {
    const half = ((camera.fov / 2) * Math.PI) / 180;
    const down = Math.asin(Math.max(-1, Math.min(1, camera.matrixWorld.elements[10] ?? 0)));
    const corner = Math.atan(Math.tan(half) * Math.hypot(1, camera.aspect));
    this.object.visible = eye[2] < 0 || corner - down > (-12 * Math.PI) / 180;
  }

  dispose(): void {
    this.object.geometry.dispose();
    this.object.material.dispose();
  }
}

/**
 * Ground below, haze at the horizon, sky above. Vertex colours: a full-screen shader would dominate the cost in
 * software rendering.
 */
function colourAt(degrees: number, { ground, skyLow, skyTop }: Skin): Color {
  if (degrees <= 0) return ground.clone().lerp(skyLow, (1 + degrees / 12) ** 2);
  return skyLow.clone().lerp(skyTop, Math.min(1, degrees / 40) ** 0.6);
}

function places(): Float32Array {
  const positions: number[] = [];
  for (const degrees of RINGS) {
    const up = (degrees * Math.PI) / 180;
    for (let k = 0; k < SIDES; k++) {
      const around = (2 * Math.PI * k) / SIDES;
      positions.push(100 * Math.cos(up) * Math.cos(around), 100 * Math.cos(up) * Math.sin(around), 100 * Math.sin(up));
    }
  }
  return new Float32Array(positions);
}

function corners(): number[] {
  const index: number[] = [];
  for (let ring = 0; ring + 1 < RINGS.length; ring++) {
    for (let k = 0; k < SIDES; k++) {
      const [a, b] = [ring * SIDES + k, ring * SIDES + ((k + 1) % SIDES)];
      index.push(a, b, a + SIDES, b, b + SIDES, a + SIDES);
    }
  }
  return index;
}
