// The go tool: a click on the ground sends the selected vehicles there, each to a spot of its own.
import type { Stage } from "../../scene/stage";
import { groundHeight } from "../../state/mission";
import { selection, tell } from "../../state/store";
import { canCommand, giveOrders } from "../overrides";
import { cruiseOf, type Placed, ping, placesOf, spreadGoals } from "../placement";

const MOST_SPOTS = 1000; // beyond, neighbours share a spot: one for each of many thousands helps nobody
const MOST_TOGETHER = 10_000; // vehicles in one order: more do not fit into one message

export async function goTo(stage: Stage, x: number, y: number): Promise<void> {
  if (!canCommand()) return;
  const point = stage.groundPoint(x, y, groundHeight());
  const vehicles = placesOf(selection.value);
  if (vehicles.length === 0) return tell("info", "Choose vehicles first, then click where they are to go.");
  if (!point) return tell("info", "There is no ground to go to.");
  ping(stage, point);
  await giveOrders(goOrders(vehicles, [point[0], point[1]]));
}

type Order = readonly [number[], { goto: Record<string, number | number[]> }];
type Goal = { id: number; x: number; y: number; z: number; speed: number };

/** One order for all, with a spot for each vehicle; several only for very many. */
export function goOrders(vehicles: readonly Placed[], to: readonly [number, number]): Order[] {
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

function together(goals: readonly Goal[]): Order {
  const column = (name: keyof Goal) => shortened(goals.map((goal) => goal[name]));
  const goto = { x: column("x"), y: column("y"), z: column("z"), speed: column("speed") };
  return [goals.map(({ id }) => id), { goto }];
}

/** The one value that all share, or the list. */
function shortened(values: number[]): number | number[] {
  const [first = 0] = values;
  return values.every((value) => value === first) ? first : values;
}

function toMillimetre(metres: number): number {
  return Math.round(metres * 1000) / 1000;
}

/** Vehicles in at most so many groups of one kind, neighbours in the list together. */
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
