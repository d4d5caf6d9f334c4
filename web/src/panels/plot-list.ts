// The plotted columns. The plots panel itself is loaded on first use.
import { computed, signal } from "@preact/signals";
import { metadata, roster, showNotice, source } from "../state/store";
import { showBottom } from "./layout";
import { isOpened } from "./timeline-model";

export interface Series {
  id: number; // vehicle id
  name: string; // vehicle name
  column: string;
  unit: string;
  colour: number; // palette index
  recorded: boolean; // from a recording opened in the page, and removed with it
}

const MOST_SERIES = 32;
export const plotted = signal<readonly Series[]>([]);
/** Series of the shown source. */
export const shownSeries = computed(() => {
  const recorded = isOpened(source.value);
  return plotted.value.filter((series) => series.recorded === recorded);
});

/** Columns that every vehicle has, also in recordings of unknown models. */
const COMMON_UNITS: Readonly<Record<string, string>> = {
  ...unitsOf("m", "x", "y", "z"),
  ...unitsOf("m/s", "speed", "vx", "vy", "vz"),
  ...unitsOf("rad", "roll", "pitch", "yaw"),
  ...unitsOf("rad/s", "wx", "wy", "wz", "yaw_rate"),
};

function unitsOf(unit: string, ...columns: string[]): Record<string, string> {
  return Object.fromEntries(columns.map((column) => [column, unit]));
}

/** Add a series and show the plots. */
export function addSeries(id: number, column: string, unit = unitOf(id, column)): void {
  showBottom("plots");
  const others = plotted.value;
  if (isPlotted(id, column)) return;
  if (others.length >= MOST_SERIES) return showNotice("warning", `At most ${MOST_SERIES} lines can be plotted`);
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

/** The unit of a column, from the recording or the server. */
export function unitOf(id: number, column: string): string {
  const row = roster.value.rowOfId(id);
  const fleet = row === undefined ? undefined : roster.value.fleetAt(row);
  const shown = source.value;
  const recorded = isOpened(shown) ? shown.units.get(fleet?.name ?? "")?.get(column) : undefined;
  if (recorded !== undefined) return recorded;
  const known = metadata.value?.fleets ?? [];
  // files of earlier versions have no units: use those of the same model
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

/** Series with the same unit share a chart. */
export function groupByUnit(series: readonly Series[]): Map<string, Series[]> {
  const groups = new Map<string, Series[]>();
  for (const line of series) groups.set(line.unit, [...(groups.get(line.unit) ?? []), line]);
  return groups;
}

export function keyOf({ id, column }: Pick<Series, "id" | "column">): string {
  return `${id} ${column}`;
}
