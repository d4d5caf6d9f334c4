// The go tool: a click on the ground sends the selected vehicles there, each to a spot of its own.
import type { Stage } from "../../scene/stage";
import { selection, tell } from "../../state/store";
import { canCommand, giveOrders } from "../orders";
import { ping } from "../ping";
import { groundHeight, type Placed, placesOf } from "../places";
import { cruiseOf, spreadGoals } from "../spread";

const MOST_ORDERS = 100; // beyond, neighbours share a spot: an order for each of thousands helps nobody

export async function goTo(stage: Stage, x: number, y: number): Promise<void> {
  if (!canCommand()) return;
  const point = stage.groundPoint(x, y, groundHeight());
  const vehicles = placesOf(selection.value);
  if (vehicles.length === 0) return tell("info", "Choose vehicles first, then click where they are to go.");
  if (!point) return tell("info", "There is no ground to go to.");
  ping(stage, point);
  const groups = sharing(vehicles, MOST_ORDERS);
  const leaders = groups.flatMap((group) => group.slice(0, 1));
  const goals = spreadGoals(leaders, [point[0], point[1]]);
  await giveOrders(groups.flatMap((group) => orderFor(group, goals)));
}

type Order = readonly [number[], Record<string, unknown>];

function orderFor(group: readonly Placed[], goals: ReadonlyMap<number, readonly number[]>): Order[] {
  const [leader] = group;
  const [x, y, z] = (leader && goals.get(leader.id)) ?? [];
  if (!leader || x === undefined || y === undefined) return [];
  const goto = { x, y, z: z ?? 0, speed: cruiseOf(leader.kind) };
  return [[group.map(({ id }) => id), { goto }]];
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
