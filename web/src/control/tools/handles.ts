// Dragging a waypoint of an order: while dragged it is a draft, when dropped the changed order is given.
import type { Handle, Stage } from "../../scene/stage";
import { isOneByOne, orderPoints, type Waypoint } from "../../state/overrides";
import { orders } from "../../state/store";
import type { OrderTree } from "../../wire/schema";
import { canCommand, giveOrder } from "../overrides";
import { ping } from "../placement";

/** The options with one point elsewhere. */
export function withPoint(order: OrderTree, index: number, point: Waypoint): Record<string, unknown> {
  if (!Array.isArray(order.options["path"])) return { ...order.options, x: point[0], y: point[1], z: point[2] };
  return { ...order.options, path: orderPoints(order).map((old, k) => (k === index ? point : old)) };
}

/** The vehicles of all orders that say the same: they were sent together and stay together. */
export function idsOfAlike(order: OrderTree, all: readonly OrderTree[]): number[] {
  const said = JSON.stringify([order.behaviour, order.options]);
  const alike = all.filter(({ behaviour, options }) => JSON.stringify([behaviour, options]) === said);
  return (alike.length > 0 ? alike : [order]).flatMap(idsOf);
}

function idsOf({ ids }: OrderTree): number[] {
  return ids.flatMap(([first, count]) => Array.from({ length: count }, (_, k) => first + k));
}

/** What one vehicle was told of an order that says something else to each. */
export function orderOfOne(order: OrderTree, index: number): OrderTree {
  const own = Object.entries(order.options).map(([name, value]) => [name, Array.isArray(value) ? value[index] : value]);
  return {
    ...order,
    ids: idsOf(order)
      .slice(index, index + 1)
      .map((id) => [id, 1]),
    options: Object.fromEntries(own),
  };
}

export class HandleDrag {
  private point: Waypoint | null = null;
  private readonly order: OrderTree | undefined;
  private readonly index: number; // in the points of `order`
  private readonly all: readonly OrderTree[]; // among which others may say the same

  constructor(
    private readonly stage: Stage,
    handle: Handle,
  ) {
    const order = orders.value[handle.order];
    const alone = order !== undefined && isOneByOne(order);
    this.order = alone ? orderOfOne(order, handle.index) : order;
    this.index = alone ? 0 : handle.index;
    this.all = alone ? [] : orders.value;
  }

  move(x: number, y: number): void {
    const old = this.order && orderPoints(this.order)[this.index];
    if (!this.order || !old) return;
    this.point = this.stage.groundPoint(x, y, old[2]);
    if (!this.point) return;
    const changed = { ...this.order, options: withPoint(this.order, this.index, this.point) };
    this.stage.setDraft(orderPoints(changed));
  }

  async drop(): Promise<void> {
    const { order, point } = this;
    if (!order || !point || !canCommand()) return this.cancel();
    ping(this.stage, point);
    await giveOrder(idsOfAlike(order, this.all), { [order.behaviour]: withPoint(order, this.index, point) });
    this.stage.setDraft([]);
  }

  cancel(): void {
    this.stage.setDraft([]);
  }
}
