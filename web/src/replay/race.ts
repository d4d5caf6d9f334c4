// The race of a recording: standings at a sample, from its columns and the events up to it, as Python computes them.
import type { TimedEvent } from "../state/events";
import type { Roster } from "../state/roster";
import type { RecordedRace } from "../state/source";
import type { StandingsTree, StandingTree } from "../wire/schema";

/** Columns of a car, after `race.`. */
const COLUMNS = ["status", "position", "progress", "gap", "cones", "off_course"] as const;
export const RACE_COLUMNS = COLUMNS.map((name) => `race.${name}`);
const STATUSES = ["waiting", "running", "finished", "stopped", "unsafe_stop", "dnf"] as const;
const TIME = "(-?\\d+\\.\\d+)";
const END = `at ${TIME} s$`;
const TEXTS: ReadonlyMap<string, RegExp> = new Map(
  Object.entries({
    sector: new RegExp(`^sector (?<number>\\d+) of lap (?<lap>\\d+) in (?<value>${TIME}) s ${END}`),
    lap: new RegExp(`^lap (?<lap>\\d+) in (?<value>${TIME}) s ${END}`),
    cone_hit: new RegExp(`^.* in lap \\d+ ${END}`),
    off_course: new RegExp(`^in lap \\d+ ${END}`),
    finished: new RegExp(`^laps 1 to \\d+ in (?<value>${TIME}) s ${END}`),
    unsafe_stop: new RegExp(`^not stopped after ${TIME} m ${END}`),
    dnf: new RegExp(`^(?<reason>.*) in lap \\d+ ${END}`),
  }),
);

/** What happened to a car. */
interface RaceEntry {
  kind: string;
  car: string;
  time: number; // s of the recording
  lap: number;
  number: number; // of the sector, from 1
  value: number; // s
  reason: string; // of a DNF
}

export function raceEntries(events: readonly TimedEvent[]): RaceEntry[] {
  return events.flatMap(({ kind, subject, detail, time }) => {
    const match = TEXTS.get(kind)?.exec(detail);
    if (!match) return [];
    const { lap = 0, number = 0, value = 0, reason = "" } = match.groups ?? {};
    return [{ kind, car: subject, time, lap: Number(lap), number: Number(number), value: Number(value), reason }];
  });
}

/** The standings; `valuesOf` a vehicle (by id): its RACE_COLUMNS, NaN without them. `entries` up to the sample. */
export function standingsAt(
  race: RecordedRace,
  time: number,
  roster: Roster,
  valuesOf: (id: number) => ArrayLike<number>,
  entries: readonly RaceEntry[],
): StandingsTree {
  const logs = new Map<string, RaceEntry[]>();
  for (const entry of entries) logs.set(entry.car, [...(logs.get(entry.car) ?? []), entry]);
  const rows: StandingTree[] = [];
  for (const fleet of roster.fleets.filter(({ columns }) => columns.includes("race.status"))) {
    for (let row = fleet.first; row < fleet.first + fleet.count; row++) {
      const [id, name] = [roster.idAt(row) ?? -1, roster.nameAt(row)];
      const values = valuesOf(id);
      const status = STATUSES[values[0] ?? -1];
      if (status) rows.push(standing(race, name, id, status, Array.from(values), logs.get(name) ?? []));
    }
  }
  rows.sort((a, b) => a.position - b.position);
  for (const { kind, car } of entries) {
    if (kind !== "dnf" || rows.some(({ name }) => name === car)) continue;
    const log = logs.get(car) ?? []; // removed: its events say what is known
    const counted = (what: string): number => log.filter((event) => event.kind === what).length;
    const values = [5, rows.length + 1, 0, 0, counted("cone_hit"), counted("off_course")];
    rows.push(standing(race, car, -1, "dnf", values, log));
  }
  const laps = rows.flatMap(({ name, lap_times }) => lap_times.map((seconds, k) => [name, k + 1, seconds] as const));
  const sectors = Array.from({ length: race.sectors }, (_, k) =>
    rows.flatMap(({ name, sector_times }) =>
      sector_times.map((parts, lap) => [name, lap + 1, parts[k] ?? null] as const),
    ),
  );
  const { discipline, track } = race;
  return {
    ...{ discipline, track, laps: race.laps, time, rows },
    fastest_lap: fastest(laps),
    fastest_sectors: sectors.map(fastest),
  };
}

function standing(
  race: RecordedRace,
  name: string,
  id: number,
  status: string,
  values: readonly number[],
  log: readonly RaceEntry[],
): StandingTree {
  const [, position = 0, progress = 0, gap = 0, cones = 0, off_course = 0] = values;
  const lap_times = log.filter(({ kind }) => kind === "lap").map(({ value }) => value);
  const total = log.find(({ kind }) => kind === "finished")?.value ?? null;
  const unsafe = log.some(({ kind }) => kind === "unsafe_stop") ? race.unsafe_stop_penalty : 0;
  const penalty = cones * race.cone_penalty + off_course * race.off_course_penalty + unsafe;
  const time = total === null ? null : scored(race, lap_times, total);
  return {
    ...{ position, name, id, status, laps: lap_times.length, progress, gap, lap_times },
    sector_times: sectorTimes(race.sectors, lap_times.length, log),
    best_lap: lap_times.length > 0 ? Math.min(...lap_times) : null,
    ...{ cones, off_course, penalty, time },
    result: time === null || status === "dnf" ? null : time + penalty,
    reason: log.find(({ kind }) => kind === "dnf")?.reason ?? "",
  };
}

/** Of a skidpad, the mean of laps 2 and 4. */
function scored({ discipline }: RecordedRace, laps: readonly number[], total: number): number {
  const [, second, , fourth] = laps;
  return discipline === "skidpad" && second !== undefined && fourth !== undefined ? 0.5 * (second + fourth) : total;
}

function sectorTimes(sectors: number, laps: number, log: readonly RaceEntry[]): (number | null)[][] {
  if (sectors === 0) return [];
  const passed = log.filter(({ kind, number }) => kind === "sector" && number >= 1 && number <= sectors);
  const last = passed.reduce((most, { lap }) => Math.max(most, lap), laps);
  const times = Array.from({ length: last }, () => new Array<number | null>(sectors).fill(null));
  for (const { lap, number, value } of passed) {
    const parts = times[lap - 1];
    if (parts) parts[number - 1] = value;
  }
  return times;
}

/** Of equal times, that of the car in front. */
function fastest(times: readonly (readonly [string, number, number | null])[]): [string, number, number] | null {
  let best: [string, number, number] | null = null;
  for (const [name, lap, time] of times) {
    if (time !== null && (best === null || time < best[2])) best = [name, lap, time];
  }
  return best;
}
