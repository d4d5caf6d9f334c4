// Sky, haze and far ground as a coloured dome around the camera. Colours are interpolated between corners: a shader
// per pixel of the whole screen
// would cost a software renderer more than everything else together.
import { BufferAttribute, BufferGeometry, GLSL3, Mesh, RawShaderMaterial } from "three";
import type { Color } from "three";
import type { Skin } from "./skin";
import type { ViewState } from "./viewState";

const VERTEX = /* glsl */ `precision highp float;
in vec3 position;
in vec3 paint;
uniform mat4 viewMatrix, projectionMatrix;
out vec3 colour;
void main() {
  vec4 clip = projectionMatrix * vec4(mat3(viewMatrix) * position, 1.0);
  gl_Position = vec4(clip.xy, clip.w, clip.w); // farther than everything
  colour = paint;
}`;

const FRAGMENT = /* glsl */ `precision mediump float;
in vec3 colour;
out vec4 shown;
void main() { shown = vec4(colour, 1.0); }`;

const SIDES = 24;
/** Heights of the rings in degrees over the horizon; below the lowest one there is plain ground. */
const RINGS = [-12, -5, -1.6, 0, 5, 14, 32, 89.9];

export class Dome {
  readonly object: Mesh<BufferGeometry, RawShaderMaterial>;

  constructor() {
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(places(), 3));
    geometry.setAttribute("paint", new BufferAttribute(new Float32Array(3 * RINGS.length * SIDES), 3));
    geometry.setIndex(corners());
    const shaders = { vertexShader: VERTEX, fragmentShader: FRAGMENT };
    const material = new RawShaderMaterial({ glslVersion: GLSL3, ...shaders, depthTest: false, depthWrite: false,
      side: 2 });
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

  /** Only what looks up can see it. */
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

/** Ground below, haze at the horizon, sky above. */
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
