// All vehicles that are too small on the screen for a shape, as one draw of points with a heading glyph.
import { BufferAttribute, BufferGeometry, DynamicDrawUsage, GLSL3, Group, type IUniform, Points,
  RawShaderMaterial } from "three";
import { NOWHERE, POSE } from "./glsl";

const VERTEX = /* glsl */ `${POSE}
uniform float focal; // canvas px
uniform float least; // canvas px
uniform float glyphs; // canvas px from which on the heading can be seen
uniform bool glyph;
flat out vec3 colour;
flat out vec2 ahead;
flat out float side;

in vec3 place; // already between both frames: fetching from textures costs a software renderer most of the time
in vec4 tint;

void main() {
  gl_PointSize = 1.0;
  if (tint.a == 0.0 || any(equal(floatBitsToUint(place) & 0x7f800000u, uvec3(0x7f800000u)))) {
    gl_Position = ${NOWHERE};
    return;
  }
  vec4 eye = viewMatrix * vec4(place, 1.0);
  gl_Position = projectionMatrix * eye;
  colour = tint.rgb * (0.8 + 0.2 * fract(0.618034 * float(gl_VertexID & 1023))); // neighbours can be told apart
  side = clamp(25.5 * tint.a * focal / max(-eye.z, 0.1), least, 40.0);
  gl_PointSize = side;
  if ((side >= glyphs) != glyph) gl_Position = ${NOWHERE};
  ahead = vec2(0.0);
  if (glyph) {
    vec3 nose = mat3(viewMatrix) * turned(turnOf(texelFetch(toPoses, cellOf(gl_VertexID), 0).w), vec3(1.0, 0.0, 0.0));
    ahead = nose.xy - eye.xy / eye.z * nose.z;
  }
}`;

// Without any discard, which would double the cost of a frame with 10,000 points.
const SQUARE = /* glsl */ `precision mediump float;
flat in vec3 colour;
uniform float opacity;
uniform float strength;
out vec4 shown;
void main() { shown = vec4(colour, opacity * strength); }`;

const GLYPH = /* glsl */ `precision mediump float;
flat in vec3 colour;
flat in vec2 ahead;
uniform float opacity;
uniform float strength;
out vec4 shown;

void main() {
  vec2 p = vec2(2.0, -2.0) * (gl_PointCoord - 0.5);
  float far = length(ahead);
  if (far < 0.2) {
    if (dot(p, p) > 0.7) discard;
  } else {
    vec2 d = ahead / far;
    float along = dot(p, d);
    float across = abs(d.x * p.y - d.y * p.x);
    if (across > 0.44 * (0.95 - along) || along < -0.9 + 0.9 * max(0.0, 0.4 - across)) discard;
  }
  shown = vec4(colour, opacity * strength);
}`;

export class CrowdPoints {
  readonly group = new Group();
  private readonly geometry = new BufferGeometry();
  private readonly squares: Points<BufferGeometry, RawShaderMaterial>;
  private readonly darts: Points<BufferGeometry, RawShaderMaterial>;

  constructor(uniforms: Record<string, IUniform>, ghost: boolean) {
    this.squares = this.points(uniforms, ghost, false);
    this.darts = this.points(uniforms, ghost, true);
    this.group.add(this.squares, this.darts);
  }

  /**
   * Draw rows at their positions; `bytes` are colour and size of each, new ones when `fresh`; `darts`: some are
   * large.
   */
  show(count: number, positions: Float32Array, bytes: Uint8Array, fresh: boolean, darts: boolean): void {
    this.group.visible = count > 0;
    this.darts.visible = darts;
    this.geometry.setDrawRange(0, count);
    this.send("place", positions, 3, true);
    this.send("tint", bytes, 4, fresh);
  }

  hide(): void {
    this.group.visible = false;
  }

  private send(name: string, values: Float32Array | Uint8Array, items: number, fresh: boolean): void {
    const { geometry } = this;
    const known = geometry.getAttribute(name) as BufferAttribute | undefined;
    if (known?.array === values) {
      if (fresh) known.needsUpdate = true;
      return;
    }
    geometry.dispose(); // of another length: new buffers
    geometry.setAttribute(name, new BufferAttribute(values, items, items === 4).setUsage(DynamicDrawUsage));
  }

  dispose(): void {
    this.geometry.dispose();
    this.squares.material.dispose();
    this.darts.material.dispose();
  }

  private points(uniforms: Record<string, IUniform>, ghost: boolean, glyph: boolean): Points<BufferGeometry,
    RawShaderMaterial> {
    const material = new RawShaderMaterial({
      glslVersion: GLSL3,
      vertexShader: VERTEX,
      fragmentShader: glyph ? GLYPH : SQUARE,
      uniforms: { ...uniforms, opacity: { value: ghost ? 0.45 : 1 }, glyph: { value: glyph } },
      transparent: ghost,
    });
    const object = new Points(this.geometry, material);
    object.frustumCulled = false;
    object.renderOrder = 2;
    return object;
  }
}
