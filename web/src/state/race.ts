// The standings of the shown race: of the server, or of a recording opened in the page.
import { computed, signal } from "@preact/signals";
import type { StandingsTree, StandingTree } from "../wire/schema";
import { source } from "./store";

const received = signal<StandingsTree | null>(null);

/** Null: no race, or a server or file without them. */
export const standings = computed<StandingsTree | null>(() => {
  const shown = source.value;
  return shown?.routes === undefined ? received.value : (shown.standings?.value ?? null);
});

/** Without the numbers, which change often. */
export const hasRace = computed(() => standings.value !== null);

export function applyStandings(tree: StandingsTree | null): void {
  if (tree !== null && !Array.isArray(tree.rows)) throw new Error("rows missing");
  received.value = tree;
}

const NOTES: Readonly<Record<string, string>> = {
  waiting: "waiting",
  finished: "finished",
  stopped: "finished",
  unsafe_stop: "unsafe stop",
  dnf: "DNF",
};

/** `1:02.345`, `58.120`. */
export function formatLap(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
  const minutes = Math.floor(seconds / 60);
  const rest = (seconds - 60 * minutes).toFixed(3);
  return minutes > 0 ? `${minutes}:${rest.padStart(6, "0")}` : rest;
}

/** The gap to the leader in s, or why the car does not drive. */
export function situationOf({ status, gap, position }: StandingTree): string {
  return NOTES[status] ?? (position === 1 ? "leader" : `+${gap.toFixed(gap < 100 ? 2 : 0)}`);
}

/** Sector times of the newest lap that has some, and for each whether it is the fastest of the race. */
export function sectorsOf(row: StandingTree, { fastest_sectors }: StandingsTree): { time: number; best: boolean }[] {
  const newest = row.sector_times.findLast((lap) => lap.some((time) => time !== null)) ?? [];
  return newest.flatMap((time, k) => {
    if (time === null) return [];
    const [name, , least] = fastest_sectors[k] ?? ["", 0, 0];
    return [{ time, best: name === row.name && time <= least }];
  });
}
