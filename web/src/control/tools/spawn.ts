// The spawn tool: a click places what the spawn panel describes; several stand on a grid around the click.
import type { Stage } from "../../scene/stage";
import { call } from "../../net/link";
import { reasonOf } from "../../state/caller";
import { spawning } from "../../state/spawning";
import { select, tell } from "../../state/store";
import { canCommand } from "../orders";
import { ping } from "../ping";
import { groundHeight } from "../places";
import { robotsAt } from "../robots";

export async function spawnAt(stage: Stage, x: number, y: number): Promise<void> {
  if (!canCommand()) return;
  const point = stage.groundPoint(x, y, groundHeight());
  if (!point) return tell("info", "There is no ground to stand on.");
  if (spawning.value.model === "") return tell("info", "Choose a model to spawn first.");
  ping(stage, point);
  try {
    const { ids } = await call("spawn_robots", { robots: robotsAt(spawning.value, [point[0], point[1]]) });
    select(ids);
  } catch (error) {
    tell("error", `Nothing was spawned: ${reasonOf(error)}`);
  }
}
