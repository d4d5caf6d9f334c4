// An open recording: sample times and their chunks; chunks are read on demand.
import { Roster } from "../state/roster";
import type { RosterTree } from "../wire/schema";
import { type LoadedChunk, loadedChunk } from "./columns";
import { FileBytes, InvalidRecording } from "./mcap";
import { type Contents, type FileIndex, readContents, readFileIndex, type Topic } from "./mcap-index";
import { type OtherMessages, ReaderPool, type SeriesRequest } from "./reader-pool";
import { type Surroundings, surroundingsIn } from "./surroundings";

const NANOSECONDS = 1e9;

export class Recording {
  /** Sample times: s from the beginning of the recording, increasing over resets and restores. */
  readonly times: Float64Array;
  /** Times at which the run started or restarted. */
  readonly starts: readonly number[];
  readonly rate: number; // ticks per simulated s
  readonly name: string; // of the scenario; "": unknown
  readonly description: string;
  readonly complete: boolean; // false: truncated, e.g. the writer was killed
  private readonly origin: bigint;
  private readonly firstSamples: number[] = []; // by chunk; one more at the end
  private readonly firstRosters: number[] = [];
  private readonly rosters = new Map<number, Roster>();
  private readonly trees = new Map<number, RosterTree>();
  private readonly wholeSeries = new Map<string, Float64Array>(); // by vehicle and column
  private readonly otherMessageCache = new Map<number, Promise<OtherMessages>>();

  /** Open a file; throws InvalidRecording. */
  static async open(blob: Blob, pool: ReaderPool = new ReaderPool(blob)): Promise<Recording> {
    const bytes = new FileBytes(blob);
    try {
      const places = await readFileIndex(bytes);
      const contents = await readContents(bytes, places);
      if (places.metadata === null) throw new InvalidRecording("is an MCAP file, but not a Paddock recording");
      return new Recording(places, contents, pool, await surroundingsIn(places.metadata));
    } catch (error) {
      pool.close();
      throw error;
    }
  }

  private constructor(
    private readonly places: FileIndex,
    private readonly contents: Contents,
    private readonly pool: ReaderPool,
    readonly surroundings: Surroundings,
  ) {
    const runs = this.all("run");
    if (runs[0] === undefined) throw new InvalidRecording("is truncated before the first sample");
    this.origin = runs[0];
    this.starts = runs.map((at) => this.position(at));
    this.times = Float64Array.from(this.all("state"), (at) => this.position(at));
    if (this.times.length === 0) throw new InvalidRecording("contains no samples");
    this.rate = Number(places.metadata?.get("rate")) || 1;
    this.name = places.metadata?.get("name") ?? "";
    this.description = places.metadata?.get("description") ?? "";
    this.complete = places.complete;
    this.count();
  }

  get chunks(): number {
    return this.places.chunks.length;
  }

  /** From the first sample to the last, s. */
  get duration(): number {
    return this.times.at(-1) ?? 0;
  }

  position(logTime: bigint): number {
    return Number(logTime - this.origin) / NANOSECONDS;
  }

  /** The last sample at or before a time, or the first one. */
  sampleAt(time: number): number {
    return Math.max(after(this.times, time + 1e-9) - 1, 0);
  }

  /** The section of a time: 0 before the first reset, 1 after it, ... */
  sectionAt(time: number): number {
    return Math.max(after(this.starts, time + 1e-9) - 1, 0);
  }

  /** The samples of a section: first, and end (exclusive). */
  samplesOf(section: number): [number, number] {
    const [start = 0, end = Number.POSITIVE_INFINITY] = this.starts.slice(section, section + 2);
    return [before(this.times, start), before(this.times, end)];
  }

  chunkOf(sample: number): number {
    return after(this.firstSamples, sample) - 1;
  }

  firstSample(chunk: number): number {
    return this.firstSamples[chunk] ?? this.times.length;
  }

  holds(chunk: number, topic: Topic): boolean {
    return (this.contents.times[chunk]?.[topic].length ?? 0) > 0;
  }

  /** A roster by its number in the file; known once its chunk has been read. */
  roster(number: number): Roster | undefined {
    let roster = this.rosters.get(number);
    const tree = roster === undefined ? this.trees.get(number) : undefined;
    if (tree !== undefined) {
      roster = new Roster(tree);
      this.rosters.set(number, roster);
    }
    return roster;
  }

  /** Messages of a chunk other than samples; read once. */
  otherMessages(chunk: number): Promise<OtherMessages> {
    let things = this.otherMessageCache.get(chunk);
    if (things === undefined) {
      things = this.pool.otherMessages(this.job(chunk)).then((messages) => {
        for (const { tree } of messages.rosters) this.trees.set(tree.roster, tree);
        return messages;
      });
      this.otherMessageCache.set(chunk, things);
    }
    return things;
  }

  /** The samples of a chunk. */
  async frames(chunk: number): Promise<LoadedChunk> {
    const before = await this.rosterBefore(chunk);
    if (this.holds(chunk, "roster")) await this.otherMessages(chunk);
    return loadedChunk(chunk, await this.pool.frames({ ...this.job(chunk), before }));
  }

  /**
   * Columns of vehicles over the whole recording, in the order of the requests; NaN where a vehicle did not exist. The
   * chunks around `position` (s) are read first. `onPart` gets what is known so far (otherwise NaN) and the share that
   * is read; if it returns false, reading ends.
   */
  async series(
    requests: readonly SeriesRequest[],
    position = 0,
    onPart: (values: Float64Array[], share: number) => boolean = () => true,
  ): Promise<Float64Array[]> {
    const keys = requests.flatMap(({ vehicle, columns }) => columns.map((column) => JSON.stringify([vehicle, column])));
    const empty = () => new Float64Array(this.times.length).fill(Number.NaN);
    const series = keys.map((key) => this.wholeSeries.get(key) ?? empty());
    if (keys.every((key) => this.wholeSeries.has(key))) return series;
    const present = this.chunkOf(this.sampleAt(position));
    const waiting = Array.from({ length: this.chunks }, (_, chunk) => chunk)
      .filter((chunk) => this.holds(chunk, "state"))
      .sort((a, b) => Math.abs(a - present) - Math.abs(b - present) || a - b);
    const total = waiting.length;
    let [read, ended] = [0, false];
    const lane = async () => {
      for (let chunk = waiting.shift(); chunk !== undefined && !ended; chunk = waiting.shift()) {
        const part = await this.seriesPart(chunk, requests);
        part.forEach((values, k) => series[k]?.set(values, this.firstSample(chunk)));
        read += 1;
        ended ||= !onPart(series, read / total);
      }
    };
    await Promise.all(Array.from({ length: this.pool.size }, lane));
    if (!ended) keys.forEach((key, k) => this.wholeSeries.set(key, series[k] as Float64Array));
    return series;
  }

  close(): void {
    this.pool.close();
  }

  private async seriesPart(chunk: number, requests: readonly SeriesRequest[]): Promise<Float64Array[]> {
    try {
      const before = await this.rosterBefore(chunk);
      return await this.pool.series({ ...this.job(chunk), before, requests });
    } catch {
      return []; // a damaged chunk: values stay unknown
    }
  }

  private async rosterBefore(chunk: number): Promise<RosterTree | null> {
    for (let k = chunk - 1; k >= 0; k--) {
      if (this.holds(k, "roster")) return (await this.otherMessages(k)).rosters.at(-1)?.tree ?? null;
    }
    return null;
  }

  private job(chunk: number): { start: number; length: number; topics: Map<number, Topic>; firstRoster: number } {
    const { start, length } = this.places.chunks[chunk] as FileIndex["chunks"][number];
    return { start, length, topics: this.contents.topics, firstRoster: this.firstRosters[chunk] as number };
  }

  private all(topic: Topic): bigint[] {
    return this.contents.times.flatMap((times) => times[topic]);
  }

  private count(): void {
    let samples = 0;
    let rosters = 0;
    for (const times of this.contents.times) {
      this.firstSamples.push(samples);
      this.firstRosters.push(rosters);
      samples += times.state.length;
      rosters += times.roster.length;
    }
  }
}

/** How many of the ascending numbers are not greater than a value. */
export function after(numbers: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] as number) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function before(numbers: ArrayLike<number>, value: number): number {
  return after(numbers, value - 1e-10);
}
