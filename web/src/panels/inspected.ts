// Live values of the inspected vehicle (polled at 4 Hz, and from frames where available), and statistics of a
// selection.
import { signal } from "@preact/signals";
import { call, reasonOf } from "../net/connection";
import { onColumns, requestColumns } from "../state/columns";
import type { Sample } from "../state/source";
import { clock, roster } from "../state/store";
import { positionOf, type Vector } from "../wire/frame";
import type { InspectedTree, ValueTree } from "../wire/schema";

/** Columns of every vehicle that are computed from its pose. */
export const DERIVED = ["speed", "yaw", "yaw_rate", "roll", "pitch"] as const;
const EVERY = 250; // ms between requests
const LIVE_EVERY = 66; // ms between display updates

export const inspected = signal<InspectedTree | null>(null);
export const inspectFailure = signal("");
/** Newest values by column name in frames. */
const liveValues = signal<ReadonlyMap<string, number>>(new Map());

export type Section = "state" | "command" | "parameters" | { sensor: string };

/** The name of a value in frames. */
export function columnName(section: Section, name: string): string {
  if (section === "command") return `command.${name}`;
  return typeof section === "object" ? `${section.sensor}.${name}` : name;
}

/** The columns of a vehicle in frames. */
export function liveColumns(id: number): string[] {
  const present = roster.peek();
  const row = present.rowOfId(id);
  const fleet = row === undefined ? undefined : present.fleetAt(row);
  const own = fleet?.columns ?? [];
  return [...own, ...DERIVED.filter((name) => !own.includes(name))];
}

/** Keep `inspected` and `liveValues` up to date for one vehicle; return a stop function. */
export function watchVehicle(id: number): () => void {
  inspected.value = null;
  inspectFailure.value = "";
  liveValues.value = new Map();
  const stops = [poll(id), listen(id)];
  return () => {
    for (const stop of stops) stop();
  };
}

function poll(id: number): () => void {
  let over = false;
  let timer: ReturnType<typeof setTimeout>;
  let known = Number.NaN; // tick of the last response: a paused run is polled less often
  let rounds = 0;
  const again = async () => {
    rounds += 1;
    if (clock.peek().tick !== known || rounds % 4 === 1) {
      try {
        const tree = await call("inspect", { vehicle: nameOf(id) });
        if (over) return;
        inspected.value = tree;
        inspectFailure.value = "";
        known = tree.tick;
      } catch (error) {
        if (over) return;
        inspectFailure.value = reasonOf(error);
      }
    }
    timer = setTimeout(() => void again(), EVERY);
  };
  void again();
  return () => {
    over = true;
    clearTimeout(timer);
  };
}

function nameOf(id: number): string {
  const present = roster.peek();
  return present.nameAt(present.rowOfId(id) ?? -1);
}

function listen(id: number): () => void {
  const columns = liveColumns(id);
  const request = requestColumns("inspector", [{ of: id, columns }]);
  let last = 0;
  const stop = onColumns(request, (_frame, [block]) => {
    const now = performance.now();
    if (block === undefined || block.vehicles !== 1 || now - last < LIVE_EVERY) return;
    last = now;
    liveValues.value = new Map(columns.map((name, at) => [name, block.values[at] ?? Number.NaN]));
  });
  return () => {
    stop();
    request.release();
  };
}

/** The present value: from the newest frame, otherwise from the last response. */
export function currentValue(section: Section, value: ValueTree): number | null {
  const fresh = liveValues.value.get(columnName(section, value.name));
  return fresh === undefined || Number.isNaN(fresh) ? value.value : fresh;
}

export interface Summary {
  middle: Vector; // m
  spread: number; // m, from the centre to the farthest
  lowest: number;
  highest: number;
  speed: number; // m/s, mean; NaN if both frames are the same
  fastest: number;
  nowhere: number; // vehicles without a position
}

export function summarise({ from, to }: Sample, rows: readonly number[]): Summary {
  const at = rows.map((row) => positionOf(to, row)).filter((place) => Number.isFinite(place[0]));
  const middle = [0, 1, 2].map((axis) => sum(at.map((place) => place[axis] as number)) / at.length) as Vector;
  const speeds = to.time > from.time ? rows.map((row) => speedOf(from, to, row)).filter(Number.isFinite) : [];
  const heights = at.map((place) => place[2]);
  return {
    middle,
    spread: largest(at.map((place) => Math.hypot(...place.map((x, axis) => x - (middle[axis] as number))))),
    lowest: -largest(heights.map((height) => -height)),
    highest: largest(heights),
    speed: sum(speeds) / speeds.length,
    fastest: largest(speeds),
    nowhere: rows.length - at.length,
  };
}

function speedOf(from: Sample["from"], to: Sample["to"], row: number): number {
  const [a, b] = [positionOf(from, row), positionOf(to, row)];
  return Math.hypot(b[0] - a[0], b[1] - a[1], b[2] - a[2]) / (to.time - from.time);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Without the spread operator: there may be 100,000 values. NaN of none. */
function largest(values: readonly number[]): number {
  return values.reduce((most, value) => (value > most || Number.isNaN(most) ? value : most), Number.NaN);
}
