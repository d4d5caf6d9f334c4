// Behaviour overrides: control mode of each vehicle, pending requests, and target points.
import { signal } from "@preact/signals";
import type { Behaviour } from "../net/rpc";
import type { FleetInfoTree, OrderTree } from "../wire/schema";
import type { Roster } from "./roster";

/** What the numbers mean. */
export const CONDUCTS = ["disarmed", "takes commands", "own behaviour", "order"] as const;
const [DISARMED, EXTERNAL, OWN, ORDERED] = [0, 1, 2, 3];

/** A number of each row; NaN where it is not known. `armed` is told of some, 0 or 1. */
export function conducts(
  who: Roster,
  fleets: readonly FleetInfoTree[],
  orders: readonly OrderTree[],
  armed?: ArrayLike<number>,
): Float32Array {
  const values = new Float32Array(who.size).fill(Number.NaN);
  for (const { name, first, count } of who.fleets) {
    const about = fleets.find((fleet) => fleet.name === name);
    if (about) values.fill(about.driven_by === null ? EXTERNAL : OWN, first, first + count);
  }
  for (const { ids, behaviour } of orders) {
    for (const id of eachOf(ids)) {
      const row = who.rowOfId(id);
      if (row !== undefined) values[row] = behaviour === "external" ? EXTERNAL : ORDERED;
    }
  }
  for (let row = 0; armed && row < who.size; row++) if ((armed[row] as number) < 0.5) values[row] = DISARMED;
  return values;
}

function* eachOf(ranges: OrderTree["ids"]): Iterable<number> {
  for (const [first, count] of ranges) for (let id = first; id < first + count; id++) yield id;
}

// pending requests ---------------------------------------------------------------------------------------------------

export interface Ordering {
  ids: ReadonlySet<number>;
  words: string; // what they were told
}

export const ordering = signal<readonly Ordering[]>([]);

/** An order is on its way until the returned function is called. */
export function orderSent(ids: readonly number[], behaviour: Behaviour): () => void {
  const sent = { ids: new Set(ids), words: wordsOf(behaviour) };
  ordering.value = [...ordering.peek(), sent];
  return () => {
    ordering.value = ordering.peek().filter((one) => one !== sent);
  };
}

/** What a vehicle is being told; "": nothing. */
export function orderedNow(id: number): string {
  return ordering.value.findLast(({ ids }) => ids.has(id))?.words ?? "";
}

function wordsOf(behaviour: Behaviour): string {
  if (behaviour === null) return "its own behaviour";
  if (behaviour === "external") return "to take commands";
  return typeof behaviour === "string" ? behaviour : (Object.keys(behaviour)[0] ?? "");
}

// target points ------------------------------------------------------------------------------------------------------

export type Waypoint = [number, number, number];

export function orderPoints({ options }: OrderTree): Waypoint[] {
  const { path, x, y, z } = options;
  if (Array.isArray(path)) return path.filter(isPoint).map(([a = 0, b = 0, c = 0]) => [a, b, c]);
  const count = Math.max(...[x, y, z].map((values) => (Array.isArray(values) ? values.length : 1)));
  const points = Array.from({ length: count }, (_, k) => [optionFor(x, k), optionFor(y, k), optionFor(z, k) ?? 0]);
  return points.every(isPoint) ? points.map(([a = 0, b = 0, c = 0]) => [a, b, c]) : [];
}

/** Whether its points are those of different vehicles, not of one way. */
export function isOneByOne({ options }: OrderTree): boolean {
  return !Array.isArray(options["path"]) && Object.values(options).some(Array.isArray);
}

/** What an option says to a vehicle: its own of a list, or the same for all. */
function optionFor(option: unknown, index: number): unknown {
  return Array.isArray(option) ? option[index] : option;
}

function isPoint(value: unknown): value is number[] {
  return Array.isArray(value) && value.length >= 2 && value.every(Number.isFinite);
}
