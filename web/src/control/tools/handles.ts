// Dragging a waypoint of an override: a draft while dragged; on drop the changed override is set.
import type { Handle, Stage } from "../../scene/stage";
import { isOneByOne, overridePoints, type Waypoint } from "../../state/overrides";
import { overrides } from "../../state/store";
import type { BehaviourOverride } from "../../wire/schema";
import { canCommand, setOverride } from "../overrides";
import { ping } from "../placement";

/** The options with one point replaced. */
export function withPoint(override: BehaviourOverride, index: number, point: Waypoint): Record<string, unknown> {
  if (!Array.isArray(override.options["path"])) return { ...override.options, x: point[0], y: point[1], z: point[2] };
  return { ...override.options, path: overridePoints(override).map((old, k) => (k === index ? point : old)) };
}

/** The vehicles of all equal overrides: they were sent together and stay together. */
export function idsOfAlike(override: BehaviourOverride, all: readonly BehaviourOverride[]): number[] {
  const option = JSON.stringify([override.behaviour, override.options]);
  const alike = all.filter(({ behaviour, options }) => JSON.stringify([behaviour, options]) === option);
  return (alike.length > 0 ? alike : [override]).flatMap(idsOf);
}

function idsOf({ ids }: BehaviourOverride): number[] {
  return ids.flatMap(([first, count]) => Array.from({ length: count }, (_, k) => first + k));
}

/** One vehicle's part of an override with per-vehicle options. */
export function overrideOfOne(override: BehaviourOverride, index: number): BehaviourOverride {
  const own = Object.entries(override.options).map(([name, value]) => [
    name,
    Array.isArray(value) ? value[index] : value,
  ]);
  return {
    ...override,
    ids: idsOf(override)
      .slice(index, index + 1)
      .map((id) => [id, 1]),
    options: Object.fromEntries(own),
  };
}

export class HandleDrag {
  private point: Waypoint | null = null;
  private readonly override: BehaviourOverride | undefined;
  private readonly index: number; // index into the points of `override`
  private readonly all: readonly BehaviourOverride[]; // may contain equal overrides

  constructor(
    private readonly stage: Stage,
    handle: Handle,
  ) {
    const override = overrides.value[handle.override];
    const alone = override !== undefined && isOneByOne(override);
    this.override = alone ? overrideOfOne(override, handle.index) : override;
    this.index = alone ? 0 : handle.index;
    this.all = alone ? [] : overrides.value;
  }

  move(x: number, y: number): void {
    const old = this.override && overridePoints(this.override)[this.index];
    if (!this.override || !old) return;
    this.point = this.stage.groundPoint(x, y, old[2]);
    if (!this.point) return;
    const changed = { ...this.override, options: withPoint(this.override, this.index, this.point) };
    this.stage.setDraft(overridePoints(changed));
  }

  async drop(): Promise<void> {
    const { override, point } = this;
    if (!override || !point || !canCommand()) return this.cancel();
    ping(this.stage, point);
    await setOverride(idsOfAlike(override, this.all), { [override.behaviour]: withPoint(override, this.index, point) });
    this.stage.setDraft([]);
  }

  cancel(): void {
    this.stage.setDraft([]);
  }
}
