// No-fly zones: hatched red areas on the ground with an outline.
import { BufferAttribute, BufferGeometry, GLSL3, Group, Mesh, RawShaderMaterial } from "three";
import type { ZoneTree } from "../net/schema";
import { middleOf, type Place, trianglesOf } from "./missionShapes";
import { Ribbons, UNDERNEATH } from "./ribbons";
import { bytes } from "./rings";
import type { ViewState } from "./viewState";

const VERTEX = /* glsl */ `precision highp float;
in vec2 place; // m
uniform mat4 viewMatrix, projectionMatrix;
uniform float height;
out vec2 at;
void main() {
  at = place;
  gl_Position = projectionMatrix * viewMatrix * vec4(place, height, 1.0);
}`;

const FRAGMENT = /* glsl */ `precision highp float;
in vec2 at;
uniform vec3 colour;
uniform float spacing; // m between two strokes
uniform float filled, hatched; // opacities
out vec4 shown;
void main() {
  float s = (at.x + at.y) / spacing;
  float away = abs(fract(s) - 0.5); // 0 on a stroke
  float soft = fwidth(s);
  float stroke = 1.0 - smoothstep(0.09, 0.09 + soft, away);
  shown = vec4(colour, filled + hatched * stroke * clamp(0.7 / max(soft, 0.01) - 1.0, 0.0, 1.0));
}`;

const STROKES_PX = 13; // between two strokes of the hatching

export class ZoneLayer {
  readonly group = new Group();
  private readonly outlines = new Ribbons(-6, false, UNDERNEATH);
  private readonly areas: Mesh<BufferGeometry, RawShaderMaterial>;
  private middle: Place = [0, 0];

  constructor() {
    const names = ["height", "colour", "spacing", "filled", "hatched"];
    const material = new RawShaderMaterial({
      glslVersion: GLSL3,
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: Object.fromEntries(names.map((name) => [name, { value: 1 }])),
      ...UNDERNEATH,
      depthTest: false,
      depthWrite: false,
      side: 2,
    });
    this.areas = new Mesh(new BufferGeometry(), material);
    this.areas.frustumCulled = false;
    this.areas.renderOrder = -7;
    this.group.add(this.areas, this.outlines.object);
  }

  /** Other zones, or another theme. */
  rebuild(zones: readonly ZoneTree[], height: number, { skin }: ViewState): void {
    const triangles = new Float32Array(zones.flatMap(({ outline }) => trianglesOf(outline)));
    const { geometry } = this.areas;
    geometry.dispose();
    geometry.setAttribute("place", new BufferAttribute(triangles, 2));
    geometry.setDrawRange(0, triangles.length / 2);
    this.areas.visible = triangles.length > 0;
    const { r, g, b } = skin.red;
    this.set({ height, colour: [r, g, b], filled: skin.theme === "dark" ? 0.13 : 0.1, hatched: 0.22 });
    this.middle = middleOf(zones.map(({ outline }) => middleOf(outline)));
    this.outlines.clear();
    for (const { outline } of zones) this.outline(outline, height, bytes(skin.red, 210));
    this.outlines.show();
  }

  /** Before each drawing. */
  view(view: ViewState): void {
    const [x, y] = this.middle;
    const far = Math.hypot(view.eye[0] - x, view.eye[1] - y, view.eye[2]);
    this.set({ spacing: 2 ** Math.round(Math.log2((STROKES_PX * view.unit * Math.max(far, 1)) / view.focal)) });
    this.outlines.view(view);
  }

  dispose(): void {
    this.outlines.dispose();
    this.areas.geometry.dispose();
    this.areas.material.dispose();
  }

  private outline(ring: readonly Place[], height: number, colour: ReturnType<typeof bytes>): void {
    for (let k = 0; k + 1 < ring.length; k++) {
      this.outlines.add([...(ring[k] as Place), height], [...(ring[k + 1] as Place), height], 2, colour);
    }
  }

  private set(values: Record<string, unknown>): void {
    const { uniforms } = this.areas.material;
    for (const [name, value] of Object.entries(values)) (uniforms[name] as { value: unknown }).value = value;
  }
}
