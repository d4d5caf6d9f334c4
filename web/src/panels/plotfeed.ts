// Keeps the memory of the plots filled from the frames that arrive.
import { computed, effect, signal } from "@preact/signals";
import type { WantedColumns } from "../net/schema";
import type { RecordingSource } from "../replay/source";
import { reasonOf } from "../state/caller";
import { onColumns, want } from "../state/columns";
import type { ColumnBlock, Frame } from "../state/frame";
import type { FrameSource } from "../state/source";
import { roster, source, tell } from "../state/store";
import { DERIVED } from "./inspected";
import { keyOf, plotted, type Series, shownSeries } from "./plotlist";
import { PlotMemory } from "./plotmemory";
import { resetZoom } from "./plotzoom";
import { isOpened } from "./timelinemodel";

export const memory = new PlotMemory();
/** Grows with every moment that has been added. */
export const moments = signal(0);

let fed = false;

/** Begin, once for the life of the page: plots go on while another tab is shown. */
export function feedPlots(): void {
  if (fed) return;
  fed = true;
  watchSource();
  effect(() => {
    const shown = source.value;
    if (isOpened(shown)) fillFrom(shown, shownSeries.value);
    else memory.keep(shownSeries.value.map(keyOf));
  });
  const list = computed(() => JSON.stringify(wantedOf(shownSeries.value.filter(isThere)))); // rosters change often
  effect(() => {
    const wanted = JSON.parse(list.value) as WantedColumns[];
    if (wanted.length === 0 || isOpened(source.value)) return undefined;
    const wish = want("plots", wanted);
    const stop = onColumns(wish, (frame, blocks) => remember(frame, blocks, wanted));
    return () => {
      stop();
      wish.release();
    };
  });
}

/** Times of a recording and of the run are not on one axis (the buffer is the run's own): each begins anew. */
function watchSource(): void {
  let shown: FrameSource | null = null;
  effect(() => {
    const before = shown;
    shown = source.value;
    if (before === null || before === shown) return;
    if (![before, shown].some((one) => one?.kind === "recording")) return;
    memory.clear();
    resetZoom();
    if (isOpened(before)) plotted.value = plotted.peek().filter(({ recorded }) => !recorded); // it is closed
  });
}

let reading = 0;

/** A recording is there as a whole: all of a column is read at once, over the time of the recording. */
function fillFrom(shown: RecordingSource, series: readonly Series[]): void {
  const mine = ++reading;
  const parts = wantedOf(series).map(({ of, columns }) => {
    const name = series.find(({ id }) => id === of)?.name ?? "";
    return shown.recording.series(name, columns).then((all) => {
      return columns.map((column, k) => [keyOf({ id: Number(of), column }), all[k]] as const);
    });
  });
  const fill = (found: (readonly [string, Float64Array | undefined])[]) => {
    if (mine !== reading || source.peek() !== shown) return;
    memory.fill(shown.recording.times, new Map(found.map(([key, values]) => [key, values ?? new Float64Array()])));
    moments.value += 1;
  };
  Promise.all(parts)
    .then((found) => fill(found.flat()))
    .catch((error: unknown) => tell("error", `Nothing can be plotted: ${reasonOf(error)}`));
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
