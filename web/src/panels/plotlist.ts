// Which columns of which vehicles are plotted. The plots themselves are loaded when they are first shown.
import { signal } from "@preact/signals";
import { metadata, roster, tell } from "../state/store";
import { showBottom } from "./layout";

export interface Series {
  id: number; // vehicle
  name: string; // of the vehicle, for people
  column: string;
  unit: string;
  colour: number; // number in the palette
}

export const MOST_SERIES = 32;
export const plotted = signal<readonly Series[]>([]);

const DERIVED_UNITS: Readonly<Record<string, string>> = { speed: "m/s", heading: "rad", roll: "rad", pitch: "rad" };

/** Add one, and show the plots. */
export function addSeries(id: number, column: string, unit = unitOf(id, column)): void {
  showBottom("plots");
  const others = plotted.value;
  if (others.some((series) => series.id === id && series.column === column)) return;
  if (others.length >= MOST_SERIES) return tell("warning", `No more than ${MOST_SERIES} lines can be plotted`);
  const name = roster.value.nameAt(roster.value.rowOfId(id) ?? -1) || `id ${id}`;
  plotted.value = [...others, { id, name, column, unit, colour: freeColour(others) }];
}

export function removeSeries(id: number, column: string): void {
  plotted.value = plotted.value.filter((series) => series.id !== id || series.column !== column);
}

/** What a column is measured in, as the server tells. */
export function unitOf(id: number, column: string): string {
  const row = roster.value.rowOfId(id);
  const fleet = row === undefined ? undefined : roster.value.fleetAt(row);
  const info = metadata.value?.fleets.find(({ name }) => name === fleet?.name);
  const bare = column.replace(/^command\./, "");
  const known = [...(info?.columns ?? []), ...(info?.inputs ?? [])];
  const tree = known.find(({ name }) => name === column) ?? known.find(({ name }) => name === bare);
  return tree?.unit ?? DERIVED_UNITS[column] ?? "";
}

function freeColour(others: readonly Series[]): number {
  const used = new Set(others.map(({ colour }) => colour));
  let colour = 0;
  while (used.has(colour)) colour += 1;
  return colour;
}

/** Series of the same unit share a chart. */
export function groupByUnit(series: readonly Series[]): Map<string, Series[]> {
  const groups = new Map<string, Series[]>();
  for (const one of series) groups.set(one.unit, [...(groups.get(one.unit) ?? []), one]);
  return groups;
}

export function keyOf({ id, column }: Pick<Series, "id" | "column">): string {
  return `${id} ${column}`;
}
