// A short line ahead of every vehicle, pulled from the pose textures without any attribute.
import { BufferGeometry, GLSL3, type IUniform, LineSegments, RawShaderMaterial } from "three";
import { NOWHERE, POSE } from "./glsl";

const VERTEX = /* glsl */ `${POSE}
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
    const material = new RawShaderMaterial({ glslVersion: GLSL3, vertexShader: VERTEX, fragmentShader: FRAGMENT,
      uniforms });
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
