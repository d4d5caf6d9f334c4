// Where vehicles are right now, and what kinds they are, by id.
import type { Vector } from "../state/frame";
import { positionOf } from "../state/frame";
import { roster, source } from "../state/store";

export { groundHeight } from "../state/ground";

export interface Placed {
  id: number;
  kind: string;
  at: Vector; // m
}

/** Those of the ids that are somewhere. */
export function placesOf(ids: Iterable<number>): Placed[] {
  const frame = source.value?.sample(performance.now())?.to;
  const present = roster.value;
  const found: Placed[] = [];
  for (const id of frame ? ids : []) {
    const row = present.rowOfId(id);
    const kind = row === undefined ? undefined : present.fleetAt(row)?.kind;
    if (frame === undefined || row === undefined || kind === undefined) continue;
    const at = positionOf(frame, row);
    if (at.every(Number.isFinite)) found.push({ id, kind, at });
  }
  return found;
}

/** How fast a vehicle moves between the two moments that are shown, m/s; NaN when that cannot be told. */
export function speedBetween(id: number): number {
  const now = source.value?.sample(performance.now());
  const row = roster.value.rowOfId(id);
  if (!now || row === undefined || !(now.to.time > now.from.time)) return Number.NaN;
  const [from, to] = [positionOf(now.from, row), positionOf(now.to, row)];
  return Math.hypot(to[0] - from[0], to[1] - from[1], to[2] - from[2]) / (now.to.time - now.from.time);
}
