// Plots as a table for other programs: time first, then a column for each line.
import type { Series } from "./plotlist";

export function csvOf(series: readonly Series[], data: readonly (readonly (number | null)[])[]): string {
  const [times = [], ...columns] = data;
  const head = ["time [s]", ...series.map(({ name, column, unit }) => `${name} ${column}${unit ? ` [${unit}]` : ""}`)];
  const lines = times.map((time, at) => [time, ...columns.map((column) => column[at] ?? "")].join(","));
  return [head.map(quoted).join(","), ...lines, ""].join("\n");
}

/** A name that a spreadsheet would take apart, or for a formula. */
function quoted(text: string): string {
  const safe = /^[=+\-@]/.test(text) ? `'${text}` : text;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
