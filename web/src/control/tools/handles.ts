// Dragging a waypoint of an order: while dragged it is a draft, when dropped the changed order is given.
import type { OrderTree } from "../../net/schema";
import type { Handle, Stage } from "../../scene/stage";
import { orders } from "../../state/store";
import { canCommand, giveOrder } from "../orders";

type Point = [number, number, number];

/** The points of an order that can be dragged: its path, or the one place of a goto. */
export function pointsOf(order: OrderTree): Point[] {
  const { path, x, y, z } = order.options;
  if (Array.isArray(path)) return path.filter(isPoint).map((point) => [point[0] ?? 0, point[1] ?? 0, point[2] ?? 0]);
  return typeof x === "number" && typeof y === "number" ? [[x, y, typeof z === "number" ? z : 0]] : [];
}

function isPoint(value: unknown): value is number[] {
  return Array.isArray(value) && value.length >= 2 && value.every((part) => typeof part === "number");
}

/** The options with one point elsewhere. */
export function withPoint(order: OrderTree, index: number, point: Point): Record<string, unknown> {
  if (!Array.isArray(order.options["path"])) return { ...order.options, x: point[0], y: point[1], z: point[2] };
  return { ...order.options, path: pointsOf(order).map((old, k) => (k === index ? point : old)) };
}

/** The vehicles of all orders that say the same: they were sent together and stay together. */
export function idsOfAlike(order: OrderTree, all: readonly OrderTree[]): number[] {
  const said = JSON.stringify([order.behaviour, order.options]);
  const alike = all.filter(({ behaviour, options }) => JSON.stringify([behaviour, options]) === said);
  const ranges = (alike.length > 0 ? alike : [order]).flatMap(({ ids }) => ids);
  return ranges.flatMap(([first, count]) => Array.from({ length: count }, (_, k) => first + k));
}

export class HandleDrag {
  private point: Point | null = null;
  private readonly order: OrderTree | undefined;

  constructor(
    private readonly stage: Stage,
    private readonly handle: Handle,
  ) {
    this.order = orders.value[handle.order];
  }

  move(x: number, y: number): void {
    const old = this.order && pointsOf(this.order)[this.handle.index];
    if (!this.order || !old) return;
    this.point = this.stage.groundPoint(x, y, old[2]);
    if (!this.point) return;
    const changed = { ...this.order, options: withPoint(this.order, this.handle.index, this.point) };
    this.stage.setDraft(pointsOf(changed));
  }

  async drop(): Promise<void> {
    const { order, point } = this;
    if (!order || !point || !canCommand()) return this.cancel();
    await giveOrder(idsOfAlike(order, orders.value), { [order.behaviour]: withPoint(order, this.handle.index, point) });
    this.stage.setDraft([]);
  }

  cancel(): void {
    this.stage.setDraft([]);
  }
}
