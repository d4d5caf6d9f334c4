// The mission under the pointer: a task is dragged elsewhere, a click adds one.
import { call } from "../../net/connection";
import { reasonOf } from "../../net/rpc";
import type { Stage } from "../../scene/stage";
import { awaited, awaitTask, freeName, groundHeight, mission } from "../../state/mission";
import { tell } from "../../state/store";
import { canCommand } from "../overrides";
import { ping } from "../placement";

type Place = readonly [number, number, number];

/** While dragged, a task is shown where it would be; when dropped, the server is asked. */
export class TaskDrag {
  private point: Place | null = null;

  constructor(
    private readonly stage: Stage,
    private readonly name: string,
  ) {}

  move(x: number, y: number): void {
    const point = this.stage.groundPoint(x, y, groundHeight());
    if (!point) return;
    this.point = point;
    awaitTask(this.name, { x: point[0], y: point[1], kind: "dragged" });
  }

  async drop(): Promise<void> {
    const { point, name } = this;
    if (!point || !canCommand()) return this.cancel();
    await moveTask(this.stage, name, point);
  }

  cancel(): void {
    awaitTask(this.name, null);
  }
}

async function moveTask(stage: Stage, name: string, point: Place): Promise<void> {
  const [x, y] = toMillimetres(point);
  awaitTask(name, { x, y, kind: "asked" }); // until the mission says that it is there
  ping(stage, point);
  await asked(name, `${name} stays where it is`, call("move_task", { name, x, y }));
}

/** One more task to pass a place, where the ground was clicked. */
export async function addTaskAt(stage: Stage, sx: number, sy: number): Promise<void> {
  const point = stage.groundPoint(sx, sy, groundHeight());
  if (!point || !canCommand()) return;
  const name = freeName(mission.peek(), awaited.peek().keys());
  const [x, y] = toMillimetres(point);
  awaitTask(name, { x, y, kind: "asked" });
  ping(stage, point);
  await asked(name, "No task was added", call("add_task", { task: { name, point: { at: [x, y] } } }));
}

async function asked(name: string, otherwise: string, answer: Promise<unknown>): Promise<void> {
  try {
    await answer;
  } catch (error) {
    awaitTask(name, null);
    tell("error", `${otherwise}: ${reasonOf(error)}`);
  }
}

function toMillimetres([x, y]: Place): [number, number] {
  return [Math.round(1000 * x) / 1000, Math.round(1000 * y) / 1000];
}
