// Frames the whole scene when a new world appears: vehicles, their routes and the mission.
import { mission } from "../state/mission";
import type { Roster } from "../state/roster";
import type { FrameSource, Sample } from "../state/source";
import * as store from "../state/store";
import type { RouteTree } from "../wire/schema";
import type { CameraRig } from "./camera-rig";
import { missionPoints } from "./mission";
import type { Crowd } from "./vehicles";
import { type Size, traitsOf } from "./view";

export class Acquaintance {
  private source: FrameSource | null = null;
  private roster: Roster | null = null;
  private scenario = "";
  private time = Number.NaN;
  private run = Number.NaN;
  private fleets: ReadonlySet<string> = new Set();

  /** Look at what is shown next; `scenario` is the name of what the server runs. True: it is another world. */
  meets(source: FrameSource, roster: Roster, sample: Sample, scenario: string): boolean {
    const { time, run } = sample.to;
    const renamed = source.kind !== "recording" && scenario !== this.scenario;
    // the name comes before the first frame of what it names
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

const ABSURD = 20; // times as large as what the vehicles take: such a route would make them dots
const LEAST = 50; // m: vehicles that stand close together
const SETTLING = 500; // ms
const LATE = 4000; // ms within which the routes of a new world come

export class Framing {
  private readonly acquaintance = new Acquaintance();
  private at = Number.NEGATIVE_INFINITY; // performance.now() of the last one
  private left = ""; // how the camera was left by it
  private size: Size = { width: 0, height: 0 };
  private routes: readonly RouteTree[] = [];
  private mission = false; // whether there was one

  constructor(
    private readonly rig: CameraRig,
    private readonly crowd: Crowd,
  ) {}

  /** A world that is new is shown as a whole. */
  welcome(source: FrameSource, roster: Roster, sample: Sample, size: Size, now: number): boolean {
    if (sample.to.count === 0) return false;
    const fresh = this.acquaintance.meets(source, roster, sample, store.metadata.peek()?.name ?? "");
    if (fresh) return this.everything(size, now);
    if (this.outdated(size, now)) this.everything(size, this.at);
    return false;
  }

  /** The camera sees everything; false when there is nothing. */
  everything(size: Size, now: number): boolean {
    const { positions, count } = this.crowd.blend;
    const sizes = this.crowd.roster?.fleets.map(({ kind }) => traitsOf(kind).size) ?? [];
    const past = store.source.peek()?.kind === "recording";
    const seen = withRoutes(positions.subarray(0, 3 * count), past ? [] : store.routes.peek());
    const points = withPoints(seen, past ? [] : missionPoints());
    const framed = this.rig.frame(points, Math.max(0, ...sizes) / 2, size);
    [this.at, this.left, this.size, this.routes] = [now, this.rig.placed, size, store.routes.peek()];
    this.mission = mission.peek() !== null;
    return framed;
  }

  /** Routes or a mission have come a little later, or another camera has made the view larger, and nobody has moved the camera. */
  private outdated({ width, height }: Size, now: number): boolean {
    const passed = now - this.at;
    const resized = passed < SETTLING && (width !== this.size.width || height !== this.size.height);
    const planned = this.routes !== store.routes.peek() || this.mission !== (mission.peek() !== null);
    const routed = passed < LATE && planned;
    return (resized || routed) && this.left === this.rig.placed;
  }
}

/** Points of vehicles and of those routes that are not absurdly farther out. */
export function withRoutes(vehicles: Float32Array, routes: readonly RouteTree[]): Float32Array {
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

/** How far its farthest point is from a place; Infinity where one is no number. */
function reach({ points }: RouteTree, [x, y]: readonly [number, number]): number {
  const far = points.map((point) => Math.hypot(point[0] - x, point[1] - y));
  return far.every(Number.isFinite) ? far.reduce((a, b) => Math.max(a, b), 0) : Number.POSITIVE_INFINITY;
}

/** On the ground: the middle of all that are somewhere, and from there to a corner. */
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
