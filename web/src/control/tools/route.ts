// The route tool: clicks add waypoints; Enter or double click sends them (Shift: patrol); Escape discards them.
import { effect } from "@preact/signals";
import type { Stage } from "../../scene/stage";
import { groundAt } from "../../state/scenery";
import { selection, showNotice, tool, withdrawNotice } from "../../state/store";
import { canCommand, setOverrides } from "../overrides";
import { cruiseOf, type Placed, ping, placesOf } from "../placement";

type Point = [number, number, number];
const APART = 0.2; // m: closer points count as one (a double click makes two)
const KEYS = "Enter: fly or drive once. Shift+Enter: patrol. Escape: discard.";
const GROUND = 0.5; // m: higher vehicles keep their height

export class RouteTool {
  private points: Point[] = [];
  private readonly unwatch: () => void;

  constructor(private readonly stage: Stage) {
    this.unwatch = effect(() => {
      const over = tool.value !== "route" || selection.value.size === 0;
      if (over && this.points.length > 0) this.cancel();
    });
  }

  get drawing(): boolean {
    return this.points.length > 0;
  }

  add(x: number, y: number): void {
    if (selection.value.size === 0) return showNotice("info", "Select vehicles first, then click waypoints");
    const point = this.stage.groundPoint(x, y);
    const last = this.points.at(-1);
    if (!point || (last && Math.hypot(point[0] - last[0], point[1] - last[1]) < APART)) return;
    this.points = [...this.points, point];
    this.stage.setDraft(this.points);
    if (this.points.length === 1) showNotice("info", KEYS, Number.POSITIVE_INFINITY); // shown while drawing
  }

  async finish(patrol: boolean): Promise<void> {
    const { points } = this;
    const vehicles = placesOf(selection.value);
    this.cancel();
    if (points.length === 0 || vehicles.length === 0 || !canCommand(selection.value)) return;
    for (const point of points) ping(this.stage, point);
    await setOverrides(routeOverrides(vehicles, points, patrol));
  }

  cancel(): void {
    this.points = [];
    withdrawNotice(KEYS);
    this.stage.setDraft([]);
  }

  stop(): void {
    this.unwatch();
    this.cancel();
  }
}

/** One override per kind; flying vehicles keep their mean height above the ground. A single point becomes a goal. */
export function routeOverrides(
  vehicles: readonly Placed[],
  points: readonly (readonly [number, number, number])[],
  patrol: boolean,
): [number[], Record<string, unknown>][] {
  return alikes(vehicles).map((alike) => {
    const height = alike.reduce((sum, { at }) => sum + above(at), 0) / alike.length;
    const path = points.map(([x, y, z]): Point => [x, y, height > GROUND ? groundAt(x, y) + height : z]);
    return [alike.map(({ id }) => id), behaviourOf(path, cruiseOf(alike[0]?.kind ?? ""), patrol)];
  });
}

/** Height above the ground, m. */
function above([x, y, z]: readonly [number, number, number]): number {
  return z - groundAt(x, y);
}

/** Grouped by kind, and by on the ground or in the air. */
function alikes(vehicles: readonly Placed[]): Placed[][] {
  const groups = new Map<string, Placed[]>();
  for (const vehicle of vehicles) {
    const name = `${vehicle.kind} ${above(vehicle.at) > GROUND}`;
    groups.set(name, [...(groups.get(name) ?? []), vehicle]);
  }
  return [...groups.values()];
}

function behaviourOf(path: Point[], speed: number, patrol: boolean): Record<string, unknown> {
  const [first] = path;
  if (path.length === 1 && first) return { goto: { x: first[0], y: first[1], z: first[2], speed } };
  return patrol ? { patrol: { path, speed } } : { waypoints: { path, speed } };
}
