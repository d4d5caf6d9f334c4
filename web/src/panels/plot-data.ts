// Data of the plots: buffers filled from arriving frames, and the time range shown.
import { computed, effect, signal } from "@preact/signals";
import { reasonOf } from "../net/rpc";
import type { RecordingSource } from "../replay/source";
import { onColumns, want } from "../state/columns";
import { persisted } from "../state/persist";
import type { FrameSource } from "../state/source";
import { roster, source, tell } from "../state/store";
import type { ColumnBlock, Frame } from "../wire/frame";
import type { WantedColumns } from "../wire/schema";
import { DERIVED } from "./inspected";
import { keyOf, plotted, type Series, shownSeries } from "./plot-list";
import { isOpened } from "./timeline-model";

/** The moment at which the plots are held; null: they go on. */
export const held = signal<number | null>(null);
export const zoom = signal<readonly [number, number] | null>(null);

export function resetZoom(): void {
  zoom.value = null;
  held.value = null;
}

// buffer -------------------------------------------------------------------------------------------------------------

export class PlotMemory {
  private times: Float64Array;
  private readonly values = new Map<string, Float64Array>();
  private length = 0;
  private run = Number.NaN;
  private filled = false; // with a recording

  constructor(private readonly capacity = 1 << 14) {
    this.times = new Float64Array(capacity);
  }

  /** Keep the columns with these keys only; new ones begin without a past. */
  keep(keys: readonly string[]): void {
    if (this.filled) this.clear();
    const wanted = new Set(keys);
    for (const key of this.values.keys()) if (!wanted.has(key)) this.values.delete(key);
    for (const key of keys) {
      if (!this.values.has(key)) this.values.set(key, new Float64Array(this.capacity).fill(Number.NaN));
    }
  }

  /** A moment: another run, or time going back, begins anew. */
  add(run: number, time: number, read: (key: string) => number): void {
    if (run !== this.run || time < this.last) this.clear();
    else if (time === this.last) this.length -= 1;
    this.run = run;
    if (this.length === this.capacity) this.forgetHalf();
    this.times[this.length] = time;
    for (const [key, values] of this.values) values[this.length] = read(key);
    this.length += 1;
  }

  /** All there is to know of a recording: values for the times, by key. */
  fill(times: Float64Array, known: ReadonlyMap<string, Float64Array>): void {
    this.filled = true;
    this.length = times.length;
    this.times = times;
    this.values.clear();
    for (const [key, values] of known) this.values.set(key, values);
  }

  clear(): void {
    this.length = 0;
    if (this.filled) this.beginAnew();
    for (const values of this.values.values()) values.fill(Number.NaN);
  }

  /** Simulated s of the newest moment; -Infinity without any. */
  get last(): number {
    return this.length > 0 ? (this.times[this.length - 1] as number) : Number.NEGATIVE_INFINITY;
  }

  get size(): number {
    return this.length;
  }

  /** Times and values from a time on, and one moment before it so that lines reach the edge; gaps are null. */
  between(start: number, end: number, keys: readonly string[]): [number[], ...(number | null)[][]] {
    const first = Math.max(0, this.indexOf(start) - 1);
    const last = Math.min(this.length, this.indexOf(end) + 1);
    const times = Array.from(this.times.subarray(first, last));
    return [times, ...keys.map((key) => this.slice(key, first, last))];
  }

  private slice(key: string, first: number, last: number): (number | null)[] {
    const values = this.values.get(key);
    const out: (number | null)[] = new Array(last - first);
    for (let k = first; k < last; k++) {
      const value = values?.[k];
      out[k - first] = value === undefined || !Number.isFinite(value) ? null : value;
    }
    return out;
  }

  /** The first moment at or after a time. */
  private indexOf(time: number): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.times[middle] as number) < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** After a recording, whose arrays are its own. */
  private beginAnew(): void {
    this.filled = false;
    this.times = new Float64Array(this.capacity);
    for (const key of this.values.keys()) this.values.set(key, new Float64Array(this.capacity));
  }

  private forgetHalf(): void {
    const half = this.capacity >> 1;
    for (const values of [this.times, ...this.values.values()]) {
      values.copyWithin(0, half);
      values.fill(Number.NaN, this.capacity - half);
    }
    this.length -= half;
  }
}

// feed ---------------------------------------------------------------------------------------------------------------

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

// time range ---------------------------------------------------------------------------------------------------------

export const WINDOWS = [5, 15, 30, 60, 180, 300] as const; // s
export const windowLength = signal(30);

persisted(windowLength, "plots.window");

export function shownRange(): readonly [number, number] {
  if (zoom.value !== null) return zoom.value;
  const end = held.value ?? latest();
  const length = shownLength();
  const start = Number.isFinite(end) ? Math.max(0, end - length) : 0;
  return [start, start + length];
}

/** No more than there is of a recording. */
function shownLength(): number {
  const shown = source.value;
  return isOpened(shown) ? Math.min(windowLength.value, shown.recording.duration || 1) : windowLength.value;
}

/** The newest moment, or where a recording stands: what comes after it there is shown only where there is room. */
export function latest(): number {
  const shown = source.value;
  return isOpened(shown) ? shown.timeline.position.value : memory.last;
}

/** Zooming holds the plots as well: what is looked at must not run away. */
export function zoomTo(start: number, end: number): void {
  if (end - start <= 0) return;
  held.value ??= latest();
  zoom.value = [start, end];
}
