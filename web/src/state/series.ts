// The newest value of a wanted column, and its last ones with their times.
import { type ReadonlySignal, signal } from "@preact/signals";
import { onColumns, type Want } from "./columns";
import type { ColumnBlock } from "./frame";

/** The last values in the order in which they came; the oldest give way. */
export class Series {
  readonly times: Float64Array; // simulated s; only the first `length` count
  readonly values: Float64Array;
  length = 0;

  constructor(readonly capacity: number) {
    this.times = new Float64Array(2 * capacity);
    this.values = new Float64Array(2 * capacity);
  }

  /** A time that is not later than the last one begins anew. */
  add(time: number, value: number): void {
    const last = this.times[this.length - 1];
    if (last !== undefined && time < last) this.length = 0;
    else if (time === last) this.length -= 1;
    if (this.length === 2 * this.capacity) this.shift();
    this.times[this.length] = time;
    this.values[this.length] = value;
    this.length += 1;
  }

  /** Times and values, at most `capacity` of each, as views. */
  window(): [times: Float64Array, values: Float64Array] {
    const first = Math.max(this.length - this.capacity, 0);
    return [this.times.subarray(first, this.length), this.values.subarray(first, this.length)];
  }

  private shift(): void {
    this.times.copyWithin(0, this.capacity);
    this.values.copyWithin(0, this.capacity);
    this.length = this.capacity;
  }
}

/** One value of what a wish brings: entry `request`, column by name, vehicle within the entry; NaN when it is not there. */
export function valueIn(wish: Want, blocks: readonly ColumnBlock[], request: number, column: string, vehicle = 0): number {
  const block = blocks.find((one) => one.request === request);
  const at = wish.columns[request]?.columns.indexOf(column) ?? -1;
  if (block === undefined || at < 0 || vehicle >= block.vehicles) return Number.NaN;
  return block.values[at * block.vehicles + vehicle] ?? Number.NaN;
}

/** The newest value as a signal; the second function ends it. */
export function latest(wish: Want, request: number, column: string, vehicle = 0): [ReadonlySignal<number>, () => void] {
  const newest = signal(Number.NaN);
  const end = onColumns(wish, (_, blocks) => {
    newest.value = valueIn(wish, blocks, request, column, vehicle);
  });
  return [newest, end];
}

/** The last values of a column; the second function ends it. */
export function recent(wish: Want, request: number, column: string, capacity: number, vehicle = 0): [Series, () => void] {
  const series = new Series(capacity);
  const end = onColumns(wish, (frame, blocks) => {
    series.add(frame.time, valueIn(wish, blocks, request, column, vehicle));
  });
  return [series, end];
}
