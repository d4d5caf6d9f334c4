// Behaviour overrides: control mode of each vehicle, pending requests, and target points.
import { signal } from "@preact/signals";
import type { Behaviour } from "../net/connection";
import type { BehaviourOverride, FleetInfoTree } from "../wire/schema";
import type { Roster } from "./roster";

/** Names of the values of `controlModes`. */
export const CONTROL_MODES = ["disarmed", "manual control", "scenario behaviour", "override"] as const;
const [DISARMED, EXTERNAL, OWN, OVERRIDDEN] = [0, 1, 2, 3];

/** The control mode of each row; NaN if unknown. `armed`: 0 or 1, for some vehicles. */
export function controlModes(
  shown: Roster,
  fleets: readonly FleetInfoTree[],
  list: readonly BehaviourOverride[],
  armed?: ArrayLike<number>,
): Float32Array {
  const values = new Float32Array(shown.size).fill(Number.NaN);
  for (const { name, first, count } of shown.fleets) {
    const about = fleets.find((fleet) => fleet.name === name);
    if (about) values.fill(about.driven_by === null ? EXTERNAL : OWN, first, first + count);
  }
  for (const { ids, behaviour } of list) {
    for (const id of eachOf(ids)) {
      const row = shown.rowOfId(id);
      if (row !== undefined) values[row] = behaviour === "external" ? EXTERNAL : OVERRIDDEN;
    }
  }
  for (let row = 0; armed && row < shown.size; row++) if ((armed[row] as number) < 0.5) values[row] = DISARMED;
  return values;
}

function* eachOf(ranges: BehaviourOverride["ids"]): Iterable<number> {
  for (const [first, count] of ranges) for (let id = first; id < first + count; id++) yield id;
}

// pending requests ---------------------------------------------------------------------------------------------------

interface PendingOverride {
  ids: ReadonlySet<number>;
  description: string;
}

const pendingOverrides = signal<readonly PendingOverride[]>([]);

/** Mark a request as pending until the returned function is called. */
export function addPendingOverride(ids: readonly number[], behaviour: Behaviour): () => void {
  const sent = { ids: new Set(ids), description: describe(behaviour) };
  pendingOverrides.value = [...pendingOverrides.peek(), sent];
  return () => {
    pendingOverrides.value = pendingOverrides.peek().filter((pending) => pending !== sent);
  };
}

/** The pending override of a vehicle; "": none. */
export function pendingOverrideOf(id: number): string {
  return pendingOverrides.value.findLast(({ ids }) => ids.has(id))?.description ?? "";
}

function describe(behaviour: Behaviour): string {
  if (behaviour === null) return "scenario behaviour";
  if (behaviour === "external") return "manual control";
  return typeof behaviour === "string" ? behaviour : (Object.keys(behaviour)[0] ?? "");
}

// target points ------------------------------------------------------------------------------------------------------

export type Waypoint = [number, number, number];

export function overridePoints({ options }: BehaviourOverride): Waypoint[] {
  const { path, x, y, z } = options;
  if (Array.isArray(path)) return path.filter(isPoint).map(([a = 0, b = 0, c = 0]) => [a, b, c]);
  const count = Math.max(...[x, y, z].map((values) => (Array.isArray(values) ? values.length : 1)));
  const points = Array.from({ length: count }, (_, k) => [optionFor(x, k), optionFor(y, k), optionFor(z, k) ?? 0]);
  return points.every(isPoint) ? points.map(([a = 0, b = 0, c = 0]) => [a, b, c]) : [];
}

/** Whether each vehicle has its own points instead of a common path. */
export function isOneByOne({ options }: BehaviourOverride): boolean {
  return !Array.isArray(options["path"]) && Object.values(options).some(Array.isArray);
}

/** A vehicle's value of an option: an element of a list, or the common value. */
function optionFor(option: unknown, index: number): unknown {
  return Array.isArray(option) ? option[index] : option;
}

function isPoint(value: unknown): value is number[] {
  return Array.isArray(value) && value.length >= 2 && value.every(Number.isFinite);
}
