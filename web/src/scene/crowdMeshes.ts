// Vehicles near the camera as shapes: one instanced draw per kind and level, whose instances name rows of the pose
// textures.
import {
  type BufferGeometry,
  DoubleSide,
  DynamicDrawUsage,
  FrontSide,
  GLSL3,
  InstancedBufferAttribute,
  InstancedBufferGeometry,
  type IUniform,
  Mesh,
  RawShaderMaterial,
} from "three";
import { NOWHERE, POSE } from "./glsl";

const VERTEX = /* glsl */ `${POSE}
in vec3 position;
in vec3 normal;
in vec4 paint;
in vec4 pivot;
in vec4 instance; // row, steer, spin, emphasis
uniform float focal;
uniform float floorPx;
uniform float size;
uniform float blades;
out vec4 colour;
out vec3 facing;
out vec3 sight;
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
  vec4 turn = turnBetween(a.w, b.w);
  vec3 middle = mix(uintBitsToFloat(a.xyz), uintBitsToFloat(b.xyz), mixing);
  float depth = max(-(viewMatrix * vec4(middle, 1.0)).z, 0.01);
  float grow = max(1.0, floorPx * depth / (focal * size));
  vec4 eye = viewMatrix * vec4(middle + turned(turn, p) * grow, 1.0);
  gl_Position = projectionMatrix * eye;
  sight = eye.xyz;
  facing = turned(turn, n);
  vec3 own = texelFetch(tints, cellOf(row), 0).rgb;
  vec3 painted = mix(paint.rgb, own * (0.55 + 0.5 * paint.r), paint.a);
  colour = vec4(mix(painted, vec3(1.0), 0.25 * instance.w), paint.a);
}`;

// Lit without any conversion of colours: what is computed is what the screen shows.
const SOLID = /* glsl */ `precision highp float;
in vec4 colour;
in vec3 facing;
in vec3 sight;
in float rim;
uniform mat4 viewMatrix;
uniform vec3 skyLight;
uniform vec3 groundLight;
uniform float ghost;
uniform float strength;
out vec4 shown;

void main() {
  vec3 n = normalize(facing);
  float sun = max(dot(n, vec3(0.36, -0.48, 0.8)), 0.0);
  vec3 light = mix(groundLight, skyLight, 0.5 + 0.5 * n.z) + 0.26 * sun;
  vec3 view = normalize(sight);
  vec3 seen = mat3(viewMatrix) * n;
  float grazing = 1.0 - abs(dot(view, seen));
  vec3 mirror = reflect(view, seen);
  float gloss = pow(max(dot(mirror, mat3(viewMatrix) * vec3(0.36, -0.48, 0.8)), 0.0), 24.0);
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

export interface MeshOptions {
  size: number; // m: of the vehicle, for its least size on the screen
  ghost: boolean;
  blur: boolean;
  radius: number; // m: of a disc of blades
}

/** Instances of one shape; fill `data` (row, steer, spin, emphasis of each) and call `show`. */
export class CrowdMesh {
  readonly object: Mesh<InstancedBufferGeometry, RawShaderMaterial>;
  data = new Float32Array(4 * 16);

  constructor(shape: BufferGeometry, uniforms: Record<string, IUniform>, options: MeshOptions) {
    const geometry = new InstancedBufferGeometry();
    for (const [name, attribute] of Object.entries(shape.attributes)) geometry.setAttribute(name, attribute);
    const { size, radius, ghost, blur } = options;
    const material = new RawShaderMaterial({
      glslVersion: GLSL3,
      vertexShader: VERTEX,
      fragmentShader: blur ? BLUR : SOLID,
      uniforms: { ...uniforms, size: { value: size }, radius: { value: radius }, ghost: { value: ghost ? 1 : 0 } },
      transparent: ghost || blur,
      depthWrite: !blur,
      side: blur ? DoubleSide : FrontSide,
    });
    this.object = new Mesh(geometry, material);
    this.object.frustumCulled = false;
    this.object.renderOrder = blur ? 6 : ghost ? 3 : 1;
    this.attach();
  }

  reserve(count: number): void {
    if (this.data.length >= 4 * count) return;
    this.data = new Float32Array(4 * Math.max(count, this.data.length / 2));
    this.attach();
  }

  show(count: number): void {
    this.object.visible = count > 0;
    this.object.geometry.instanceCount = count;
    const attribute = this.object.geometry.getAttribute("instance") as InstancedBufferAttribute;
    attribute.clearUpdateRanges();
    attribute.addUpdateRange(0, 4 * count);
    attribute.needsUpdate = true;
  }

  private attach(): void {
    const attribute = new InstancedBufferAttribute(this.data, 4);
    attribute.setUsage(DynamicDrawUsage);
    this.object.geometry.deleteAttribute("instance");
    this.object.geometry.setAttribute("instance", attribute);
  }

  dispose(): void {
    this.object.geometry.dispose();
    this.object.material.dispose();
  }
}
