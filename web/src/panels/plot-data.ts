// Data of the plots: buffers filled from arriving frames, and the time range shown.
import { computed, effect, signal } from "@preact/signals";
import { call, reasonOf } from "../net/connection";
import type { SeriesRequest } from "../replay/reader-pool";
import type { RecordingSource } from "../replay/source";
import { onColumns, requestColumns, valuesOf } from "../state/columns";
import { measured } from "../state/format";
import { persisted } from "../state/persist";
import { eulerOf } from "../state/poses";
import type { Roster } from "../state/roster";
import { history, rosters } from "../state/run";
import type { FrameSource } from "../state/source";
import { metadata, roster, showNotice, source } from "../state/store";
import { type ColumnBlock, type Frame, orientationOf, positionOf } from "../wire/frame";
import type { WantedColumns } from "../wire/schema";
import { DERIVED } from "./inspected";
import { keyOf, plotted, type Series, shownSeries } from "./plot-list";
import { isOpened } from "./timeline-model";

/** The time at which the plots are frozen; null: live. */
export const held = signal<number | null>(null);
export const zoom = signal<readonly [number, number] | null>(null);

export function resetZoom(): void {
  zoom.value = null;
  held.value = null;
}

// buffer -------------------------------------------------------------------------------------------------------------

export class PlotBuffer {
  private times: Float64Array;
  private readonly values = new Map<string, Float64Array>();
  private length = 0;
  private run = Number.NaN;
  private filled = false; // with a recording

  constructor(private readonly capacity = 1 << 14) {
    this.times = new Float64Array(capacity);
  }

  /** Keep only the columns with these keys; return the new ones, which start empty. */
  keep(keys: readonly string[]): string[] {
    if (this.filled) this.clear();
    const wanted = new Set(keys);
    for (const key of this.values.keys()) if (!wanted.has(key)) this.values.delete(key);
    const added = keys.filter((key) => !this.values.has(key));
    for (const key of added) this.values.set(key, new Float64Array(this.capacity).fill(Number.NaN));
    return added;
  }

  /** Add what is known from before: older times, and values of these keys at all times. Frames are in order. */
  backfill(keys: readonly string[], frames: readonly Frame[], read: (frame: Frame, key: string) => number): void {
    const run = this.length > 0 ? this.run : (frames.at(-1)?.run ?? Number.NaN);
    const known = frames.filter((frame) => frame.run === run);
    const first = this.length > 0 ? (this.times[0] as number) : Number.POSITIVE_INFINITY;
    const space = this.capacity - this.length;
    const older = space > 0 ? known.filter(({ time }) => time < first).slice(-space) : [];
    for (const [key, values] of this.values) {
      values.copyWithin(older.length, 0, this.length);
      older.forEach((frame, at) => (values[at] = read(frame, key)));
    }
    this.times.copyWithin(older.length, 0, this.length);
    older.forEach(({ time }, at) => (this.times[at] = time));
    this.length += older.length;
    this.run = run;
    for (const frame of known) {
      const at = this.indexOf(frame.time);
      if (at >= this.length || this.times[at] !== frame.time) continue;
      for (const key of keys) (this.values.get(key) as Float64Array)[at] = read(frame, key);
    }
  }

  /** Add values at a time; another run, or time going back, clears the buffer. */
  add(run: number, time: number, read: (key: string) => number): void {
    if (run !== this.run || time < this.last) this.clear();
    else if (time === this.last) this.length -= 1;
    this.run = run;
    if (this.length === this.capacity) this.dropOldestHalf();
    this.times[this.length] = time;
    for (const [key, values] of this.values) values[this.length] = read(key);
    this.length += 1;
  }

  /** Replace all by a whole recording: values at its times, by key. */
  fill(times: Float64Array, known: ReadonlyMap<string, Float64Array>): void {
    this.filled = true;
    this.length = times.length;
    this.times = times;
    this.values.clear();
    for (const [key, values] of known) this.values.set(key, values);
  }

  clear(): void {
    this.length = 0;
    if (this.filled) this.restart();
    for (const values of this.values.values()) values.fill(Number.NaN);
  }

  /** Simulated s of the newest values; -Infinity if empty. */
  get last(): number {
    return this.length > 0 ? (this.times[this.length - 1] as number) : Number.NEGATIVE_INFINITY;
  }

  get size(): number {
    return this.length;
  }

  /** Times and values from a time on, and one before it so that lines reach the edge; gaps are null. */
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

  /** The first index at or after a time. */
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

  /** After a recording, whose arrays are not ours. */
  private restart(): void {
    this.filled = false;
    this.times = new Float64Array(this.capacity);
    for (const key of this.values.keys()) this.values.set(key, new Float64Array(this.capacity));
  }

  private dropOldestHalf(): void {
    const half = this.capacity >> 1;
    for (const values of [this.times, ...this.values.values()]) {
      values.copyWithin(0, half);
      values.fill(Number.NaN, this.capacity - half);
    }
    this.length -= half;
  }
}

// feed ---------------------------------------------------------------------------------------------------------------

export const plotBuffer = new PlotBuffer();
/** Incremented with each addition. */
export const additions = signal(0);

let fed = false;

/** Start once per page: plots continue while another tab is shown. */
export function feedPlots(): void {
  if (fed) return;
  fed = true;
  watchSource();
  watchScenario();
  effect(() => {
    const shown = source.value;
    if (shown?.kind === "recording") fillFrom(shown, shownSeries.value);
    else startWithHistory(plotBuffer.keep(shownSeries.value.map(keyOf)));
  });
  const list = computed(() => JSON.stringify(wantedOf(shownSeries.value.filter(isThere)))); // rosters change often
  effect(() => {
    const wanted = JSON.parse(list.value) as WantedColumns[];
    if (wanted.length === 0 || source.value?.kind === "recording") return undefined;
    const request = requestColumns("plots", wanted);
    const stop = onColumns(request, (frame, blocks) => remember(frame, blocks, wanted));
    return () => {
      stop();
      request.release();
    };
  });
}

/** A recording and the run have different time axes (the buffer has the run's): each starts empty. */
function watchSource(): void {
  let shown: FrameSource | null = null;
  effect(() => {
    const before = shown;
    shown = source.value;
    if (before === null || before === shown) return;
    if (![before, shown].some((data) => data?.kind === "recording")) return;
    plotBuffer.clear();
    resetZoom();
    if (isOpened(before)) plotted.value = plotted.peek().filter(({ recorded }) => !recorded); // the recording was closed
  });
}

/** Another scenario: keep the lines of vehicles that it has by name, from its start. */
function watchScenario(): void {
  let scenario: string | undefined;
  effect(() => {
    const now = roster.value;
    if (now.number < 0) return; // no roster yet
    const before = scenario;
    scenario = metadata.peek()?.name;
    if (before === undefined || before === scenario) return;
    plotBuffer.clear();
    resetZoom();
    plotted.value = keptLines(plotted.peek(), now);
  });
}

/** Lines of a recording stay; others follow their vehicle's name. */
export function keptLines(lines: readonly Series[], now: Roster): Series[] {
  return lines.flatMap((line) => {
    if (line.recorded) return [line];
    const row = now.rowOfName(line.name);
    const id = row === undefined ? undefined : now.idAt(row);
    return id === undefined ? [] : [{ ...line, id }];
  });
}

/** New lines start with the values in the page's buffer. */
function startWithHistory(keys: readonly string[]): void {
  if (keys.length === 0) return;
  const about = new Map(shownSeries.peek().map((series) => [keyOf(series), series]));
  const frames = history.all();
  const before = new Map(frames.map((frame, at) => [frame, frames[at - 1]]));
  plotBuffer.backfill(keys, frames, (frame, key) => {
    const series = about.get(key);
    return series === undefined ? Number.NaN : valueIn(frame, series, before.get(frame));
  });
  additions.value = additions.peek() + 1;
}

/** A value in a frame: a column requested at that time, or from the pose and the one before; NaN if unknown. */
export function valueIn(
  frame: Frame,
  { id, name, column }: Pick<Series, "id" | "name" | "column">,
  before: Frame | undefined,
): number {
  const value = valuesOf(frame, id).get(column);
  if (value !== undefined) return measured(column, value);
  const present = rosters.get(frame.roster);
  const row = present?.rowOfId(id);
  if (row === undefined || present?.nameAt(row) !== name) return Number.NaN;
  const [x, y, z] = positionOf(frame, row);
  const past = before?.roster === frame.roster ? positionOf(before, row) : [Number.NaN, Number.NaN, Number.NaN];
  const [vx = 0, vy = 0, vz = 0] = [x, y, z].map(
    (to, k) => (to - (past[k] as number)) / (frame.time - (before?.time ?? 0)),
  );
  const known = { x, y, z, vx, vy, vz, speed: Math.hypot(vx, vy, vz), ...eulerOf(orientationOf(frame, row)) };
  return (known as Record<string, number>)[column] ?? Number.NaN;
}

/** The share of a recording's columns that is read, for the plots; 1: all. */
export const readShare = signal(1);
const SHOW_EVERY = 150; // ms, while a recording is read
let reading = 0;

/** What is known of whole columns at a time of reading them; false: they are no longer needed. */
type OnPart = (times: Float64Array, values: readonly Float64Array[], share: number) => boolean;

/** Read whole columns of a recording, over its time; they do not depend on what has been played. */
function fillFrom(shown: FrameSource, series: readonly Series[]): void {
  const mine = ++reading;
  const requests = wantedOf(series).map(({ of, columns }) => {
    return { id: Number(of), vehicle: series.find(({ id }) => id === of)?.name ?? "", columns };
  });
  const columns = requests.flatMap(({ id, columns }) => columns.map((column) => ({ id, column })));
  readShare.value = requests.length === 0 ? 1 : 0;
  let shownAt = Number.NEGATIVE_INFINITY;
  const fill: OnPart = (times, values, share) => {
    if (mine !== reading || source.peek() !== shown) return false;
    const now = performance.now();
    if (share < 1 && now - shownAt < SHOW_EVERY) return true;
    shownAt = now;
    const read = columns.map(({ column }, k) => values[k]?.map((value) => measured(column, value)));
    plotBuffer.fill(times, new Map(columns.map((one, k) => [keyOf(one), read[k] ?? new Float64Array()])));
    readShare.value = share;
    additions.value += 1;
    return true;
  };
  const whole = isOpened(shown) ? openedColumns(shown, requests, fill) : servedColumns(shown, requests, fill);
  whole.catch((error: unknown) => {
    if (mine !== reading) return;
    readShare.value = 1;
    showNotice("error", `Cannot plot: ${reasonOf(error)}`);
  });
}

/** From the opened file. */
async function openedColumns(
  { recording, timeline }: RecordingSource,
  requests: readonly SeriesRequest[],
  onPart: OnPart,
): Promise<void> {
  const { times } = recording;
  onPart(times, await recording.series(requests, timeline.position.peek(), (...part) => onPart(times, ...part)), 1);
}

const PIECE = 30; // s
const MOST_PIECES = 40;

/** From the server that plays the recording, in pieces of time; those around the position first. */
async function servedColumns(shown: FrameSource, requests: readonly SeriesRequest[], onPart: OnPart): Promise<void> {
  if (requests.length === 0 || !shown.timeline) return;
  const [first, end, position] = [shown.timeline.start, shown.timeline.end, shown.timeline.position].map((at) =>
    at.peek(),
  ) as [number, number, number];
  const length = Math.max(PIECE, (end - first) / MOST_PIECES);
  const count = Math.max(Math.ceil((end - first) / length), 1);
  const present = Math.floor((position - first) / length);
  const order = Array.from({ length: count }, (_, k) => k).sort(
    (a, b) => Math.abs(a - present) - Math.abs(b - present),
  );
  const pieces: { times: readonly number[]; values: readonly (readonly (number | null)[])[] }[] = [];
  for (const [done, piece] of order.entries()) {
    const span = { start: first + piece * length, end: piece === count - 1 ? null : first + (piece + 1) * length };
    const answers = await Promise.all(
      requests.map(({ vehicle, columns }) => call("series", { vehicle, columns, ...span })),
    );
    pieces[piece] = { times: answers[0]?.times ?? [], values: answers.flatMap(({ values }) => values) };
    const known = pieces.filter((read) => read !== undefined);
    const column = (_: unknown, k: number) =>
      Float64Array.from(known.flatMap(({ values }) => values[k] ?? []).map((value) => value ?? Number.NaN));
    const times = Float64Array.from(known.flatMap(({ times }) => times));
    if (!onPart(times, (pieces[piece]?.values ?? []).map(column), (done + 1) / count)) return;
  }
}

/** Whether the shown source has that column: series of a recording may be unknown to the run. */
function isThere({ id, name, column }: Series): boolean {
  const row = roster.value.rowOfId(id);
  const own = row === undefined || roster.value.nameAt(row) !== name ? undefined : roster.value.fleetAt(row)?.columns;
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
    const asked = wanted[request];
    if (asked === undefined || vehicles !== 1 || typeof asked.of !== "number") continue;
    asked.columns.forEach((column, at) => {
      values.set(keyOf({ id: asked.of as number, column }), measured(column, all[at] ?? Number.NaN));
    });
  }
  plotBuffer.add(frame.run, frame.time, (key) => values.get(key) ?? Number.NaN);
  additions.value += 1;
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

/** Limited to the length of a recording. */
function shownLength(): number {
  const shown = source.value;
  if (shown?.kind !== "recording" || !shown.timeline) return windowLength.value;
  return Math.min(windowLength.value, shown.timeline.end.value - shown.timeline.start.value || 1);
}

/** End of the range: the newest time, or the position in a recording, with later values if there is space. */
export function latest(): number {
  const shown = source.value;
  return shown?.kind === "recording" && shown.timeline ? shown.timeline.position.value : plotBuffer.last;
}

/** Zooming freezes the plots, so that the zoomed range stays. */
export function zoomTo(start: number, end: number): void {
  if (end - start <= 0) return;
  held.value ??= latest();
  zoom.value = [start, end];
}
