// Which columns of which vehicles are plotted. The plots themselves are loaded when they are first shown.
import { computed, signal } from "@preact/signals";
import { metadata, roster, source, tell } from "../state/store";
import { showBottom } from "./layout";
import { isOpened } from "./timeline-model";

export interface Series {
  id: number; // vehicle
  name: string; // of the vehicle, for people
  column: string;
  unit: string;
  colour: number; // number in the palette
  recorded: boolean; // of a recording that the page has opened: it goes with that
}

export const MOST_SERIES = 32;
export const plotted = signal<readonly Series[]>([]);
/** Those of what is shown. */
export const shownSeries = computed(() => {
  const recorded = isOpened(source.value);
  return plotted.value.filter((series) => series.recorded === recorded);
});

/** Of what every vehicle has, also one of a recording whose model nobody describes here. */
const COMMON_UNITS: Readonly<Record<string, string>> = {
  ...unitsOf("m", "x", "y", "z"),
  ...unitsOf("m/s", "speed", "vx", "vy", "vz"),
  ...unitsOf("rad", "heading", "roll", "pitch", "yaw"),
  ...unitsOf("rad/s", "wx", "wy", "wz"),
};

function unitsOf(unit: string, ...columns: string[]): Record<string, string> {
  return Object.fromEntries(columns.map((column) => [column, unit]));
}

/** Add one, and show the plots. */
export function addSeries(id: number, column: string, unit = unitOf(id, column)): void {
  showBottom("plots");
  const others = plotted.value;
  if (isPlotted(id, column)) return;
  if (others.length >= MOST_SERIES) return tell("warning", `No more than ${MOST_SERIES} lines can be plotted`);
  const name = roster.value.nameAt(roster.value.rowOfId(id) ?? -1) || `id ${id}`;
  plotted.value = [...others, { id, name, column, unit, colour: freeColour(others), recorded: isOpened(source.value) }];
}

export function isPlotted(id: number, column: string): boolean {
  return shownSeries.value.some((series) => series.id === id && series.column === column);
}

export function removeSeries(id: number, column: string): void {
  const away = shownSeries.value.find((series) => series.id === id && series.column === column);
  plotted.value = plotted.value.filter((series) => series !== away);
}

/** What a column is measured in, as the server tells. */
export function unitOf(id: number, column: string): string {
  const row = roster.value.rowOfId(id);
  const fleet = row === undefined ? undefined : roster.value.fleetAt(row);
  const known = metadata.value?.fleets ?? [];
  // a recording may be of another world: the same model is measured alike
  const alike = known.filter(({ model }) => model === fleet?.model);
  const info = alike.find(({ name }) => name === fleet?.name) ?? alike[0];
  const bare = column.replace(/^command\./, "");
  const measured = [...(info?.columns ?? []), ...(info?.inputs ?? [])];
  const tree = measured.find(({ name }) => name === column) ?? measured.find(({ name }) => name === bare);
  return tree?.unit ?? COMMON_UNITS[column] ?? "";
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
