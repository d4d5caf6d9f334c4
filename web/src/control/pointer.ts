// The pointer on the world view: clicks use the tool; drags move the camera, a box, a waypoint or a task.
import type { Stage } from "../scene/stage";
import { chosenTask } from "../state/mission";
import { focus, hovered, live, select, selection, tool } from "../state/store";
import { listenToKeys } from "./driving";
import { goTo } from "./tools/go";
import { HandleDrag } from "./tools/handles";
import { addTaskAt, TaskDrag } from "./tools/mission";
import type { RouteTool } from "./tools/route";
import { spawnAt } from "./tools/spawn";

let cancelled: (() => void) | null = null;

/** Set the function that cancels the present drag; null: no drag. */
export function setDragged(cancel: (() => void) | null): void {
  cancelled = cancel;
}

/** Cancel the present drag; return false if there is none. */
export function cancelDragged(): boolean {
  const cancel = cancelled;
  cancelled = null;
  cancel?.();
  return cancel !== null;
}

/** A tool that takes over clicks and drags on the world, set by code that is loaded later. */
export interface CanvasTool {
  /** The drag that begins at a point; null: the camera moves. */
  dragFrom(x: number, y: number): Drag | null;
  click(x: number, y: number): void;
  hover(x: number, y: number): void;
}

let canvasTool: CanvasTool | null = null;

export function setCanvasTool(tool: CanvasTool | null): void {
  canvasTool = tool;
}

// selection box ------------------------------------------------------------------------------------------------------

class BoxDrag {
  private readonly frame = document.createElement("div");
  private to: [number, number];

  constructor(
    private readonly stage: Stage,
    private readonly from: readonly [number, number],
    private readonly add: boolean,
  ) {
    this.to = [...from];
    this.frame.className = "selection-box";
    this.frame.setAttribute("aria-hidden", "true");
    (stage.canvas.parentElement ?? document.body).append(this.frame);
  }

  move(x: number, y: number): void {
    this.to = [x, y];
    const [left, top, right, bottom] = corners(this.from, this.to);
    Object.assign(this.frame.style, {
      left: `${left}px`,
      top: `${top}px`,
      width: `${right - left}px`,
      height: `${bottom - top}px`,
    });
  }

  drop(): void {
    this.frame.remove();
    select(this.stage.pickBox(...corners(this.from, this.to)), this.add);
  }

  cancel(): void {
    this.frame.remove();
  }
}

/** Left, top, right, bottom of two opposite corners. */
export function corners(a: readonly [number, number], b: readonly [number, number]): [number, number, number, number] {
  return [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[0], b[0]), Math.max(a[1], b[1])];
}

// pointer ------------------------------------------------------------------------------------------------------------

const STILL = 4; // px that a click may move
const HOVER_EVERY = 60; // ms

export interface Drag {
  move(x: number, y: number): void;
  drop(): void | Promise<void>;
  cancel(): void;
}

export function startPointer(stage: Stage, route: RouteTool): () => void {
  const pointer = new Pointer(stage, route);
  const over = new AbortController();
  // capturing on the host: own drags are marked before the camera handles them
  const host = stage.canvas.parentElement ?? stage.canvas;
  const options = { capture: true, signal: over.signal };
  host.addEventListener("pointerdown", (event) => pointer.down(event), options);
  window.addEventListener("pointermove", (event) => pointer.move(event), { signal: over.signal });
  window.addEventListener("pointerup", (event) => pointer.up(event), { signal: over.signal });
  window.addEventListener("pointercancel", () => pointer.cancel(), { signal: over.signal });
  window.addEventListener("blur", () => pointer.cancel(), { signal: over.signal });
  host.addEventListener("dblclick", (event) => pointer.double(event), options);
  stage.canvas.addEventListener("pointerleave", () => pointer.leave(), { signal: over.signal });
  const stop = listenToKeys((event) => event.code === "Escape" && cancelDragged());
  return () => {
    over.abort();
    stop();
    pointer.cancel();
  };
}

class Pointer {
  private pressed: { id: number; x: number; y: number; moved: boolean } | null = null;
  private drag: Drag | null = null;
  private looked = -Infinity; // performance.now() of the last hover test

  constructor(
    private readonly stage: Stage,
    private readonly route: RouteTool,
  ) {}

  down(event: PointerEvent): void {
    if (event.button !== 0 || !event.isPrimary || event.target !== this.stage.canvas) return;
    const [x, y] = this.at(event);
    this.pressed = { id: event.pointerId, x, y, moved: false };
    this.drag = this.dragFrom(event, x, y);
    if (!this.drag) return;
    event.preventDefault(); // keeps the camera still
    setDragged(() => this.cancel());
  }

  move(event: PointerEvent): void {
    const [x, y] = this.at(event);
    const { pressed } = this;
    if (!pressed) return this.hover(event, x, y);
    if (event.pointerId !== pressed.id) return;
    pressed.moved ||= Math.hypot(x - pressed.x, y - pressed.y) >= STILL;
    if (pressed.moved) this.drag?.move(x, y);
  }

  up(event: PointerEvent): void {
    const { pressed, drag } = this;
    if (!pressed || event.pointerId !== pressed.id) return;
    this.pressed = this.drag = null;
    setDragged(null);
    if (pressed.moved) void drag?.drop();
    else {
      drag?.cancel();
      this.click(event, ...this.at(event));
    }
  }

  cancel(): void {
    this.drag?.cancel();
    this.pressed = this.drag = null;
    setDragged(null);
  }

  double(event: MouseEvent): void {
    if (event.target !== this.stage.canvas) return;
    if (tool.value === "route") return void this.route.finish(event.shiftKey);
    if (tool.value !== "select" && tool.value !== "box") return;
    const id = this.stage.pick(...this.at(event));
    if (id === null) return;
    focus.value = id;
    this.stage.lookAt(id);
  }

  leave(): void {
    if (hovered.value !== null) hovered.value = null;
  }

  private dragFrom(event: PointerEvent, x: number, y: number): Drag | null {
    if (canvasTool) return canvasTool.dragFrom(x, y);
    if (tool.value === "box" || event.altKey) return new BoxDrag(this.stage, [x, y], adds(event));
    if (tool.value === "spawn" || tool.value === "task") return null;
    const handle = this.stage.pickHandle(x, y);
    if (handle) return new HandleDrag(this.stage, handle);
    const task = live.value ? this.stage.pickTask(x, y) : null;
    return task === null ? null : new TaskDrag(this.stage, task);
  }

  private click(event: PointerEvent, x: number, y: number): void {
    if (canvasTool) canvasTool.click(x, y);
    else if (tool.value === "go") void goTo(this.stage, x, y);
    else if (tool.value === "route") this.route.add(x, y);
    else if (tool.value === "spawn") void spawnAt(this.stage, x, y);
    else if (tool.value === "task") void addTaskAt(this.stage, x, y);
    else this.chooseAt(event, x, y);
  }

  /** A vehicle, or the task at this point. */
  private chooseAt(event: PointerEvent, x: number, y: number): void {
    const id = this.stage.pick(x, y);
    const task = id === null ? this.stage.pickTask(x, y, true) : null;
    if (task === null) choose(id, adds(event));
    else chosenTask.value = task;
  }

  private hover(event: PointerEvent, x: number, y: number): void {
    if (event.buttons !== 0 || event.target !== this.stage.canvas) return;
    const now = performance.now();
    if (now - this.looked < HOVER_EVERY) return;
    this.looked = now;
    if (canvasTool) return canvasTool.hover(x, y);
    const id = this.stage.pick(x, y);
    if (id !== hovered.value) hovered.value = id;
  }

  private at(event: MouseEvent): [number, number] {
    const box = this.stage.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }
}

function adds(event: MouseEvent): boolean {
  return event.ctrlKey || event.metaKey || event.shiftKey;
}

/** A click selects a vehicle, with Ctrl or Shift adds or removes it; a click on nothing clears the selection. */
function choose(id: number | null, add: boolean): void {
  if (id === null) return add ? undefined : select([]);
  if (add && selection.value.has(id)) {
    const others = [...selection.value].filter((other) => other !== id);
    return select(others);
  }
  select([id], add);
}
