// Vehicle positions, grid placement of several vehicles around a point, and the ring at a click.
import type { Stage } from "../scene/stage";
import { groundAt } from "../state/scenery";
import { roster, source } from "../state/store";
import { positionOf, type Vector } from "../wire/frame";

export interface Placed {
  id: number;
  kind: string;
  at: Vector; // m
}

/** Positions of those ids that have one. */
export function placesOf(ids: Iterable<number>): Placed[] {
  const frame = source.value?.sample(performance.now())?.to;
  const present = roster.value;
  const placed: Placed[] = [];
  for (const id of frame ? ids : []) {
    const row = present.rowOfId(id);
    const kind = row === undefined ? undefined : present.fleetAt(row)?.kind;
    if (frame === undefined || row === undefined || kind === undefined) continue;
    const at = positionOf(frame, row);
    if (at.every(Number.isFinite)) placed.push({ id, kind, at });
  }
  return placed;
}

/** Speed of a vehicle between the two shown frames, m/s; NaN if unknown. */
export function speedBetween(id: number): number {
  const now = source.value?.sample(performance.now());
  const row = roster.value.rowOfId(id);
  if (!now || row === undefined || !(now.to.time > now.from.time)) return Number.NaN;
  const [from, to] = [positionOf(now.from, row), positionOf(now.to, row)];
  return Math.hypot(to[0] - from[0], to[1] - from[1], to[2] - from[2]) / (now.to.time - now.from.time);
}

// grid placement -----------------------------------------------------------------------------------------------------

const SPACING: Readonly<Record<string, number>> = { car: 6, rover: 2, quad: 3, aircraft: 40, agent: 2 }; // m
const SPEED: Readonly<Record<string, number>> = { car: 10, rover: 2, quad: 8, aircraft: 20, agent: 5 }; // m/s

const OTHER_NAMES: Readonly<Record<string, string>> = { fixed_wing: "aircraft", plane: "aircraft", point: "agent" };

/** By model, from the kind at the beginning of its name. */
export function spacingOf(model: string): number {
  const [first = ""] = model.split(".");
  return SPACING[OTHER_NAMES[first] ?? first] ?? 3;
}

export function cruiseOf(kind: string): number {
  return SPEED[kind] ?? 5;
}

/** Distance between neighbours in m: the widest one decides. */
function spacingFor(vehicles: readonly Placed[]): number {
  return vehicles.reduce((most, { kind }) => Math.max(most, SPACING[kind] ?? 3), 0);
}

/** Offsets [x, y] of n grid points around the centre, row by row from the south-west. */
export function gridSpots(n: number, spacing: number): [number, number][] {
  const columns = Math.ceil(Math.sqrt(n));
  const rows = Math.ceil(n / columns);
  return Array.from({ length: n }, (_, k) => {
    const row = Math.floor(k / columns);
    const across = row === rows - 1 ? n - row * columns : columns; // the last row is centred, too
    const x = (k % columns) - (across - 1) / 2;
    return [spacing * x, spacing * (row - (rows - 1) / 2)];
  });
}

/** A goal for each vehicle: those in the south-west get the south-western points, so that few paths cross. */
export function spreadGoals(vehicles: readonly Placed[], to: readonly [number, number]): Map<number, Vector> {
  const spots = gridSpots(vehicles.length, spacingFor(vehicles));
  const columns = Math.ceil(Math.sqrt(vehicles.length));
  const northwards = [...vehicles].sort((a, b) => a.at[1] - b.at[1]);
  const goals = new Map<number, Vector>();
  for (let first = 0; first < northwards.length; first += columns) {
    const row = northwards.slice(first, first + columns).sort((a, b) => a.at[0] - b.at[0]);
    row.forEach(({ id, at }, k) => {
      const [x, y] = spots[first + k] ?? [0, 0];
      const [gx, gy] = [to[0] + x, to[1] + y];
      goals.set(id, [gx, gy, at[2] + groundAt(gx, gy) - groundAt(at[0], at[1])]); // the same height above the ground
    });
  }
  return goals;
}

// ring at a click ----------------------------------------------------------------------------------------------------

const SHOWN = 900; // ms

export function ping(stage: Stage, point: readonly [number, number, number]): void {
  const ring = document.createElement("div");
  ring.className = "ping";
  ring.setAttribute("aria-hidden", "true");
  const place = (): void => {
    const at = stage.projectPoint(point[0], point[1], point[2]);
    ring.hidden = at === null;
    if (at) ring.style.translate = `${at[0]}px ${at[1]}px`;
  };
  place();
  (stage.canvas.parentElement ?? document.body).append(ring);
  const stop = stage.onDrawn(place);
  setTimeout(() => {
    stop();
    ring.remove();
  }, SHOWN);
}
