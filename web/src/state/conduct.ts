// Who moves each vehicle: commands from outside, the behaviour of its entry, or an order.
import type { FleetInfoTree, OrderTree } from "../net/schema";
import type { Roster } from "./roster";

/** What the numbers mean. */
export const CONDUCTS = ["disarmed", "takes commands", "own behaviour", "order"] as const;
const [DISARMED, EXTERNAL, OWN, ORDERED] = [0, 1, 2, 3];

/** A number of each row; NaN where it is not known. `armed` is told of some, 0 or 1. */
export function conducts(who: Roster, fleets: readonly FleetInfoTree[], orders: readonly OrderTree[],
  armed?: ArrayLike<number>): Float32Array {
  const values = new Float32Array(who.size).fill(Number.NaN);
  for (const { name, first, count } of who.fleets) {
    const about = fleets.find((fleet) => fleet.name === name);
    if (about) values.fill(about.driven_by === null ? EXTERNAL : OWN, first, first + count);
  }
  for (const { ids, behaviour } of orders) {
    for (const id of eachOf(ids)) {
      const row = who.rowOfId(id);
      if (row !== undefined) values[row] = behaviour === "external" ? EXTERNAL : ORDERED;
    }
  }
  for (let row = 0; armed && row < who.size; row++) if ((armed[row] as number) < 0.5) values[row] = DISARMED;
  return values;
}

function* eachOf(ranges: OrderTree["ids"]): Iterable<number> {
  for (const [first, count] of ranges) for (let id = first; id < first + count; id++) yield id;
}
