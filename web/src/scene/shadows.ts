// Soft shadows: a depth map seen from the sun, around what the camera looks at. Loaded when shadows are drawn.
import {
  BufferAttribute,
  BufferGeometry,
  DepthTexture,
  GLSL3,
  LessEqualCompare,
  LinearFilter,
  Matrix4,
  Mesh,
  OrthographicCamera,
  RawShaderMaterial,
  type Scene,
  UnsignedIntType,
  Vector3,
  type WebGLRenderer,
  WebGLRenderTarget,
} from "three";
import { CASTS, SUN, SUNLIGHT, shadowUniforms } from "./light";
import { UNDERNEATH } from "./ribbons";
import type { ViewState } from "./view";

const SIDE = 2048; // texels
const NEAREST = 18; // m: least distance from the middle to an edge of the map
const FARTHEST = 600;
const SPREAD = 1.4; // texels between samples: softness

/** Middle and reach (m) of the map for an eye and its target: nearer views get finer shadows. */
export function coverage(
  eye: readonly number[],
  target: readonly number[],
): { middle: [number, number, number]; reach: number } {
  const [x = 0, y = 0, z = 0] = target;
  const far = Math.hypot((eye[0] ?? 0) - x, (eye[1] ?? 0) - y, (eye[2] ?? 0) - z);
  // steps of the reach: a map that grows with every frame would flicker
  const reach = 2 ** (Math.ceil(2 * Math.log2(Math.min(Math.max(1.3 * far, NEAREST), FARTHEST))) / 2);
  const [right, up] = axes();
  const texel = (2 * reach) / SIDE;
  const at = new Vector3(x, y, z);
  for (const axis of [right, up]) {
    const along = at.dot(axis);
    at.addScaledVector(axis, Math.round(along / texel) * texel - along); // whole texels, for the same reason
  }
  return { middle: [at.x, at.y, at.z], reach };
}

/** Axes of the map: unit vectors normal to the sun. */
function axes(): [Vector3, Vector3] {
  const sun = new Vector3(...SUN);
  const right = new Vector3(0, 0, 1).cross(sun).normalize();
  return [right, sun.clone().cross(right)];
}

const VERTEX = /* glsl */ `precision highp float;
in vec2 corner;
uniform mat4 viewMatrix, projectionMatrix;
uniform vec4 place; // x, y, z of the middle, reach
out vec3 where;
void main() {
  where = vec3(place.xy + place.w * corner, place.z);
  gl_Position = projectionMatrix * viewMatrix * vec4(where, 1.0);
}`;

const FRAGMENT = /* glsl */ `precision highp float;
in vec3 where;
uniform float darkness;
out vec4 shown;
${SUNLIGHT}
void main() { shown = vec4(0.0, 0.0, 0.0, darkness * (1.0 - sunlight(where, vec3(0.0, 0.0, 1.0)))); }`;

export class ShadowMap {
  /** Shadows on level ground; uneven ground is shaded by itself. */
  readonly floor: Mesh<BufferGeometry, RawShaderMaterial>;
  private readonly camera = new OrthographicCamera(-1, 1, 1, -1, 0.1, 10);
  private readonly target: WebGLRenderTarget;
  private readonly halves = new Matrix4().set(0.5, 0, 0, 0.5, 0, 0.5, 0, 0.5, 0, 0, 0.5, 0.5, 0, 0, 0, 1);

  constructor() {
    const depth = new DepthTexture(SIDE, SIDE, UnsignedIntType);
    depth.compareFunction = LessEqualCompare;
    depth.minFilter = LinearFilter;
    depth.magFilter = LinearFilter;
    this.target = new WebGLRenderTarget(SIDE, SIDE, { depthTexture: depth, depthBuffer: true });
    this.camera.layers.set(CASTS);
    this.floor = floorMesh();
  }

  /** Draw the map, and show the floor at a height; null: no floor. */
  draw(
    renderer: WebGLRenderer,
    scene: Scene,
    { eye, skin }: ViewState,
    target: readonly number[],
    floor: number | null,
  ) {
    const { middle, reach } = coverage(eye, target);
    this.aim(middle, reach);
    this.floor.visible = false;
    shadowUniforms.shadowMap.value = null; // a texture must not be read while it is drawn
    shadowUniforms.shadowing.value = 0;
    renderer.setRenderTarget(this.target);
    renderer.render(scene, this.camera);
    renderer.setRenderTarget(null);
    const { shadowMap, shadowMatrix, shadowing, shadowOffset } = shadowUniforms;
    shadowMap.value = this.target.depthTexture;
    shadowing.value = SPREAD / SIDE;
    shadowOffset.value = (4.5 * reach) / SIDE;
    (shadowMatrix.value as Matrix4)
      .copy(this.halves)
      .multiply(this.camera.projectionMatrix)
      .multiply(this.camera.matrixWorldInverse);
    this.floor.visible = floor !== null;
    const { uniforms } = this.floor.material;
    // where the map meets the floor: along the sun's direction from its middle
    const along = ((floor ?? 0) - middle[2]) / SUN[2];
    const spot = [middle[0] + along * SUN[0], middle[1] + along * SUN[1], floor ?? 0, 1.6 * reach];
    (uniforms["place"] as { value: number[] }).value = spot;
    (uniforms["darkness"] as { value: number }).value = skin.theme === "light" ? 0.3 : 0.5;
  }

  /** Draw no shadows. */
  clear(): void {
    shadowUniforms.shadowMap.value = null;
    shadowUniforms.shadowing.value = 0;
    this.floor.visible = false;
  }

  dispose(): void {
    this.clear();
    this.target.depthTexture?.dispose();
    this.target.dispose();
    this.floor.geometry.dispose();
    this.floor.material.dispose();
  }

  private aim([x, y, z]: [number, number, number], reach: number): void {
    const { camera } = this;
    const [, up] = axes();
    const away = 2 * reach + 200; // tall things outside of the view cast shadows into it
    camera.up.copy(up);
    camera.position.set(x + away * SUN[0], y + away * SUN[1], z + away * SUN[2]);
    camera.lookAt(x, y, z);
    Object.assign(camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 1, far: 2 * away });
    camera.updateProjectionMatrix();
    camera.updateMatrixWorld(true);
  }
}

function floorMesh(): Mesh<BufferGeometry, RawShaderMaterial> {
  const geometry = new BufferGeometry();
  geometry.setAttribute("corner", new BufferAttribute(new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]), 2));
  geometry.setIndex([0, 1, 2, 2, 1, 3]);
  const material = new RawShaderMaterial({
    glslVersion: GLSL3,
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
    uniforms: { ...shadowUniforms, place: { value: [0, 0, 0, 1] }, darkness: { value: 0.4 } },
    ...UNDERNEATH,
    depthTest: false,
    depthWrite: false,
    side: 2,
  });
  const mesh = new Mesh(geometry, material);
  mesh.frustumCulled = false;
  mesh.renderOrder = -6;
  return mesh;
}
