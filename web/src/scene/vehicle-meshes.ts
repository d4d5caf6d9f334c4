// Instanced draws of vehicles: points, meshes and heading lines that read poses from textures.
import {
  BufferAttribute,
  BufferGeometry,
  DoubleSide,
  DynamicDrawUsage,
  FrontSide,
  GLSL3,
  Group,
  InstancedBufferAttribute,
  InstancedBufferGeometry,
  type IUniform,
  LineSegments,
  Mesh,
  Points,
  RawShaderMaterial,
} from "three";
import { CASTS, SUN, SUNLIGHT, shadowUniforms } from "./light";

export const ROW_WIDTH = 1024; // texels per line of all per-row textures
export const PROP = 1; // dm: the size of a point that is a prop, and may be smaller than other points

const POSE = /* glsl */ `
precision highp float;
precision highp int;
precision highp usampler2D;
uniform usampler2D fromPoses;
uniform usampler2D toPoses;
uniform sampler2D tints;
uniform float mixing;
uniform mat4 viewMatrix;
uniform mat4 projectionMatrix;

ivec2 cellOf(int row) { return ivec2(row & ${ROW_WIDTH - 1}, row >> 10); }

vec4 turnOf(uint word) {
  vec3 o = (vec3(uvec3(word >> 20u, word >> 10u, word) & 1023u) / 511.0 - 1.0) * 0.70710678;
  float l = sqrt(max(0.0, 1.0 - dot(o, o)));
  uint largest = word >> 30u;
  if (largest == 0u) return vec4(l, o);
  if (largest == 1u) return vec4(o.x, l, o.yz);
  if (largest == 2u) return vec4(o.xy, l, o.z);
  return vec4(o, l);
}

vec4 turnBetween(uint a, uint b) {
  vec4 p = turnOf(a);
  vec4 q = turnOf(b);
  return normalize(mix(p, dot(p, q) < 0.0 ? -q : q, mixing));
}

// by its bits: compilers may assume that there is no NaN
bool nowhere(uvec4 pose) {
  return any(equal(pose.xyz & 0x7f800000u, uvec3(0x7f800000u)));
}

vec3 turned(vec4 q, vec3 v) { return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v); }
`;

const NOWHERE = "vec4(2.0, 2.0, 2.0, 1.0)";

// heading lines ------------------------------------------------------------------------------------------------------

const HEADING_VERTEX = /* glsl */ `${POSE}
uniform float focal;
flat out vec3 colour;

void main() {
  int row = gl_VertexID >> 1;
  uvec4 a = texelFetch(fromPoses, cellOf(row), 0);
  uvec4 b = texelFetch(toPoses, cellOf(row), 0);
  if (nowhere(a) || nowhere(b)) {
    gl_Position = ${NOWHERE};
    return;
  }
  vec3 middle = mix(uintBitsToFloat(a.xyz), uintBitsToFloat(b.xyz), mixing);
  float depth = max(-(viewMatrix * vec4(middle, 1.0)).z, 0.01);
  float reach = max(2.5, 16.0 * depth / focal) * float(gl_VertexID & 1);
  vec3 nose = turned(turnBetween(a.w, b.w), vec3(1.0, 0.0, 0.0));
  gl_Position = projectionMatrix * viewMatrix * vec4(middle + reach * nose, 1.0);
  colour = mix(texelFetch(tints, cellOf(row), 0).rgb, vec3(1.0), 0.15);
}`;

const FRAGMENT = /* glsl */ `precision mediump float;
flat in vec3 colour;
out vec4 shown;
void main() { shown = vec4(colour, 1.0); }`;

export class HeadingLines {
  readonly object: LineSegments<BufferGeometry, RawShaderMaterial>;

  constructor(uniforms: Record<string, IUniform>) {
    const material = new RawShaderMaterial({
      glslVersion: GLSL3,
      vertexShader: HEADING_VERTEX,
      fragmentShader: FRAGMENT,
      uniforms,
    });
    this.object = new LineSegments(new BufferGeometry(), material);
    this.object.frustumCulled = false;
    this.object.renderOrder = 2;
    this.object.visible = false;
  }

  show(count: number): void {
    this.object.visible = count > 0;
    this.object.geometry.setDrawRange(0, 2 * count);
  }

  dispose(): void {
    this.object.geometry.dispose();
    this.object.material.dispose();
  }
}

// points -------------------------------------------------------------------------------------------------------------

const POINT_VERTEX = /* glsl */ `${POSE}
uniform float focal; // canvas px
uniform float least; // canvas px
uniform float leastProp;
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
  colour = tint.rgb * (0.8 + 0.2 * fract(0.618034 * float(gl_VertexID & 1023))); // distinguishes neighbours
  float floorPx = tint.a < ${(PROP + 0.5) / 255} ? leastProp : least;
  side = clamp(25.5 * tint.a * focal / max(-eye.z, 0.1), floorPx, 40.0);
  gl_PointSize = side;
  if ((side >= glyphs) != glyph) gl_Position = ${NOWHERE};
  ahead = vec2(0.0);
  if (glyph) {
    vec3 nose = mat3(viewMatrix) * turned(turnOf(texelFetch(toPoses, cellOf(gl_VertexID), 0).w), vec3(1.0, 0.0, 0.0));
    ahead = nose.xy - eye.xy / eye.z * nose.z;
  }
}`;

// No discard: it would double the cost of a frame with 10,000 points.
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

export class VehiclePoints {
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
   * Draw rows at their positions; `bytes`: colour and size of each, changed if `fresh`; `darts`: some points are large.
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
    geometry.dispose(); // another length needs new buffers
    geometry.setAttribute(name, new BufferAttribute(values, items, items === 4).setUsage(DynamicDrawUsage));
  }

  dispose(): void {
    this.geometry.dispose();
    this.squares.material.dispose();
    this.darts.material.dispose();
  }

  private points(
    uniforms: Record<string, IUniform>,
    ghost: boolean,
    glyph: boolean,
  ): Points<BufferGeometry, RawShaderMaterial> {
    const material = new RawShaderMaterial({
      glslVersion: GLSL3,
      vertexShader: POINT_VERTEX,
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

// meshes -------------------------------------------------------------------------------------------------------------

const MESH_VERTEX = /* glsl */ `${POSE}
in vec3 position;
in vec3 normal;
in vec4 paint;
in vec4 pivot;
in vec4 instance; // row, steer, spin, emphasis
in vec4 travel; // m: compression of the suspensions, front left, front right, rear left, rear right
uniform float focal;
uniform float floorPx;
uniform float size;
uniform float blades;
uniform mat4 gaze; // view matrix of the picture, also while the shadow map is drawn
out vec4 colour;
out vec3 facing;
out vec3 sight;
out vec3 where;
out float rim;

vec2 rotated(vec2 v, float angle) {
  float c = cos(angle);
  float s = sin(angle);
  return vec2(c * v.x - s * v.y, s * v.x + c * v.y);
}

void main() {
  int row = int(instance.x);
  uvec4 a = texelFetch(fromPoses, cellOf(row), 0);
  uvec4 b = texelFetch(toPoses, cellOf(row), 0);
  if (nowhere(a) || nowhere(b)) {
    gl_Position = ${NOWHERE};
    return;
  }
  vec3 p = position - pivot.xyz;
  vec3 n = normal;
  int part = int(pivot.w + 0.5);
  rim = length(p);
  if (part == 1 || part == 2) {
    p.zx = rotated(p.zx, instance.z);
    n.zx = rotated(n.zx, instance.z);
    if (part == 1) {
      p.xy = rotated(p.xy, instance.y);
      n.xy = rotated(n.xy, instance.y);
    }
  } else if (part == 3) {
    p.xy = rotated(p.xy, blades * sign(pivot.x * pivot.y));
  } else if (part == 4) {
    p.yz = rotated(p.yz, blades);
  }
  p += pivot.xyz;
  if (part == 1 || part == 2) { // a rolling body leaves its wheels on the ground
    vec2 sides = pivot.x > 0.0 ? travel.xy : travel.zw;
    p.z += pivot.y > 0.0 ? sides.x : sides.y;
  }
  vec4 turn = turnBetween(a.w, b.w);
  vec3 middle = mix(uintBitsToFloat(a.xyz), uintBitsToFloat(b.xyz), mixing);
  float depth = max(-(gaze * vec4(middle, 1.0)).z, 0.01);
  float grow = max(1.0, floorPx * depth / (focal * size));
  where = middle + turned(turn, p) * grow;
  vec4 eye = viewMatrix * vec4(where, 1.0);
  gl_Position = projectionMatrix * eye;
  sight = eye.xyz;
  facing = turned(turn, n);
  vec3 own = texelFetch(tints, cellOf(row), 0).rgb;
  vec3 painted = mix(paint.rgb, own * (0.55 + 0.5 * paint.r), paint.a);
  colour = vec4(mix(painted, vec3(1.0), 0.25 * instance.w), paint.a);
}`;

// Lighting in display values, without colour conversion.
const SOLID = /* glsl */ `precision highp float;
in vec4 colour;
in vec3 facing;
in vec3 sight;
in vec3 where;
in float rim;
uniform mat4 viewMatrix;
uniform vec3 skyLight;
uniform vec3 groundLight;
uniform float ghost;
uniform float strength;
out vec4 shown;
${SUNLIGHT}
void main() {
  const vec3 ray = vec3(${SUN.join(", ")});
  vec3 n = normalize(facing);
  float sunny = sunlight(where, n);
  float sun = max(dot(n, ray), 0.0) * sunny;
  vec3 light = mix(groundLight, skyLight, 0.5 + 0.5 * n.z) * mix(0.72, 1.0, sunny) + 0.26 * sun;
  vec3 view = normalize(sight);
  vec3 seen = mat3(viewMatrix) * n;
  float grazing = 1.0 - abs(dot(view, seen));
  vec3 mirror = reflect(view, seen);
  float gloss = sunny * pow(max(dot(mirror, mat3(viewMatrix) * ray), 0.0), 24.0);
  vec3 lit = colour.rgb * light + 0.16 * gloss + 0.10 * skyLight * grazing * grazing * grazing;
  shown = vec4(lit, mix(1.0, strength * (0.28 + 0.6 * grazing * grazing), ghost));
}`;

const BLUR = /* glsl */ `precision mediump float;
in vec4 colour;
in float rim;
uniform float radius;
uniform float ghost;
uniform float strength;
out vec4 shown;

void main() {
  float r = rim / radius;
  float edge = smoothstep(0.86, 0.97, r);
  shown = vec4(colour.rgb, (0.16 + 0.34 * edge) * mix(1.0, 0.5 * strength, ghost));
}`;

interface MeshOptions {
  size: number; // m: vehicle size, for the minimum size on the screen
  ghost: boolean;
  blur: boolean;
  radius: number; // m: radius of a rotor disc
}

/** Instances of one shape; fill `data` (row, steer, spin, emphasis of each) and `travels`, and call `show`. */
export class VehicleMesh {
  readonly object: Mesh<InstancedBufferGeometry, RawShaderMaterial>;
  data = new Float32Array(4 * 16);
  travels = new Float32Array(4 * 16); // m, of four wheels each

  constructor(shape: BufferGeometry, uniforms: Record<string, IUniform>, options: MeshOptions) {
    const geometry = new InstancedBufferGeometry();
    for (const [name, attribute] of Object.entries(shape.attributes)) geometry.setAttribute(name, attribute);
    const { size, radius, ghost, blur } = options;
    const material = new RawShaderMaterial({
      glslVersion: GLSL3,
      vertexShader: MESH_VERTEX,
      fragmentShader: blur ? BLUR : SOLID,
      uniforms: {
        ...uniforms,
        ...shadowUniforms,
        size: { value: size },
        radius: { value: radius },
        ghost: { value: ghost ? 1 : 0 },
      },
      transparent: ghost || blur,
      depthWrite: !blur,
      side: blur ? DoubleSide : FrontSide,
    });
    this.object = new Mesh(geometry, material);
    this.object.frustumCulled = false;
    this.object.renderOrder = blur ? 6 : ghost ? 3 : 1;
    if (!blur && !ghost) this.object.layers.enable(CASTS);
    this.attach();
  }

  reserve(count: number): void {
    if (this.data.length >= 4 * count) return;
    this.data = new Float32Array(4 * Math.max(count, this.data.length / 2));
    this.travels = new Float32Array(this.data.length);
    this.attach();
  }

  show(count: number): void {
    this.object.visible = count > 0;
    this.object.geometry.instanceCount = count;
    for (const name of ["instance", "travel"]) {
      const attribute = this.object.geometry.getAttribute(name) as InstancedBufferAttribute;
      attribute.clearUpdateRanges();
      attribute.addUpdateRange(0, 4 * count);
      attribute.needsUpdate = true;
    }
  }

  private attach(): void {
    for (const [name, values] of [
      ["instance", this.data],
      ["travel", this.travels],
    ] as const) {
      const attribute = new InstancedBufferAttribute(values, 4);
      attribute.setUsage(DynamicDrawUsage);
      this.object.geometry.deleteAttribute(name);
      this.object.geometry.setAttribute(name, attribute);
    }
  }

  dispose(): void {
    this.object.geometry.dispose();
    this.object.material.dispose();
  }
}
