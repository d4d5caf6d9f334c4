// The past of the plotted columns: times, and values for each column; the oldest half is forgotten when it is full.

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
