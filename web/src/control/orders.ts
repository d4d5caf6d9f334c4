// Giving orders, and seeing afterwards what is ordered now.
import { type Behaviour, call } from "../net/link";
import { reasonOf } from "../state/caller";
import { live, orders, routes, tell } from "../state/store";

/** Whether the run that is shown can be told anything; says so if not. */
export function canCommand(): boolean {
  if (!live.value) tell("warning", "Only the live run takes orders: go back to the present first.");
  return live.value;
}

/** Give one order to vehicles; false (and told) when the server refuses. */
export async function giveOrder(ids: readonly number[], behaviour: Behaviour): Promise<boolean> {
  return giveOrders([[ids, behaviour]]);
}

/** Several orders at once; what is ordered is asked for once, at the end. */
export async function giveOrders(all: readonly (readonly [readonly number[], Behaviour])[]): Promise<boolean> {
  try {
    await Promise.all(all.map(([vehicles, behaviour]) => call("give_order", { vehicles, behaviour })));
    return true;
  } catch (error) {
    tell("error", `The order was refused: ${reasonOf(error)}`);
    return false;
  } finally {
    await refresh().catch(() => undefined); // only a picture of what is so anyway
  }
}

async function refresh(): Promise<void> {
  const [ordered, ways] = await Promise.all([call("get_orders", {}), call("get_routes", {})]);
  orders.value = ordered.orders;
  routes.value = ways.routes;
}
