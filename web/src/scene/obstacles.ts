// Static obstacles: boxes, walls, cylinders and cones, one instanced draw per shape.
import {
  type BufferGeometry,
  GLSL3,
  Group,
  InstancedBufferAttribute,
  InstancedBufferGeometry,
  Mesh,
  RawShaderMaterial,
} from "three";
import type { ObstacleTree } from "../wire/schema";
import { CASTS, lightOf, SUN, SUNLIGHT, shadowUniforms } from "./light";
import { ShapeBuilder } from "./shapes/builder";
import { CONE_PAINTS, coneShape } from "./shapes/cone";
import type { ViewState } from "./view";

type Kind = ObstacleTree["kind"];
const MOST_CASTING = 4000; // per kind: more would dominate the cost

/** Shapes within 1 m to each side of the middle of their base, 1 m high. */
const SHAPES: Readonly<Record<Kind, () => BufferGeometry>> = {
  box: () =>
    new ShapeBuilder()
      .paint("#8f9aa5")
      .box([-0.5, -0.5, 0], [0.5, 0.5, 0.96], [0, 0], false)
      .paint("#b3bcc5")
      .box([-0.5, -0.5, 0.96], [0.5, 0.5, 1])
      .build(),
  wall: () =>
    new ShapeBuilder()
      .paint("#a7aeb5")
      .box([-0.5, -0.5, 0], [0.5, 0.5, 0.82], [0, 0], false)
      .paint("#d9484a")
      .box([-0.5, -0.5, 0.82], [0.5, 0.5, 1])
      .build(),
  cylinder: () =>
    new ShapeBuilder()
      .paint("#9aa4ae")
      .cylinder([0, 0, 0.5], 1, 1, "z", 24)
      .paint("#c3cbd2")
      .disc([0, 0, 1.001], 1, "z", 24)
      .build(),
  cone: () => coneOf("orange"),
};

function coneOf(colour: string): BufferGeometry {
  return coneShape({ length: 2, width: 2, height: 1, balance: 0 }, 16, CONE_PAINTS[colour]);
}

const VERTEX = /* glsl */ `precision highp float;
in vec3 position;
in vec3 normal;
in vec4 paint;
in vec4 stand; // x, y, z of the base, heading
in vec3 extent;
uniform mat4 viewMatrix, projectionMatrix;
out vec3 colour;
out vec3 facing;
out vec3 where;
void main() {
  float c = cos(stand.w), s = sin(stand.w);
  vec3 p = position * extent;
  vec3 n = normal / extent;
  where = stand.xyz + vec3(c * p.x - s * p.y, s * p.x + c * p.y, p.z);
  facing = vec3(c * n.x - s * n.y, s * n.x + c * n.y, n.z);
  colour = paint.rgb;
  gl_Position = projectionMatrix * viewMatrix * vec4(where, 1.0);
}`;

const FRAGMENT = /* glsl */ `precision highp float;
in vec3 colour;
in vec3 facing;
in vec3 where;
uniform vec3 skyLight, groundLight;
out vec4 shown;
${SUNLIGHT}
void main() {
  vec3 n = normalize(facing);
  float lit = sunlight(where, n);
  float sun = max(dot(n, vec3(${SUN.join(", ")})), 0.0);
  vec3 light = mix(groundLight, skyLight, 0.5 + 0.5 * n.z) * mix(0.72, 1.0, lit) + 0.3 * sun * lit;
  shown = vec4(colour * light, 1.0);
}`;

/** Place and size of each instance: x, y, base, heading; length, width, height. */
export function instancesOf(obstacles: readonly ObstacleTree[]): { stand: Float32Array; extent: Float32Array } {
  const stand = new Float32Array(4 * obstacles.length);
  const extent = new Float32Array(3 * obstacles.length);
  obstacles.forEach(({ x, y, base, top, heading, length, width, radius }, k) => {
    stand.set([x, y, base, heading], 4 * k);
    extent.set([length ?? radius ?? 1, width ?? radius ?? 1, top - base], 3 * k);
  });
  return { stand, extent };
}

export class ObstacleLayer {
  readonly group = new Group();
  private readonly light = { skyLight: { value: [1, 1, 1] }, groundLight: { value: [0.5, 0.5, 0.5] } };

  /** `coloured`: cones of a track, by the names of their colours. */
  constructor(obstacles: readonly ObstacleTree[], coloured: Readonly<Record<string, readonly ObstacleTree[]>> = {}) {
    for (const kind of Object.keys(SHAPES) as Kind[]) {
      const alike = obstacles.filter((obstacle) => obstacle.kind === kind);
      if (alike.length > 0) this.group.add(this.mesh(SHAPES[kind](), alike));
    }
    for (const [colour, cones] of Object.entries(coloured)) {
      if (cones.length > 0) this.group.add(this.mesh(coneOf(colour), cones));
    }
  }

  view({ skin }: ViewState): void {
    const { sky, ground } = lightOf(skin.theme);
    this.light.skyLight.value = sky;
    this.light.groundLight.value = ground;
  }

  dispose(): void {
    for (const { geometry, material } of this.group.children as Mesh<BufferGeometry, RawShaderMaterial>[]) {
      geometry.dispose();
      material.dispose();
    }
  }

  private mesh(
    { attributes }: BufferGeometry,
    obstacles: readonly ObstacleTree[],
  ): Mesh<InstancedBufferGeometry, RawShaderMaterial> {
    const geometry = new InstancedBufferGeometry();
    for (const name of ["position", "normal", "paint"]) geometry.setAttribute(name, attributes[name] as never);
    const { stand, extent } = instancesOf(obstacles);
    geometry.setAttribute("stand", new InstancedBufferAttribute(stand, 4));
    geometry.setAttribute("extent", new InstancedBufferAttribute(extent, 3));
    geometry.instanceCount = obstacles.length;
    const material = new RawShaderMaterial({
      glslVersion: GLSL3,
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: { ...shadowUniforms, ...this.light },
    });
    const mesh = new Mesh(geometry, material);
    mesh.frustumCulled = false;
    if (obstacles.length <= MOST_CASTING) mesh.layers.enable(CASTS);
    return mesh;
  }
}
