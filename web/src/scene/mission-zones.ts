// No-fly zones as hatched areas, and the geometry of tasks and zones.
import { BufferAttribute, BufferGeometry, GLSL3, Group, Mesh, RawShaderMaterial } from "three";
import { groundAt } from "../state/scenery";
import type { TaskTree, ZoneTree } from "../wire/schema";
import { bytes, Ribbons, UNDERNEATH } from "./ribbons";
import type { ViewState } from "./view";

export type Place = readonly [number, number]; // m

/** Triangles (x, y of each corner) that fill a closed ring: split into trapezoids at each corner's y. */
export function trianglesOf(ring: readonly Place[]): number[] {
  const corners = ring.filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y));
  const levels = [...new Set(corners.map(([, y]) => y))].sort((a, b) => a - b);
  const triangles: number[] = [];
  for (let k = 0; k + 1 < levels.length; k++) {
    const [low, high] = [levels[k] as number, levels[k + 1] as number];
    const sides = crossing(corners, low, high);
    for (let i = 0; i + 1 < sides.length; i += 2) {
      const [[a, b], [c, d]] = [sides[i] as Place, sides[i + 1] as Place];
      triangles.push(a, low, c, low, d, high, a, low, d, high, b, high);
    }
  }
  return triangles;
}

/** Where the edges that cross a band meet its lower and upper border, from west to east. */
function crossing(ring: readonly Place[], low: number, high: number): Place[] {
  const corners: Place[] = [];
  ring.forEach(([x, y], k) => {
    const [x1, y1] = ring[(k + 1) % ring.length] as Place;
    if (Math.min(y, y1) > low || Math.max(y, y1) < high || y === y1) return;
    const at = (level: number): number => x + ((level - y) / (y1 - y)) * (x1 - x);
    corners.push([at(low), at(high)]);
  });
  return corners.sort((a, b) => a[0] + a[1] - b[0] - b[1]);
}

const HEAD = 0.12; // fraction of the line's length
const LONGEST = 40; // m
const SPREAD = 0.45; // rad to each side

/** End points of the two strokes of an arrow head at the end of a line. */
export function arrowHead([ax, ay]: Place, [bx, by]: Place): [Place, Place] {
  const length = Math.min(HEAD * Math.hypot(bx - ax, by - ay), LONGEST);
  const back = Math.atan2(ay - by, ax - bx);
  const end = (angle: number): Place => [bx + length * Math.cos(angle), by + length * Math.sin(angle)];
  return [end(back - SPREAD), end(back + SPREAD)];
}

/** Mean of the corners; the repeated corner of a closed ring counts once. */
export function middleOf(points: readonly Place[]): Place {
  const [first, last] = [points[0], points.at(-1)];
  const closed = points.length > 1 && first?.[0] === last?.[0] && first?.[1] === last?.[1];
  const corners = closed ? points.slice(1) : points;
  const sum = (axis: 0 | 1): number => corners.reduce((total, place) => total + place[axis], 0);
  return [sum(0) / corners.length, sum(1) / corners.length];
}

/** A task moved to another place. */
export function shifted(task: TaskTree, x: number, y: number): TaskTree {
  const [dx, dy] = [x - task.x, y - task.y];
  return { ...task, x, y, outline: task.outline.map(([a, b]) => [a + dx, b + dy]) };
}

/** Half the size of a task, m: from its centre to its farthest corner. */
export function reachOf({ outline }: TaskTree): number {
  const [x, y] = middleOf(outline);
  return outline.reduce((most, [a, b]) => Math.max(most, Math.hypot(a - x, b - y)), 0);
}

// zones --------------------------------------------------------------------------------------------------------------

/** The name of a zone, with its heights where it has limits. */
export function titleOf({ name, floor = null, ceiling = null }: ZoneTree): string {
  if (floor === null) return ceiling === null ? name : `${name} (below ${ceiling} m)`;
  return ceiling === null ? `${name} (above ${floor} m)` : `${name} (${floor} to ${ceiling} m)`;
}

const VERTEX = /* glsl */ `precision highp float;
in vec3 place; // m
uniform mat4 viewMatrix, projectionMatrix;
out vec2 at;
void main() {
  at = place.xy;
  gl_Position = projectionMatrix * viewMatrix * vec4(place, 1.0);
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

const STROKES_PX = 13; // between hatching strokes

export class ZoneLayer {
  readonly group = new Group();
  private readonly outlines = new Ribbons(-6, false, UNDERNEATH);
  private readonly areas: Mesh<BufferGeometry, RawShaderMaterial>;
  private middle: Place = [0, 0];

  constructor() {
    const names = ["colour", "spacing", "filled", "hatched"];
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

  /** Rebuild for other zones or another theme. */
  rebuild(zones: readonly ZoneTree[], { skin }: ViewState): void {
    const corners = zones.flatMap(({ outline }) => trianglesOf(outline));
    const triangles = new Float32Array((corners.length / 2) * 3);
    for (let k = 0; 2 * k < corners.length; k++) {
      const [x, y] = [corners[2 * k] as number, corners[2 * k + 1] as number];
      triangles.set([x, y, groundAt(x, y)], 3 * k);
    }
    const { geometry } = this.areas;
    geometry.dispose();
    geometry.setAttribute("place", new BufferAttribute(triangles, 3));
    geometry.setDrawRange(0, triangles.length / 3);
    this.areas.visible = triangles.length > 0;
    const { r, g, b } = skin.red;
    this.set({ colour: [r, g, b], filled: skin.theme === "dark" ? 0.13 : 0.1, hatched: 0.22 });
    this.middle = middleOf(zones.map(({ outline }) => middleOf(outline)));
    this.outlines.clear();
    for (const { outline } of zones) this.outline(outline, bytes(skin.red, 210));
    this.outlines.show();
  }

  /** Called before each drawing. */
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

  private outline(ring: readonly Place[], colour: ReturnType<typeof bytes>): void {
    for (let k = 0; k + 1 < ring.length; k++) {
      const [a, b] = [ring[k] as Place, ring[k + 1] as Place];
      this.outlines.add([...a, groundAt(...a)], [...b, groundAt(...b)], 2, colour);
    }
  }

  private set(values: Record<string, unknown>): void {
    const { uniforms } = this.areas.material;
    for (const [name, value] of Object.entries(values)) (uniforms[name] as { value: unknown }).value = value;
  }
}
