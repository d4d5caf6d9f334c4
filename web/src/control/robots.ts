// What to ask for so that vehicles come to be: one at a place, or several on a grid around it.
import type { Params } from "../state/methods";
import type { Spawning } from "../state/spawning";
import { gridSpots, spacingOf } from "./spread";

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
