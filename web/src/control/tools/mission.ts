// The task tool: drag a task to another place, click to add one.
import { call, reasonOf } from "../../net/connection";
import type { Stage } from "../../scene/stage";
import { addPendingTask, freeName, mission, pendingTasks } from "../../state/mission";
import { showNotice } from "../../state/store";
import { canCommand } from "../overrides";
import { ping } from "../placement";

type Place = readonly [number, number, number];

/** While dragged, a task is shown at the new place; on drop a request moves it. */
export class TaskDrag {
  private point: Place | null = null;

  constructor(
    private readonly stage: Stage,
    private readonly name: string,
  ) {}

  move(x: number, y: number): void {
    const point = this.stage.groundPoint(x, y);
    if (!point) return;
    this.point = point;
    addPendingTask(this.name, { x: point[0], y: point[1], kind: "dragged" });
  }

  async drop(): Promise<void> {
    const { point, name } = this;
    if (!point || !canCommand()) return this.cancel();
    await moveTask(this.stage, name, point);
  }

  cancel(): void {
    addPendingTask(this.name, null);
  }
}

async function moveTask(stage: Stage, name: string, point: Place): Promise<void> {
  const [x, y] = toMillimetres(point);
  addPendingTask(name, { x, y, kind: "requested" }); // until the mission confirms it
  ping(stage, point);
  await revertOnFailure(name, `Cannot move ${name}`, call("move_task", { name, x, y }));
}

/** Add a waypoint task at the clicked point. */
export async function addTaskAt(stage: Stage, sx: number, sy: number): Promise<void> {
  const point = stage.groundPoint(sx, sy);
  if (!point || !canCommand()) return;
  const name = freeName(mission.peek(), pendingTasks.peek().keys());
  const [x, y] = toMillimetres(point);
  addPendingTask(name, { x, y, kind: "requested" });
  ping(stage, point);
  await revertOnFailure(name, "Cannot add a task", call("add_task", { task: { name, point: { at: [x, y] } } }));
}

async function revertOnFailure(name: string, otherwise: string, answer: Promise<unknown>): Promise<void> {
  try {
    await answer;
  } catch (error) {
    addPendingTask(name, null);
    showNotice("error", `${otherwise}: ${reasonOf(error)}`);
  }
}

function toMillimetres([x, y]: Place): [number, number] {
  return [Math.round(1000 * x) / 1000, Math.round(1000 * y) / 1000];
}
