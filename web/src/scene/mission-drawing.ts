// The mission in the world: zones, tasks, base, and pending moves. Loaded when a mission exists.
import { BufferAttribute, BufferGeometry, GLSL3, Group, Points, RawShaderMaterial } from "three";
import { chosenTask, isOver, mission, pendingTasks, type TaskState } from "../state/mission";
import { groundAt, relief } from "../state/scenery";
import { layers } from "../state/store";
import type { MissionTree, TaskTree, ZoneTree } from "../wire/schema";
import { arrowHead, middleOf, type Place, shifted, titleOf, ZoneLayer } from "./mission-zones";
import type { Overlay } from "./overlay";
import { bytes, type Rgba, Ribbons, UNDERNEATH } from "./ribbons";
import { cssOf, type Skin } from "./skin";
import { type Matrix, type Size, toScreen, type ViewState } from "./view";

const VERTEX = /* glsl */ `precision highp float;
in vec3 place; // m
in vec4 tint;
in vec4 look; // sign; size; the heading as a vector, or nothing
uniform mat4 viewMatrix, projectionMatrix;
uniform vec2 canvas; // px
uniform float side;
flat out vec4 colour;
flat out vec2 ahead;
flat out float sign;
flat out float soft;
void main() {
  vec4 p = projectionMatrix * viewMatrix * vec4(place, 1.0);
  vec4 q = projectionMatrix * viewMatrix * vec4(place + vec3(0.02 * p.w * look.zw, 0.0), 1.0);
  vec2 way = (q.xy / q.w - p.xy / p.w) * canvas;
  float far = length(way);
  ahead = far > 1e-4 ? way / far : vec2(0.0);
  colour = tint;
  sign = look.x;
  gl_Position = p;
  gl_PointSize = side * look.y;
  soft = 2.0 / gl_PointSize;
}`;

const FRAGMENT = /* glsl */ `precision highp float;
flat in vec4 colour;
flat in vec2 ahead;
flat in float sign;
flat in float soft;
out vec4 shown;
float within(float edge, float value) { return 1.0 - smoothstep(edge - soft, edge + soft, value); }
void main() {
  vec2 v = vec2(2.0, -2.0) * (gl_PointCoord - 0.5);
  float r = length(v);
  float diamond = abs(v.x) + abs(v.y);
  float line = sign > 2.5 ? within(0.1, abs(diamond - 0.62)) : within(0.085, abs(r - 0.5));
  if (sign > 0.5 && sign < 1.5) line = max(line, within(0.34, r));
  if (sign > 1.5 && sign < 2.5) line = max(line, within(0.42, r) * within(0.1, abs(abs(v.x) - abs(v.y)) * 0.7071));
  float along = dot(v, ahead);
  float tick = within(0.1, abs(ahead.x * v.y - ahead.y * v.x)) * step(0.5, along) * within(0.9, along);
  float strength = max(line, tick);
  if (strength < 0.02) discard;
  shown = vec4(colour.rgb, colour.a * strength);
}`;

/** The symbol inside the ring. */
const Sign = { open: 0, done: 1, crossed: 2, base: 3 } as const;

interface Mark {
  x: number; // m
  y: number;
  heading: number | null; // rad
  sign: number;
  size: number; // 1: normal
  colour: Rgba;
}

const SIDE_PX = 24;

class MarkLayer {
  readonly points: Points<BufferGeometry, RawShaderMaterial>;

  constructor() {
    const material = new RawShaderMaterial({
      glslVersion: GLSL3,
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: { canvas: { value: [1, 1] }, side: { value: SIDE_PX } },
      ...UNDERNEATH,
      depthTest: false,
      depthWrite: false,
    });
    this.points = new Points(new BufferGeometry(), material);
    this.points.frustumCulled = false;
    this.points.renderOrder = -4;
  }

  rebuild(marks: readonly Mark[]): void {
    const { geometry } = this.points;
    const places = new Float32Array(marks.flatMap(({ x, y }) => [x, y, groundAt(x, y)]));
    const tints = new Uint8Array(marks.flatMap(({ colour }) => [...colour]));
    const looks = new Float32Array(marks.flatMap(({ sign, size, heading }) => [sign, size, ...towards(heading)]));
    geometry.dispose();
    geometry.setAttribute("place", new BufferAttribute(places, 3));
    geometry.setAttribute("tint", new BufferAttribute(tints, 4, true));
    geometry.setAttribute("look", new BufferAttribute(looks, 4));
    geometry.setDrawRange(0, marks.length);
    this.points.visible = marks.length > 0;
  }

  /** Called before each drawing. */
  view({ size, ratio, unit }: ViewState): void {
    const { uniforms } = this.points.material;
    (uniforms["canvas"] as { value: number[] }).value = [size.width, size.height];
    (uniforms["side"] as { value: number }).value = SIDE_PX * ratio * unit;
  }

  dispose(): void {
    this.points.geometry.dispose();
    this.points.material.dispose();
  }
}

/** Unit vector of a heading; zero for any heading. */
function towards(heading: number | null): [number, number] {
  return heading === null || !Number.isFinite(heading) ? [0, 0] : [Math.cos(heading), Math.sin(heading)];
}

// mission ------------------------------------------------------------------------------------------------------------

const REACH_PX = 14; // px from the centre of a mark for dragging
const SMALLEST = 0.5; // size of the marks of very many tasks
const FEW = 40; // tasks on the screen up to which all are labelled
const COLOURS: Readonly<Record<TaskState, "faint" | "accent" | "amber" | "green" | "red">> = {
  unassigned: "faint",
  assigned: "accent",
  started: "amber",
  completed: "green",
  undone: "red",
};

/** The colour of a task state. */
export function colourOf(state: TaskState, skin: Skin, opacity = 255): Rgba {
  return bytes(skin[COLOURS[state]], opacity);
}

/** The size of each mark of many tasks: 1 up to FEW, smaller beyond. */
export function markSize(count: number): number {
  return Math.max(SMALLEST, Math.min(1, Math.sqrt(FEW / Math.max(count, 1))));
}

export class MissionDrawing {
  readonly group = new Group();
  private readonly zones = new ZoneLayer();
  private readonly marks = new MarkLayer();
  private readonly outlines = new Ribbons(-5, false, UNDERNEATH);
  private basis: unknown[] = [];
  private tree: MissionTree | null = null; // drawn mission

  constructor() {
    this.group.add(this.zones.group, this.outlines.object, this.marks.points);
  }

  update(view: ViewState, shown: boolean): void {
    const wanted = layers.peek();
    this.tree = shown ? mission.peek() : null;
    this.zones.group.visible = wanted.zones && this.tree !== null;
    const basis = [
      this.tree,
      view.skin,
      wanted.tasks,
      chosenTask.peek(),
      pendingTasks.peek(),
      relief.peek(),
      groundAt(0, 0),
    ];
    if (basis.some((item, k) => item !== this.basis[k])) this.rebuild(view, wanted.tasks);
    this.basis = basis;
    this.zones.view(view);
    this.marks.view(view);
    this.outlines.view(view);
  }

  /** Labels of zones, the selected and pending tasks, and of all tasks if there are few. */
  label(overlay: Overlay, view: ViewState): void {
    if (!this.tree) return;
    const { zones, tasks } = layers.peek();
    for (const zone of zones ? this.tree.zones : []) this.zoneName(overlay, view, zone);
    if (!tasks) return;
    const [x = 0, y = 0] = this.tree.base;
    this.plate(overlay, view, "base", [x, y], false);
    for (const [name, { x, y }] of pendingTasks.peek()) this.plate(overlay, view, name, [x, y], true);
    const seen = this.tree.tasks.filter((task) => this.onScreen(view, [task.x, task.y]));
    for (const { name, x, y } of seen) {
      const chosen = name === chosenTask.peek();
      if (chosen || seen.length <= FEW) this.plate(overlay, view, name, [x, y], chosen);
    }
  }

  /** The task at a screen position, if it can still be changed. */
  taskAt(matrix: Matrix, size: Size, x: number, y: number, all: boolean): string | null {
    let [nearest, least]: [string | null, number] = [null, REACH_PX];
    const screen = [0, 0, 0];
    for (const task of layers.peek().tasks ? (this.tree?.tasks ?? []) : []) {
      if ((!all && isOver(task)) || !toScreen(matrix, task.x, task.y, groundAt(task.x, task.y), size, screen)) continue;
      const away = Math.hypot((screen[0] as number) - x, (screen[1] as number) - y);
      if (away < least) [nearest, least] = [task.name, away];
    }
    return nearest;
  }

  dispose(): void {
    for (const layer of [this.zones, this.marks, this.outlines]) layer.dispose();
  }

  private rebuild(view: ViewState, tasks: boolean): void {
    const { skin } = view;
    this.zones.rebuild(this.tree?.zones ?? [], view);
    this.outlines.clear();
    const marks: Mark[] = [];
    if (this.tree && tasks) {
      const [x = 0, y = 0, , heading = 0] = this.tree.base;
      marks.push({ x, y, heading, sign: Sign.base, size: 1, colour: bytes(skin.text, 200) });
      const size = markSize(this.tree.tasks.length);
      for (const task of this.tree.tasks) marks.push(this.task(task, skin, size));
      marks.push(...this.coming(this.tree, skin));
    }
    this.marks.rebuild(marks);
    this.outlines.show();
  }

  private task(task: TaskTree, skin: Skin, size: number): Mark {
    const { x, y, heading, state, name } = task;
    const chosen = name === chosenTask.peek();
    this.shape(task, colourOf(state, skin, chosen ? 255 : 190), chosen ? 3.2 : 2);
    const sign = state === "completed" ? Sign.done : state === "undone" ? Sign.crossed : Sign.open;
    const colour = colourOf(state, skin, chosen ? 255 : 130 + Math.round(125 * size));
    return { x, y, heading, sign, size: chosen ? 1.35 : size, colour };
  }

  /** Pending tasks at their new places. */
  private coming(tree: MissionTree, skin: Skin): Mark[] {
    return [...pendingTasks.peek()].map(([name, { x, y }]) => {
      const task = tree.tasks.find((candidate) => candidate.name === name);
      if (task) this.shape(shifted(task, x, y), bytes(skin.amber, 150), 2);
      return { x, y, heading: task?.heading ?? null, sign: Sign.open, size: 1.2, colour: bytes(skin.amber) };
    });
  }

  private shape({ outline, kind }: TaskTree, colour: Rgba, width: number): void {
    for (let k = 0; k + 1 < outline.length; k++) this.line(outline[k] as Place, outline[k + 1] as Place, width, colour);
    const [from, to] = outline.slice(-2);
    if (kind !== "line" || !from || !to) return;
    for (const end of arrowHead(from, to)) this.line(to, end, width, colour);
  }

  private line(a: Place, b: Place, width: number, colour: Rgba): void {
    this.outlines.add([...a, groundAt(...a)], [...b, groundAt(...b)], width, colour);
  }

  private zoneName(overlay: Overlay, view: ViewState, zone: ZoneTree): void {
    const screen = [0, 0, 0];
    const middle = middleOf(zone.outline);
    if (!toScreen(view.matrix, ...middle, groundAt(...middle), view.size, screen)) return;
    overlay.words(
      titleOf(zone),
      screen[0] as number,
      screen[1] as number,
      12,
      cssOf(view.skin.red),
      cssOf(view.skin.background, 0.8),
    );
  }

  private plate(overlay: Overlay, view: ViewState, text: string, [x, y]: Place, strong: boolean): void {
    const screen = [0, 0, 0];
    if (!toScreen(view.matrix, x, y, groundAt(x, y), view.size, screen)) return;
    overlay.plate(text, screen[0] as number, (screen[1] as number) - 9 * view.unit, view.skin, strong);
  }

  private onScreen(view: ViewState, [x, y]: Place): boolean {
    const screen = [0, 0, 0];
    if (!toScreen(view.matrix, x, y, groundAt(x, y), view.size, screen)) return false;
    const [sx = 0, sy = 0] = screen;
    return sx > 0 && sy > 0 && sx < view.size.width && sy < view.size.height;
  }
}
