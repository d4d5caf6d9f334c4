// Fills the ground where jammers are as strong as the noise (tinted), and as the strongest signal (hatched).
import { BufferAttribute, BufferGeometry, GLSL3, Mesh, RawShaderMaterial } from "three";
import { groundAt } from "../state/scenery";
import type { Grid } from "./contours";
import { UNDERNEATH } from "./ribbons";
import type { Skin } from "./skin";
import type { ViewState } from "./view";

const VERTEX = /* glsl */ `precision highp float;
in vec3 place;
in vec3 excess; // dB above the noise, above the strongest signal; 0 at the edge of what is computed
uniform mat4 viewMatrix, projectionMatrix;
out vec3 jamming;
void main() {
  jamming = excess;
  gl_Position = projectionMatrix * viewMatrix * vec4(place, 1.0);
  gl_Position.z -= 2e-4 * gl_Position.w;
}`;

const FRAGMENT = /* glsl */ `precision highp float;
in vec3 jamming;
uniform vec3 amber, red;
uniform float spacing; // px
uniform vec3 strength; // opacities: above the noise, above the signal, lines there
out vec4 shown;
void main() {
  if (jamming.x <= 0.0 && jamming.y <= 0.0) discard;
  if (jamming.y <= 0.0) {
    shown = vec4(amber, strength.x * jamming.z);
    return;
  }
  float along = mod(gl_FragCoord.x + gl_FragCoord.y, spacing);
  float line = 1.0 - smoothstep(0.05 * spacing, 0.12 * spacing, min(along, spacing - along));
  shown = vec4(red, mix(strength.y, strength.z, line) * jamming.z);
}`;

const SPACING = 14; // px between lines
const OPACITIES = { light: [0.04, 0.06, 0.26], dark: [0.05, 0.07, 0.34] } as const;
const EVERY = 2; // of the values of a fine grid
const FADES = 0.1; // share of the grid over which the fill fades at its edge: jamming goes on beyond it

export class JammedArea {
  readonly object: Mesh<BufferGeometry, RawShaderMaterial>;
  /** Numbers of places above the noise and above the strongest signal, of those that are drawn; for tests. */
  filled: readonly [number, number] = [0, 0];
  private side = 0;

  constructor() {
    const uniforms = { amber: { value: [0, 0, 0] }, red: { value: [0, 0, 0] }, spacing: { value: SPACING } };
    const material = new RawShaderMaterial({
      glslVersion: GLSL3,
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: { ...uniforms, strength: { value: [0, 0, 0] } },
      ...UNDERNEATH,
      depthWrite: false,
      side: 2,
    });
    this.object = new Mesh(new BufferGeometry(), material);
    this.object.frustumCulled = false;
    this.object.renderOrder = 1;
    this.object.visible = false;
  }

  /** Fill a grid: dB above the noise, and above the strongest signal; `lift`: m above the ground. */
  rebuild(grid: Grid, above: ArrayLike<number>, ahead: ArrayLike<number>, lift: number, skin: Skin): void {
    const { x, y, cell } = grid;
    const side = Math.floor((grid.side - 1) / EVERY) + 1;
    if (side !== this.side) this.shape(side);
    const { geometry } = this.object;
    const place = geometry.getAttribute("place") as BufferAttribute;
    const excess = geometry.getAttribute("excess") as BufferAttribute;
    const filled: [number, number] = [0, 0];
    for (let k = 0; k < side * side; k++) {
      const [i, j] = [k % side, Math.floor(k / side)];
      const at = EVERY * (j * grid.side + i);
      const [px, py] = [x + EVERY * cell * i, y + EVERY * cell * j];
      const [noise, signal] = [above[at] as number, ahead[at] as number];
      const inside = Math.min(i, j, side - 1 - i, side - 1 - j) / (FADES * side);
      place.setXYZ(k, px, py, groundAt(px, py) + lift);
      excess.setXYZ(k, noise, signal, Math.min(1, inside));
      filled[0] += Number(noise > 0);
      filled[1] += Number(signal > 0);
    }
    place.needsUpdate = true;
    excess.needsUpdate = true;
    this.filled = filled;
    this.set("amber", skin.amber.toArray());
    this.set("red", skin.red.toArray());
    this.set("strength", [...OPACITIES[skin.theme]]);
    this.object.visible = filled[0] + filled[1] > 0;
  }

  hide(): void {
    this.object.visible = false;
    this.filled = [0, 0];
  }

  /** Called before each drawing. */
  view({ ratio, unit }: ViewState): void {
    this.set("spacing", SPACING * ratio * unit);
  }

  dispose(): void {
    this.object.geometry.dispose();
    this.object.material.dispose();
  }

  private set(name: string, value: unknown): void {
    (this.object.material.uniforms[name] as { value: unknown }).value = value;
  }

  private shape(side: number): void {
    this.side = side;
    const { geometry } = this.object;
    geometry.dispose();
    geometry.setAttribute("place", new BufferAttribute(new Float32Array(3 * side * side), 3));
    geometry.setAttribute("excess", new BufferAttribute(new Float32Array(3 * side * side), 3));
    const index: number[] = [];
    for (let j = 0; j + 1 < side; j++) {
      for (let i = 0; i + 1 < side; i++) {
        const k = j * side + i;
        index.push(k, k + 1, k + side + 1, k, k + side + 1, k + side);
      }
    }
    geometry.setIndex(index);
  }
}
