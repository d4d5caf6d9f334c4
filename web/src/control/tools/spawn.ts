// The spawn tool: a click places what the spawn panel describes; several stand on a grid around the click.
import type { Stage } from "../../scene/stage";
import { call, type Params } from "../../net/link";
import { reasonOf } from "../../state/caller";
import { spawning, type Spawning } from "../../state/spawning";
import { select, tell } from "../../state/store";
import { canCommand } from "../orders";
import { ping } from "../ping";
import { groundHeight } from "../places";
import { gridSpots, spacingOf } from "../spread";

type Robot = Params<"spawn_robots">["robots"][number];

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

const MOST_NAMED = 50; // each that has a name is a fleet of its own: more of them are one fleet without

/** What to ask for, all of it facing the same way. */
export function robotsAt(what: Spawning, middle: readonly [number, number]): Robot[] {
  const { model, preset, name, count, heading, height } = what;
  return gridSpots(count, spacingOf(model)).map(([dx, dy], k) => {
    const called = count > 1 ? `${name}_${k + 1}` : name;
    const named = name !== "" && count <= MOST_NAMED ? { name: called } : {};
    const given = { ...named, ...(preset ? { preset } : {}), ...(height === null ? {} : { z: height }) };
    return { robot_type: model, x: middle[0] + dx, y: middle[1] + dy, yaw: heading, ...given };
  });
}
