// What is known about the vehicle in the inspector: asked four times a second, and live where frames carry it.
import { signal } from "@preact/signals";
import type { InspectedTree, ValueTree } from "../net/schema";
import { ask, reasonOf } from "../state/caller";
import { onColumns, want } from "../state/columns";
import { clock, roster } from "../state/store";

export const DERIVED = ["speed", "heading", "roll", "pitch"] as const;
const EVERY = 250; // ms between two questions
const LIVE_EVERY = 66; // ms between two updates of what is read on the screen

export const inspected = signal<InspectedTree | null>(null);
export const inspectFailure = signal("");
/** Newest values by the name that a column has in frames. */
export const liveValues = signal<ReadonlyMap<string, number>>(new Map());

export type Section = "state" | "command" | "parameters" | { sensor: string };

/** What a value is called in frames. */
export function columnName(section: Section, name: string): string {
  if (section === "command") return `command.${name}`;
  return typeof section === "object" ? `${section.sensor}.${name}` : name;
}

/** The columns that frames carry of a vehicle. */
export function liveColumns(id: number): string[] {
  const present = roster.peek();
  const row = present.rowOfId(id);
  const fleet = row === undefined ? undefined : present.fleetAt(row);
  const own = fleet?.columns ?? [];
  return [...own, ...DERIVED.filter((name) => !own.includes(name))];
}

/** Keep inspected and liveValues about one vehicle; the returned function ends that. */
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
  let known = Number.NaN; // tick of the last answer: a held world is asked only now and then
  let rounds = 0;
  const again = async () => {
    rounds += 1;
    if (clock.peek().tick !== known || rounds % 4 === 1) {
      try {
        const tree = await ask("inspect", { vehicle: nameOf(id) });
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
  const wish = want("inspector", [{ of: id, columns }]);
  let last = 0;
  const stop = onColumns(wish, (_frame, [block]) => {
    const now = performance.now();
    if (block === undefined || block.vehicles !== 1 || now - last < LIVE_EVERY) return;
    last = now;
    liveValues.value = new Map(columns.map((name, at) => [name, block.values[at] ?? Number.NaN]));
  });
  return () => {
    stop();
    wish.release();
  };
}

/** A value as it is now: from the newest frame, or else from the last answer. */
export function currentValue(section: Section, value: ValueTree): number | null {
  const fresh = liveValues.value.get(columnName(section, value.name));
  return fresh === undefined || Number.isNaN(fresh) ? value.value : fresh;
}
