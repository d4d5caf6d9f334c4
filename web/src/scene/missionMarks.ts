// A mark for every task, in one draw: a ring with a tick towards its heading; full when it is done, crossed when it
// will not be.
import { BufferAttribute, BufferGeometry, GLSL3, Points, RawShaderMaterial } from "three";
import type { Rgba } from "./ribbons";
import { UNDERNEATH } from "./ribbons";
import type { ViewState } from "./viewState";

const VERTEX = /* glsl */ `precision highp float;
in vec2 place; // m
in vec4 tint;
in vec4 look; // sign; size; the heading as a vector, or nothing
uniform mat4 viewMatrix, projectionMatrix;
uniform vec2 canvas; // px
uniform float height, side;
flat out vec4 colour;
flat out vec2 ahead;
flat out float sign;
flat out float soft;
void main() {
  vec4 p = projectionMatrix * viewMatrix * vec4(place, height, 1.0);
  vec4 q = projectionMatrix * viewMatrix * vec4(place + 0.02 * p.w * look.zw, height, 1.0);
  vec2 way = (q.xy / q.w - p.xy / p.w) * canvas;
  float far = length(way);
  ahead = far > 1e-4 ? way / far : vec2(0.0);
  colour = tint;
  sign = look.x;
  gl_Position = p;
  gl_PointSize = side * look.y;
  soft = 2.0 / gl_PointSize;
}`;

const FRAGMENT = /* glsl */ `precision highp float;
flat in vec4 colour;
flat in vec2 ahead;
flat in float sign;
flat in float soft;
out vec4 shown;
float within(float edge, float value) { return 1.0 - smoothstep(edge - soft, edge + soft, value); }
void main() {
  vec2 v = vec2(2.0, -2.0) * (gl_PointCoord - 0.5);
  float r = length(v);
  float diamond = abs(v.x) + abs(v.y);
  float line = sign > 2.5 ? within(0.1, abs(diamond - 0.62)) : within(0.085, abs(r - 0.5));
  if (sign > 0.5 && sign < 1.5) line = max(line, within(0.34, r));
  if (sign > 1.5 && sign < 2.5) line = max(line, within(0.42, r) * within(0.1, abs(abs(v.x) - abs(v.y)) * 0.7071));
  float along = dot(v, ahead);
  float tick = within(0.1, abs(ahead.x * v.y - ahead.y * v.x)) * step(0.5, along) * within(0.9, along);
  float strength = max(line, tick);
  if (strength < 0.02) discard;
  shown = vec4(colour.rgb, colour.a * strength);
}`;

/** What is in the ring. */
export const Sign = { open: 0, done: 1, crossed: 2, base: 3 } as const;

export interface Mark {
  x: number; // m
  y: number;
  heading: number | null; // rad
  sign: number;
  size: number; // 1: usual
  colour: Rgba;
}

const SIDE_PX = 24;

export class MarkLayer {
  readonly points: Points<BufferGeometry, RawShaderMaterial>;

  constructor() {
    const material = new RawShaderMaterial({
      glslVersion: GLSL3,
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: { canvas: { value: [1, 1] }, height: { value: 0 }, side: { value: SIDE_PX } },
      ...UNDERNEATH,
      depthTest: false,
      depthWrite: false,
    });
    this.points = new Points(new BufferGeometry(), material);
    this.points.frustumCulled = false;
    this.points.renderOrder = -4;
  }

  rebuild(marks: readonly Mark[], height: number): void {
    const { geometry, material } = this.points;
    const places = new Float32Array(marks.flatMap(({ x, y }) => [x, y]));
    const tints = new Uint8Array(marks.flatMap(({ colour }) => [...colour]));
    const looks = new Float32Array(marks.flatMap(({ sign, size, heading }) => [sign, size, ...towards(heading)]));
    geometry.dispose();
    geometry.setAttribute("place", new BufferAttribute(places, 2));
    geometry.setAttribute("tint", new BufferAttribute(tints, 4, true));
    geometry.setAttribute("look", new BufferAttribute(looks, 4));
    geometry.setDrawRange(0, marks.length);
    (material.uniforms["height"] as { value: number }).value = height;
    this.points.visible = marks.length > 0;
  }

  /** Before each drawing. */
  view({ size, ratio, unit }: ViewState): void {
    const { uniforms } = this.points.material;
    (uniforms["canvas"] as { value: number[] }).value = [size.width, size.height];
    (uniforms["side"] as { value: number }).value = SIDE_PX * ratio * unit;
  }

  dispose(): void {
    this.points.geometry.dispose();
    this.points.material.dispose();
  }
}

/** A heading as a vector of length 1; nothing where any will do. */
function towards(heading: number | null): [number, number] {
  return heading === null || !Number.isFinite(heading) ? [0, 0] : [Math.cos(heading), Math.sin(heading)];
}
