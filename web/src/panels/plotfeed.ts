// Keeps the memory of the plots filled from the frames that arrive.
import { computed, effect, signal } from "@preact/signals";
import type { WantedColumns } from "../net/schema";
import { onColumns, want } from "../state/columns";
import type { ColumnBlock, Frame } from "../state/frame";
import type { FrameSource } from "../state/source";
import { roster, source } from "../state/store";
import { DERIVED } from "./inspected";
import { keyOf, plotted, type Series } from "./plotlist";
import { PlotMemory } from "./plotmemory";

export const memory = new PlotMemory();
/** Grows with every moment that has been added. */
export const moments = signal(0);

let fed = false;

/** Begin, once for the life of the page: plots go on while another tab is shown. */
export function feedPlots(): void {
  if (fed) return;
  fed = true;
  let shown: FrameSource | null = null;
  effect(() => {
    const other = source.value;
    // times of a recording and of the run are not on one axis; the buffer is the run's own
    if (shown !== null && [shown, other].some((one) => one?.kind === "recording")) memory.clear();
    shown = other;
  });
  effect(() => memory.keep(plotted.value.map(keyOf)));
  const list = computed(() => JSON.stringify(wantedOf(plotted.value.filter(isThere)))); // rosters change often
  effect(() => {
    const wanted = JSON.parse(list.value) as WantedColumns[];
    if (wanted.length === 0) return undefined;
    const wish = want("plots", wanted);
    const stop = onColumns(wish, (frame, blocks) => remember(frame, blocks, wanted));
    return () => {
      stop();
      wish.release();
    };
  });
}

/** Whether what is shown has that column: what was plotted of a recording may be unknown to the run. */
function isThere({ id, column }: Series): boolean {
  const row = roster.value.rowOfId(id);
  const own = row === undefined ? undefined : roster.value.fleetAt(row)?.columns;
  return own !== undefined && (own.includes(column) || (DERIVED as readonly string[]).includes(column));
}

/** One request per vehicle. */
export function wantedOf(series: readonly Series[]): WantedColumns[] {
  const columns = new Map<number, string[]>();
  for (const { id, column } of series) columns.set(id, [...(columns.get(id) ?? []), column]);
  return [...columns].map(([of, names]) => ({ of, columns: names }));
}

function remember(frame: Frame, blocks: readonly ColumnBlock[], wanted: readonly WantedColumns[]): void {
  const values = new Map<string, number>();
  for (const { request, vehicles, values: all } of blocks) {
    const one = wanted[request];
    if (one === undefined || vehicles !== 1 || typeof one.of !== "number") continue;
    one.columns.forEach((column, at) => values.set(keyOf({ id: one.of as number, column }), all[at] ?? Number.NaN));
  }
  memory.add(frame.run, frame.time, (key) => values.get(key) ?? Number.NaN);
  moments.value += 1;
}
