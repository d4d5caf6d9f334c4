// The go tool: a click on the ground sends the selected vehicles there, each to its own point.
import type { Stage } from "../../scene/stage";
import { selection, showNotice } from "../../state/store";
import { canCommand, setOverrides } from "../overrides";
import { cruiseOf, type Placed, ping, placesOf, spreadGoals } from "../placement";

const MOST_SPOTS = 1000; // more vehicles share points: separate ones would not be distinguishable
const MOST_TOGETHER = 10_000; // vehicles per override: message size limit

export async function goTo(stage: Stage, x: number, y: number): Promise<void> {
  if (!canCommand(selection.value)) return;
  const point = stage.groundPoint(x, y);
  const vehicles = placesOf(selection.value);
  if (vehicles.length === 0) return showNotice("info", "Select vehicles first, then click on the ground");
  if (!point) return showNotice("info", "Click on the ground");
  ping(stage, point);
  await setOverrides(goOverrides(vehicles, [point[0], point[1]]));
}

type GoOverride = readonly [number[], { goto: Record<string, number | number[]> }];
type Goal = { id: number; x: number; y: number; z: number; speed: number };

/** One override for all, with a goal for each vehicle; several only for very many. */
export function goOverrides(vehicles: readonly Placed[], to: readonly [number, number]): GoOverride[] {
  const groups = sharing(vehicles, MOST_SPOTS);
  const spots = spreadGoals(
    groups.flatMap((group) => group.slice(0, 1)),
    to,
  );
  const goals = groups.flatMap((group) => goalsOf(group, spots));
  const parts = Array.from({ length: Math.ceil(goals.length / MOST_TOGETHER) }, (_, k) => k * MOST_TOGETHER);
  return parts.map((first) => together(goals.slice(first, first + MOST_TOGETHER)));
}

function goalsOf(group: readonly Placed[], spots: ReadonlyMap<number, readonly number[]>): Goal[] {
  const [leader] = group;
  const [x, y, z] = (leader && spots.get(leader.id)) ?? [];
  if (!leader || x === undefined || y === undefined) return [];
  const goal = { x: toMillimetre(x), y: toMillimetre(y), z: toMillimetre(z ?? 0), speed: cruiseOf(leader.kind) };
  return group.map(({ id }) => ({ id, ...goal }));
}

function together(goals: readonly Goal[]): GoOverride {
  const column = (name: keyof Goal) => shortened(goals.map((goal) => goal[name]));
  const goto = { x: column("x"), y: column("y"), z: column("z"), speed: column("speed") };
  return [goals.map(({ id }) => id), { goto }];
}

/** The common value, or the list. */
function shortened(values: number[]): number | number[] {
  const [first = 0] = values;
  return values.every((value) => value === first) ? first : values;
}

function toMillimetre(metres: number): number {
  return Math.round(metres * 1000) / 1000;
}

/** Vehicles in at most this many groups of one kind, neighbours together. */
export function sharing(vehicles: readonly Placed[], most: number): Placed[][] {
  const size = Math.ceil(vehicles.length / most);
  const groups: Placed[][] = [];
  for (const vehicle of vehicles) {
    const last = groups.at(-1);
    if (last && last.length < size && last[0]?.kind === vehicle.kind) last.push(vehicle);
    else groups.push([vehicle]);
  }
  return groups;
}
