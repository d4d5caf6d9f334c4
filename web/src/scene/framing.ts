// Frames the whole scene when a new world appears: vehicles, their routes and the mission.
import { shownRoutes } from "../state/controllers";
import { mission } from "../state/mission";
import type { Roster } from "../state/roster";
import type { FrameSource, Sample } from "../state/source";
import * as store from "../state/store";
import type { PlannedRoute } from "../wire/schema";
import type { CameraRig } from "./camera-rig";
import { missionPoints } from "./mission";
import type { VehicleLayer } from "./vehicles";
import { type Size, traitsOf } from "./view";

export class NewWorldDetector {
  private source: FrameSource | null = null;
  private roster: Roster | null = null;
  private scenario = "";
  private time = Number.NaN;
  private run = Number.NaN;
  private fleets: ReadonlySet<string> = new Set();

  /**
   * Check the next frame; `scenario`: name of the server's scenario. Return true for another world. A reset, a
   * reconnect or a step back in time is the same world.
   */
  isNew(source: FrameSource, roster: Roster, sample: Sample, scenario: string): boolean {
    const { time, run } = sample.to;
    const renamed = source.kind !== "recording" && scenario !== this.scenario;
    // the name arrives before the first frame
    const begins =
      source !== this.source || time < this.time || run !== this.run || (renamed && roster !== this.roster);
    const another = begins && (renamed || !roster.fleets.some(({ name }) => this.fleets.has(name)));
    if (begins && source.kind !== "recording") this.scenario = scenario;
    const known = roster === this.roster || roster.fleets.length === 0;
    if (!known) this.fleets = new Set(roster.fleets.map(({ name }) => name));
    [this.source, this.roster, this.time, this.run] = [source, roster, time, run];
    return another;
  }
}

const ABSURD = 20; // routes this many times larger than the extent of the vehicles are ignored
const LEAST = 50; // m: minimum extent
const SETTLING = 500; // ms
const LATE = 4000; // ms during which the routes of a new world may arrive

export class Framing {
  private readonly detector = new NewWorldDetector();
  private at = Number.NEGATIVE_INFINITY; // performance.now() of the last framing
  private left = ""; // camera state after it
  private size: Size = { width: 0, height: 0 };
  private routes: readonly PlannedRoute[] = [];
  private mission = false; // whether a mission existed

  constructor(
    private readonly rig: CameraRig,
    private readonly vehicles: VehicleLayer,
  ) {}

  /** Frame a new world. */
  frameNewWorld(source: FrameSource, roster: Roster, sample: Sample, size: Size, now: number): boolean {
    if (sample.to.count === 0) return false;
    const fresh = this.detector.isNew(source, roster, sample, store.metadata.peek()?.name ?? "");
    if (fresh) return this.frameAll(size, now);
    if (this.outdated(size, now)) this.frameAll(size, this.at);
    return false;
  }

  /** Frame everything; return false if there is nothing. */
  frameAll(size: Size, now: number): boolean {
    const { positions, count } = this.vehicles.blend;
    const sizes = this.vehicles.roster?.fleets.map((fleet) => traitsOf(fleet).size) ?? [];
    const past = store.source.peek()?.kind === "recording";
    const seen = withRoutes(positions.subarray(0, 3 * count), shownRoutes.peek());
    const points = withPoints(seen, past ? [] : missionPoints());
    const framed = this.rig.frame(points, Math.max(0, ...sizes) / 2, size);
    [this.at, this.left, this.size, this.routes] = [now, this.rig.placed, size, shownRoutes.peek()];
    this.mission = mission.peek() !== null;
    return framed;
  }

  /** Frame the vehicles in these rows; return false if none has a position. */
  frameRows(rows: readonly number[], size: Size): boolean {
    const { blend, roster } = this.vehicles;
    const points = rows.flatMap((row) => blend.position(row) ?? []);
    const sizes = rows.map((row) => traitsOf(roster?.fleetAt(row)).size);
    return this.rig.frame(points, sizes.reduce((most, next) => Math.max(most, next), 0) / 2, size);
  }

  /** Whether routes or a mission arrived later, or the view became larger, while the user has not moved the camera. */
  private outdated({ width, height }: Size, now: number): boolean {
    const passed = now - this.at;
    const resized = passed < SETTLING && (width !== this.size.width || height !== this.size.height);
    const planned = this.routes !== shownRoutes.peek() || this.mission !== (mission.peek() !== null);
    const routed = passed < LATE && planned;
    return (resized || routed) && this.left === this.rig.placed;
  }
}

/** Points of vehicles and of routes within a sensible distance. */
export function withRoutes(vehicles: Float32Array, routes: readonly PlannedRoute[]): Float32Array {
  const here = boundsOf(vehicles);
  if (here === null) return vehicles;
  const most = ABSURD * Math.max(here.radius, LEAST);
  const points = routes.flatMap((route) => (reach(route, here.middle) <= most ? route.points.flat() : []));
  return withPoints(vehicles, points);
}

function withPoints(some: Float32Array, more: readonly number[]): Float32Array {
  const all = new Float32Array(some.length + more.length);
  all.set(some);
  all.set(more, some.length);
  return all;
}

/** Distance to the farthest point; Infinity with non-finite points. */
function reach({ points }: PlannedRoute, [x, y]: readonly [number, number]): number {
  const far = points.map((point) => Math.hypot(point[0] - x, point[1] - y));
  return far.every(Number.isFinite) ? far.reduce((a, b) => Math.max(a, b), 0) : Number.POSITIVE_INFINITY;
}

/** Centre on the ground of all finite positions, and the distance to a corner. */
function boundsOf(points: Float32Array): { middle: [number, number]; radius: number } | null {
  let [west, east, south, north] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let k = 0; k + 2 < points.length; k += 3) {
    const [x, y] = [points[k] as number, points[k + 1] as number];
    if (!Number.isFinite(x + y)) continue;
    [west, east, south, north] = [Math.min(west, x), Math.max(east, x), Math.min(south, y), Math.max(north, y)];
  }
  if (!(west <= east)) return null;
  return { middle: [(west + east) / 2, (south + north) / 2], radius: Math.hypot(east - west, north - south) / 2 };
}
