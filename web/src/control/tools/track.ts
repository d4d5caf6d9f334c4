// The track tool: click to place a cone, drag one to move it, keys for colours, deleting and undo.
import { effect } from "@preact/signals";
import type { Stage } from "../../scene/stage";
import { TrackEditDrawing } from "../../scene/track-editing";
import { groundAt } from "../../state/scenery";
import { select, tool } from "../../state/store";
import {
  apply,
  CONE_COLOURS,
  check,
  chooseColour,
  chooseCone,
  chosenCone,
  closeDraft,
  draft,
  edit,
  movedCone,
  openDraft,
  placeCone,
  placingStart,
  redo,
  removeCone,
  startAt,
  type TrackDraft,
  undo,
} from "../../state/track-draft";
import { isTyping } from "../driving";
import { type CanvasTool, type Drag, setCanvasTool } from "../pointer";

const REACH = 16; // px around a cone
const SHORT = 0.5; // m: a shorter drag keeps the heading of the start pose

/** Start editing; return a stop function. */
export function startTrackTool(stage: Stage, fresh = false): () => void {
  const drawing = new TrackEditDrawing();
  select([]); // Delete would remove vehicles
  openDraft(fresh);
  const detach = stage.attach(drawing);
  const over = new AbortController();
  setCanvasTool(new TrackTool(stage, drawing));
  window.addEventListener("keydown", onKey, { capture: true, signal: over.signal });
  const redraw = effect(() => void [draft.value, chosenCone.value, check.value, stage.invalidate()]);
  return () => {
    redraw();
    over.abort();
    setCanvasTool(null);
    detach();
    closeDraft();
  };
}

/** Return the cone at a screen position. */
export function coneAt(stage: Pick<Stage, "projectPoint">, { cones }: TrackDraft, x: number, y: number): number | null {
  let [best, least]: [number | null, number] = [null, REACH];
  cones.forEach(([cx, cy], k) => {
    const at = stage.projectPoint(cx, cy, groundAt(cx, cy) + 0.15);
    const away = at ? Math.hypot(at[0] - x, at[1] - y) : Number.POSITIVE_INFINITY;
    if (away < least) [best, least] = [k, away];
  });
  return best;
}

class TrackTool implements CanvasTool {
  constructor(
    private readonly stage: Stage,
    private readonly drawing: TrackEditDrawing,
  ) {}

  dragFrom(x: number, y: number): Drag | null {
    if (placingStart.peek()) return new StartDrag(this.stage, x, y);
    const cone = coneAt(this.stage, draft.peek(), x, y);
    return cone === null ? null : new ConeDrag(this.stage, cone);
  }

  click(x: number, y: number): void {
    const point = this.stage.groundPoint(x, y);
    if (!point) return;
    if (placingStart.peek()) {
      const now = draft.peek();
      edit(startAt(now, point[0], point[1], now.start[2]));
      placingStart.value = false;
      return;
    }
    const cone = coneAt(this.stage, draft.peek(), x, y);
    if (cone === null) placeCone(point[0], point[1]);
    else chooseCone(cone);
  }

  hover(x: number, y: number): void {
    const cone = coneAt(this.stage, draft.peek(), x, y);
    if (cone === this.drawing.hovered) return;
    this.drawing.hovered = cone;
    this.stage.invalidate();
  }
}

class ConeDrag implements Drag {
  private readonly from = draft.peek();

  constructor(
    private readonly stage: Stage,
    private readonly cone: number,
  ) {}

  move(x: number, y: number): void {
    const point = this.stage.groundPoint(x, y);
    chooseCone(this.cone);
    if (point) apply(movedCone(this.from, this.cone, point[0], point[1]));
  }

  drop(): void {
    edit(draft.peek(), this.from);
  }

  cancel(): void {
    if (draft.peek() !== this.from) apply(this.from);
  }
}

/** From the start position in the driving direction. */
class StartDrag implements Drag {
  private readonly from = draft.peek();
  private readonly origin: readonly number[] | null;

  constructor(
    private readonly stage: Stage,
    x: number,
    y: number,
  ) {
    this.origin = stage.groundPoint(x, y);
  }

  move(x: number, y: number): void {
    const [origin, point] = [this.origin, this.stage.groundPoint(x, y)];
    if (!origin || !point) return;
    const [dx, dy] = [point[0] - (origin[0] as number), point[1] - (origin[1] as number)];
    const yaw = Math.hypot(dx, dy) < SHORT ? this.from.start[2] : Math.atan2(dy, dx);
    apply(startAt(this.from, origin[0] as number, origin[1] as number, yaw));
  }

  drop(): void {
    edit(draft.peek(), this.from);
    placingStart.value = false;
  }

  cancel(): void {
    if (draft.peek() !== this.from) apply(this.from);
  }
}

function onKey(event: KeyboardEvent): void {
  if (isTyping(event.target) || document.querySelector("dialog[open]") !== null || !act(event)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

function act(event: KeyboardEvent): boolean {
  const key = event.key.toLowerCase();
  if (event.ctrlKey || event.metaKey) {
    if (key !== "z" && key !== "y") return false;
    if (key === "y" || event.shiftKey) redo();
    else undo();
    return true;
  }
  const colour = CONE_COLOURS[Number(key) - 1];
  const cone = chosenCone.peek();
  if (colour !== undefined) chooseColour(colour);
  else if (key === "s") placingStart.value = !placingStart.peek();
  else if ((key === "delete" || key === "backspace") && cone !== null) removeCone(cone);
  else if (key === "escape") leave();
  else return false;
  return true;
}

/** Leave the chosen cone, then the tool. */
function leave(): void {
  if (!placingStart.peek() && chosenCone.peek() === null) tool.value = "select";
  placingStart.value = false;
  chosenCone.value = null;
}
