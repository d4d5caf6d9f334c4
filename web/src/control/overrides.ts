// Giving orders, and seeing afterwards what is ordered now.
import { call } from "../net/connection";
import { type Behaviour, reasonOf } from "../net/rpc";
import { orderSent } from "../state/overrides";
import { deaf, live, orders, routes, tell } from "../state/store";

/** Whether the run that is shown can be told anything; says so if not. */
export function canCommand(): boolean {
  if (deaf.value !== "") tell("warning", `Nothing can be ordered: ${deaf.value}.`);
  return live.value;
}

/** Give one order to vehicles; false (and told) when the server refuses. */
export async function giveOrder(ids: readonly number[], behaviour: Behaviour): Promise<boolean> {
  return giveOrders([[ids, behaviour]]);
}

/** Several orders at once; what is ordered is asked for once, at the end. */
export async function giveOrders(all: readonly (readonly [readonly number[], Behaviour])[]): Promise<boolean> {
  const sent = all.map(([ids, behaviour]) => orderSent(ids, behaviour));
  try {
    await Promise.all(all.map(([vehicles, behaviour]) => call("give_order", { vehicles, behaviour })));
    return true;
  } catch (error) {
    tell("error", `The order was refused: ${reasonOf(error)}`);
    return false;
  } finally {
    await refresh().catch(() => undefined); // only a picture of what is so anyway
    for (const answered of sent) answered();
  }
}

async function refresh(): Promise<void> {
  const [ordered, ways] = await Promise.all([call("get_orders", {}), call("get_routes", {})]);
  orders.value = ordered.orders;
  routes.value = ways.routes;
}
