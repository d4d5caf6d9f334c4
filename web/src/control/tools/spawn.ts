// The spawn tool: a click places the vehicles of the spawn panel, several of them on a grid.
import { call } from "../../net/connection";
import { type Params, reasonOf } from "../../net/rpc";
import type { Stage } from "../../scene/stage";
import { groundHeight } from "../../state/mission";
import { type Spawning, select, spawning, tell } from "../../state/store";
import { canCommand } from "../overrides";
import { gridSpots, ping, spacingOf } from "../placement";

type Robot = Params<"spawn_robots">["robots"][number];

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
