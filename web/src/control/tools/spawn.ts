// The spawn tool: a click places the vehicles of the spawn panel, several of them on a grid.
import { call, type Params, reasonOf } from "../../net/connection";
import type { Stage } from "../../scene/stage";
import { type Spawning, select, showNotice, spawning } from "../../state/store";
import { canCommand } from "../overrides";
import { gridSpots, ping, spacingOf } from "../placement";

type SpawnEntry = Params<"spawn_robots">["robots"][number];

const MOST_NAMED = 50; // each named vehicle is a fleet: larger numbers are spawned as one fleet without names

/** The entries to spawn, all with the same heading. */
export function spawnEntries(what: Spawning, middle: readonly [number, number]): SpawnEntry[] {
  const { model, preset, name, count, heading, height } = what;
  return gridSpots(count, spacingOf(model)).map(([dx, dy], k) => {
    const called = count > 1 ? `${name}_${k + 1}` : name;
    const named = name !== "" && count <= MOST_NAMED ? { name: called } : {};
    const options = { ...named, ...(preset ? { preset } : {}), ...(height === null ? {} : { z: height }) };
    return { robot_type: model, x: middle[0] + dx, y: middle[1] + dy, yaw: heading, ...options };
  });
}

export async function spawnAt(stage: Stage, x: number, y: number): Promise<void> {
  if (!canCommand()) return;
  const point = stage.groundPoint(x, y);
  if (!point) return showNotice("info", "Click on the ground");
  if (spawning.value.model === "") return showNotice("info", "Select a model first");
  ping(stage, point);
  try {
    const { ids } = await call("spawn_robots", { robots: spawnEntries(spawning.value, [point[0], point[1]]) });
    select(ids);
  } catch (error) {
    showNotice("error", `Spawn failed: ${reasonOf(error)}`);
  }
}
