// What the spawn panel asks for at coordinates: one vehicle there, or several in a square around it.
import type { Params } from "../state/methods";
import type { Spawning } from "../state/spawning";

type Robots = Params<"spawn_robots">["robots"];

const GAP = 4; // m between neighbours

export function robotsOf(what: Spawning, x: number, y: number): Robots {
  const { model, preset, name, count, heading, height } = what;
  const side = Math.ceil(Math.sqrt(count));
  return Array.from({ length: count }, (_, k) => ({
    robot_type: model,
    ...(preset === "" ? {} : { preset }),
    ...(name === "" ? {} : { name: count > 1 ? `${name}_${k + 1}` : name }),
    ...(height === null ? {} : { z: height }),
    x: x + GAP * ((k % side) - (side - 1) / 2),
    y: y + GAP * (Math.floor(k / side) - (Math.ceil(count / side) - 1) / 2),
    yaw: heading,
  }));
}
