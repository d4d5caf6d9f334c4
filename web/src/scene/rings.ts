// Rings around what is selected, hovered and followed: flat on the ground plane of each vehicle for a few, glyphs on
// the screen for many.
import { BufferAttribute, BufferGeometry, DynamicDrawUsage, GLSL3, Points, RawShaderMaterial } from "three";
import type { Color } from "three";
import { type Rgba, Ribbons } from "./ribbons";
import type { ViewState } from "./viewState";

const FLAT = 48; // rings at most that are made of segments
const SIDES = 40;
const LEAST_PX = 13; // radius

const VERTEX = /* glsl */ `precision highp float;
in vec3 place;
uniform mat4 viewMatrix, projectionMatrix;
uniform float side;
void main() {
  gl_Position = projectionMatrix * viewMatrix * vec4(place, 1.0);
  gl_PointSize = side;
}`;

const FRAGMENT = /* glsl */ `precision mediump float;
uniform vec3 colour;
out vec4 shown;
void main() {
  float r = length(gl_PointCoord - 0.5);
  if (r > 0.5 || r < 0.34) discard;
  shown = vec4(colour, 0.9);
}`;

export interface Ringed {
  position: readonly number[];
  size: number; // m
  kind: "selected" | "hovered" | "focus";
}

export class Rings {
  readonly ribbons = new Ribbons(7, false);
  readonly points: Points<BufferGeometry, RawShaderMaterial>;
  private places = new Float32Array(0);

  constructor() {
    const material = new RawShaderMaterial({
      glslVersion: GLSL3,
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: { side: { value: 12 }, colour: { value: [1, 1, 1] } },
      transparent: true,
      depthTest: false,
    });
    this.points = new Points(new BufferGeometry(), material);
    this.points.frustumCulled = false;
    this.points.renderOrder = 7;
  }

  update(view: ViewState, ringed: readonly Ringed[]): void {
    const flat = ringed.length <= FLAT ? ringed : ringed.filter(({ kind }) => kind !== "selected");
    this.ribbons.clear();
    for (const one of flat) this.ring(one, view);
    this.ribbons.view(view);
    this.ribbons.show();
    this.showPoints(ringed.length <= FLAT ? [] : ringed, view);
  }

  dispose(): void {
    this.ribbons.dispose();
    this.points.geometry.dispose();
    this.points.material.dispose();
  }

  private ring({ position, size, kind }: Ringed, view: ViewState): void {
    const [x = 0, y = 0, z = 0] = position;
    const far = Math.hypot(x - view.eye[0], y - view.eye[1], z - view.eye[2]);
    const radius = Math.max(0.68 * size, (LEAST_PX * view.unit * far) / view.focal);
    const colour = bytes(kind === "hovered" ? view.skin.text : view.skin.accent, kind === "hovered" ? 150 : 235);
    const width = kind === "focus" ? 2.4 : 1.6;
    const at = (k: number): number[] => {
      const angle = (2 * Math.PI * k) / SIDES;
      return [x + radius * Math.cos(angle), y + radius * Math.sin(angle), z + 0.03];
    };
    for (let k = 0; k < SIDES; k++) this.ribbons.add(at(k), at(k + 1), width, colour);
  }

  private showPoints(ringed: readonly Ringed[], view: ViewState): void {
    const { geometry, material } = this.points;
    this.points.visible = ringed.length > 0;
    if (ringed.length === 0) return;
    if (this.places.length < 3 * ringed.length) {
      this.places = new Float32Array(6 * ringed.length);
      geometry.dispose();
      geometry.setAttribute("place", new BufferAttribute(this.places, 3).setUsage(DynamicDrawUsage));
    }
    ringed.forEach(({ position }, k) => this.places.set(position, 3 * k));
    (geometry.getAttribute("place") as BufferAttribute).needsUpdate = true;
    geometry.setDrawRange(0, ringed.length);
    const { r, g, b } = view.skin.accent;
    (material.uniforms["colour"] as { value: number[] }).value = [r, g, b];
    (material.uniforms["side"] as { value: number }).value = (ringed.length > 2000 ? 8 : 14) * view.ratio * view.unit;
  }
}

export function bytes({ r, g, b }: Color, opacity = 255): Rgba {
  return [Math.round(255 * r), Math.round(255 * g), Math.round(255 * b), opacity];
}
