// Planned routes, waypoints of overrides with handles, and the draft of a tool.
import { isOneByOne, overridePoints, type Waypoint } from "../state/overrides";
import { fleetColour } from "../state/palette";
import type { Roster } from "../state/roster";
import type { BehaviourOverride, PlannedRoute } from "../wire/schema";
import { bytes, type Rgba, Ribbons } from "./ribbons";
import type { Skin } from "./skin";
import { type Matrix, type Size, toScreen } from "./view";

/** A draggable waypoint. */
interface WaypointHandle {
  override: number;
  index: number;
  at: Waypoint;
}

const HANDLE_PX = 11;
const LIFT = 0.04; // m above the ground, against flickering with the grid

export const MOST_ROUTES = 24; // of more, those of selected vehicles are drawn

/** The routes that are drawn; `selected`: ids. */
export function chosenRoutes(routes: readonly PlannedRoute[], selected: ReadonlySet<number>): readonly PlannedRoute[] {
  if (routes.length <= MOST_ROUTES) return routes;
  const has = (first: number, count: number) => [...selected].some((id) => id >= first && id < first + count);
  return routes.filter(({ ids }) => ids.some(([first, count]) => has(first, count)));
}

export class RouteLayer {
  readonly ribbons = new Ribbons(0);
  handles: WaypointHandle[] = [];
  draft: Waypoint[] = [];

  rebuild(
    routes: readonly PlannedRoute[],
    overrides: readonly BehaviourOverride[],
    roster: Roster,
    skin: Skin,
    shown: boolean,
    selected: ReadonlySet<number>,
  ): void {
    this.ribbons.clear();
    this.handles = [];
    for (const route of shown ? chosenRoutes(routes, selected) : []) this.route(route, roster, skin);
    for (const [number, override] of (shown ? overrides : []).entries()) this.drawOverride(override, number, skin);
    this.dashes(this.draft, bytes(skin.amber));
    this.ribbons.show();
  }

  /** The handle at a screen position; the nearest one within reach. */
  handleAt(m: Matrix, size: Size, x: number, y: number): WaypointHandle | null {
    let [nearest, least]: [WaypointHandle | null, number] = [null, HANDLE_PX];
    const screen = [0, 0, 0];
    for (const knob of this.handles) {
      if (!toScreen(m, ...knob.at, size, screen)) continue;
      const away = Math.hypot((screen[0] as number) - x, (screen[1] as number) - y);
      if (away < least) [nearest, least] = [knob, away];
    }
    return nearest;
  }

  dispose(): void {
    this.ribbons.dispose();
  }

  private route({ fleet, points, closed }: PlannedRoute, roster: Roster, skin: Skin): void {
    const known = roster.fleet(fleet);
    const [r, g, b] = known ? fleetColour(known).rgb.map((part) => Math.round(255 * part)) : bytes(skin.faint);
    const line: Rgba = [r as number, g as number, b as number, skin.theme === "dark" ? 120 : 170];
    const last = closed ? points.length : points.length - 1;
    for (let k = 0; k < last; k++) this.leg(points[k], points[(k + 1) % points.length], line, 1.6);
  }

  private drawOverride(override: BehaviourOverride, number: number, skin: Skin): void {
    const points = overridePoints(override);
    points.forEach((at, index) => this.handles.push({ override: number, index, at: [at[0], at[1], at[2] + LIFT] }));
    if (!isOneByOne(override)) this.dashes(points, bytes(skin.accent, 200));
  }

  private leg(a: readonly number[] | undefined, b: readonly number[] | undefined, colour: Rgba, width: number): void {
    if (!a || !b || ![...a, ...b].every(Number.isFinite)) return;
    this.ribbons.add(
      [a[0] ?? 0, a[1] ?? 0, (a[2] ?? 0) + LIFT],
      [b[0] ?? 0, b[1] ?? 0, (b[2] ?? 0) + LIFT],
      width,
      colour,
    );
  }

  /** A dashed line: 12 dashes per leg, at least half a metre each. */
  private dashes(points: readonly Waypoint[], colour: Rgba): void {
    for (let k = 0; k + 1 < points.length; k++) {
      const [a, b] = [points[k] as Waypoint, points[k + 1] as Waypoint];
      const length = Math.hypot(b[0] - a[0], b[1] - a[1], b[2] - a[2]);
      const count = Math.max(1, Math.min(24, Math.round(length)));
      for (let i = 0; i < count; i++) this.leg(between(a, b, i / count), between(a, b, (i + 0.6) / count), colour, 2);
    }
  }
}

function between(a: Waypoint, b: Waypoint, share: number): Waypoint {
  return [a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]), a[2] + share * (b[2] - a[2])];
}
