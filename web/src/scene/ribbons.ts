// Lines of any width, and rings around vehicles.
import {
  BufferAttribute,
  BufferGeometry,
  type Color,
  CustomBlending,
  DynamicDrawUsage,
  GLSL3,
  InstancedBufferGeometry,
  InstancedInterleavedBuffer,
  InterleavedBufferAttribute,
  Mesh,
  OneFactor,
  OneMinusSrcAlphaFactor,
  Points,
  RawShaderMaterial,
  SrcAlphaFactor,
} from "three";
import type { ViewState } from "./view";

const VERTEX = /* glsl */ `precision highp float;
in vec2 corner; // 0 or 1 along, -1 or 1 across
in vec4 head; // x, y, z, width: px, or metres when negative
in vec4 tail;
in vec4 headColour;
in vec4 tailColour;
uniform mat4 modelMatrix;
uniform mat4 viewMatrix;
uniform mat4 projectionMatrix;
uniform vec2 canvas; // px
uniform float ratio;
uniform float focal;
out vec4 colour;

void main() {
  vec4 a = viewMatrix * modelMatrix * vec4(head.xyz, 1.0);
  vec4 b = viewMatrix * modelMatrix * vec4(tail.xyz, 1.0);
  const float near = -0.05;
  if (a.z > near && b.z > near) {
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    return;
  }
  if (a.z > near) a = mix(a, b, (near - a.z) / (b.z - a.z));
  else if (b.z > near) b = mix(b, a, (near - b.z) / (a.z - b.z));
  vec4 p = projectionMatrix * a;
  vec4 q = projectionMatrix * b;
  vec2 way = (q.xy / q.w - p.xy / p.w) * canvas;
  float far = length(way);
  vec2 side = far > 1e-6 ? vec2(-way.y, way.x) / far : vec2(0.0, 1.0);
  vec4 here = corner.x < 0.5 ? p : q;
  float wide = head.w >= 0.0 ? head.w * ratio : max(-head.w * focal / here.w, 1.2 * ratio);
  gl_Position = here + vec4(corner.y * side * wide / canvas * here.w, 0.0, 0.0);
  colour = corner.x < 0.5 ? headColour : tailColour;
}`;

const FRAGMENT = /* glsl */ `precision mediump float;
in vec4 colour;
out vec4 shown;
void main() { shown = colour; }`;

/** Translucent, but drawn before solid objects: three.js would draw transparent materials last. */
export const UNDERNEATH = {
  transparent: false,
  blending: CustomBlending,
  blendSrc: SrcAlphaFactor,
  blendDst: OneMinusSrcAlphaFactor,
  blendSrcAlpha: OneFactor, // the canvas stays opaque
} as const;

/** Red, green, blue, opacity in 0 to 255. */
export type Rgba = readonly [number, number, number, number];

export class Ribbons {
  readonly object: Mesh<InstancedBufferGeometry, RawShaderMaterial>;
  private ends = new Float32Array(0);
  private colours = new Uint8Array(0);
  private used = 0;

  constructor(renderOrder: number, depthTest = true, blending: Partial<typeof UNDERNEATH> = {}) {
    const geometry = new InstancedBufferGeometry();
    geometry.setAttribute("corner", new BufferAttribute(new Float32Array([0, -1, 1, -1, 0, 1, 1, 1]), 2));
    geometry.setIndex([0, 1, 2, 2, 1, 3]);
    const material = new RawShaderMaterial({
      glslVersion: GLSL3,
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: { canvas: { value: [1, 1] }, ratio: { value: 1 }, focal: { value: 1 } },
      transparent: true,
      ...blending,
      depthWrite: false,
      depthTest,
      side: 2,
    });
    this.object = new Mesh(geometry, material);
    this.object.frustumCulled = false;
    this.object.renderOrder = renderOrder;
    this.grow(64);
  }

  get count(): number {
    return this.used;
  }

  clear(): void {
    this.used = 0;
  }

  /** Add a segment; width in px, or in m if negative. */
  add(a: ArrayLike<number>, b: ArrayLike<number>, width: number, from: Rgba, to: Rgba = from): void {
    if (8 * (this.used + 1) > this.ends.length) this.grow(2 * this.used);
    const k = 8 * this.used++;
    const { ends, colours } = this;
    for (let i = 0; i < 3; i++) {
      ends[k + i] = a[i] as number;
      ends[k + 4 + i] = b[i] as number;
    }
    ends[k + 3] = width;
    for (let i = 0; i < 4; i++) {
      colours[k + i] = from[i] as number;
      colours[k + 4 + i] = to[i] as number;
    }
  }

  /** Upload what was added since `clear`. */
  show(): void {
    const { geometry } = this.object;
    this.object.visible = this.used > 0;
    geometry.instanceCount = this.used;
    for (const name of ["head", "headColour"]) {
      const buffer = (geometry.getAttribute(name) as InterleavedBufferAttribute).data;
      buffer.clearUpdateRanges();
      buffer.addUpdateRange(0, 8 * this.used);
      buffer.needsUpdate = true;
    }
  }

  /** Called before each drawing. */
  view({ size, ratio, unit, focal }: ViewState): void {
    const { uniforms } = this.object.material;
    (uniforms["canvas"] as { value: number[] }).value = [size.width * ratio, size.height * ratio];
    (uniforms["ratio"] as { value: number }).value = ratio * unit;
    (uniforms["focal"] as { value: number }).value = focal * ratio;
  }

  dispose(): void {
    this.object.geometry.dispose();
    this.object.material.dispose();
  }

  private grow(count: number): void {
    const ends = new Float32Array(8 * count);
    const colours = new Uint8Array(8 * count);
    ends.set(this.ends);
    colours.set(this.colours);
    [this.ends, this.colours] = [ends, colours];
    const { geometry } = this.object;
    const places = new InstancedInterleavedBuffer(ends, 8).setUsage(DynamicDrawUsage);
    const paints = new InstancedInterleavedBuffer(colours, 8).setUsage(DynamicDrawUsage);
    geometry.dispose(); // buffers cannot be resized
    geometry.setAttribute("head", new InterleavedBufferAttribute(places, 4, 0));
    geometry.setAttribute("tail", new InterleavedBufferAttribute(places, 4, 4));
    geometry.setAttribute("headColour", new InterleavedBufferAttribute(paints, 4, 0, true));
    geometry.setAttribute("tailColour", new InterleavedBufferAttribute(paints, 4, 4, true));
  }
}

// rings --------------------------------------------------------------------------------------------------------------

const FLAT = 48; // maximum number of rings made of segments
const SIDES = 40;
const LEAST_PX = 13; // radius

const RING_VERTEX = /* glsl */ `precision highp float;
in vec3 place;
uniform mat4 viewMatrix, projectionMatrix;
uniform float side;
void main() {
  gl_Position = projectionMatrix * viewMatrix * vec4(place, 1.0);
  gl_PointSize = side;
}`;

const RING_FRAGMENT = /* glsl */ `precision mediump float;
uniform vec3 colour;
out vec4 shown;
void main() {
  float r = length(gl_PointCoord - 0.5);
  if (r > 0.5 || r < 0.34) discard;
  shown = vec4(colour, 0.9);
}`;

export interface Ringed {
  position: readonly number[];
  size: number; // m
  kind: "selected" | "hovered" | "focus";
}

export class Rings {
  readonly ribbons = new Ribbons(7, false);
  readonly points: Points<BufferGeometry, RawShaderMaterial>;
  private places = new Float32Array(0);

  constructor() {
    const material = new RawShaderMaterial({
      glslVersion: GLSL3,
      vertexShader: RING_VERTEX,
      fragmentShader: RING_FRAGMENT,
      uniforms: { side: { value: 12 }, colour: { value: [1, 1, 1] } },
      transparent: true,
      depthTest: false,
    });
    this.points = new Points(new BufferGeometry(), material);
    this.points.frustumCulled = false;
    this.points.renderOrder = 7;
  }

  update(view: ViewState, ringed: readonly Ringed[]): void {
    const flat = ringed.length <= FLAT ? ringed : ringed.filter(({ kind }) => kind !== "selected");
    this.ribbons.clear();
    for (const outline of flat) this.ring(outline, view);
    this.ribbons.view(view);
    this.ribbons.show();
    this.showPoints(ringed.length <= FLAT ? [] : ringed, view);
  }

  dispose(): void {
    this.ribbons.dispose();
    this.points.geometry.dispose();
    this.points.material.dispose();
  }

  private ring({ position, size, kind }: Ringed, view: ViewState): void {
    const [x = 0, y = 0, z = 0] = position;
    const far = Math.hypot(x - view.eye[0], y - view.eye[1], z - view.eye[2]);
    const radius = Math.max(0.68 * size, (LEAST_PX * view.unit * far) / view.focal);
    const colour = bytes(kind === "hovered" ? view.skin.text : view.skin.accent, kind === "hovered" ? 150 : 235);
    const width = kind === "focus" ? 2.4 : 1.6;
    const at = (k: number): number[] => {
      const angle = (2 * Math.PI * k) / SIDES;
      return [x + radius * Math.cos(angle), y + radius * Math.sin(angle), z + 0.03];
    };
    for (let k = 0; k < SIDES; k++) this.ribbons.add(at(k), at(k + 1), width, colour);
  }

  private showPoints(ringed: readonly Ringed[], view: ViewState): void {
    const { geometry, material } = this.points;
    this.points.visible = ringed.length > 0;
    if (ringed.length === 0) return;
    if (this.places.length < 3 * ringed.length) {
      this.places = new Float32Array(6 * ringed.length);
      geometry.dispose();
      geometry.setAttribute("place", new BufferAttribute(this.places, 3).setUsage(DynamicDrawUsage));
    }
    ringed.forEach(({ position }, k) => this.places.set(position, 3 * k));
    (geometry.getAttribute("place") as BufferAttribute).needsUpdate = true;
    geometry.setDrawRange(0, ringed.length);
    const { r, g, b } = view.skin.accent;
    (material.uniforms["colour"] as { value: number[] }).value = [r, g, b];
    (material.uniforms["side"] as { value: number }).value = (ringed.length > 2000 ? 8 : 14) * view.ratio * view.unit;
  }
}

export function bytes({ r, g, b }: Color, opacity = 255): Rgba {
  return [Math.round(255 * r), Math.round(255 * g), Math.round(255 * b), opacity];
}
