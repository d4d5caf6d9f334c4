// Lines of any width in one draw: each segment is a rectangle made on the graphics card. WebGL's own lines are 1 px
// thin.
import {
  BufferAttribute,
  CustomBlending,
  DynamicDrawUsage,
  GLSL3,
  InstancedBufferGeometry,
  InstancedInterleavedBuffer,
  InterleavedBufferAttribute,
  Mesh,
  OneFactor,
  OneMinusSrcAlphaFactor,
  RawShaderMaterial,
  SrcAlphaFactor,
} from "three";
import type { ViewState } from "./viewState";

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

/** Translucent, but drawn before what is solid: three.js draws what it knows to be transparent last. */
export const UNDERNEATH = {
  transparent: false,
  blending: CustomBlending,
  blendSrc: SrcAlphaFactor,
  blendDst: OneMinusSrcAlphaFactor,
  blendSrcAlpha: OneFactor, // the canvas itself stays opaque
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

  /** A segment; the width is px, or m when it is negative. */
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

  /** Send what was added since `clear`. */
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

  /** Before each drawing. */
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
    geometry.dispose(); // buffers of another length are new ones
    geometry.setAttribute("head", new InterleavedBufferAttribute(places, 4, 0));
    geometry.setAttribute("tail", new InterleavedBufferAttribute(places, 4, 4));
    geometry.setAttribute("headColour", new InterleavedBufferAttribute(paints, 4, 0, true));
    geometry.setAttribute("tailColour", new InterleavedBufferAttribute(paints, 4, 4, true));
  }
}
