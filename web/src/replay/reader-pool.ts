// Decodes chunks in Workers (in tests on the main thread): poses, events and markers, or column series.
import { Roster } from "../state/roster";
import type { EventRecord, RosterTree } from "../wire/schema";
import { columnReader } from "./columns";
import { FileBytes, messagesOf, unpackChunk } from "./mcap";
import type { Topic } from "./mcap-index";
import { decodeEvent, decodeRoster, decodeRunStart, decodeState, packPoses, type Reason, type State } from "./messages";

interface ChunkJob {
  start: number; // of the chunk's content in the file, bytes
  length: number;
  topics: Map<number, Topic>;
  firstRoster: number; // number of the chunk's first roster
}

interface FramesJob extends ChunkJob {
  kind: "frames";
  before: RosterTree | null; // roster at the beginning of the chunk
}

interface OtherMessagesJob extends ChunkJob {
  kind: "other";
}

interface SeriesJob extends ChunkJob {
  kind: "series";
  before: RosterTree | null;
  requests: readonly SeriesRequest[];
}

/** A vehicle, and its columns to read. */
export interface SeriesRequest {
  vehicle: string;
  columns: readonly string[];
}

/** One sample; the blocks are views into the chunk's data. */
export interface Recorded {
  tick: number;
  time: number; // simulated s
  run: number;
  roster: number;
  count: number;
  width: 4 | 8;
  blocks: number[]; // offset of each fleet's block
  arrays: number[]; // of each array of each fleet
  poses: Uint32Array<ArrayBuffer>;
}

export interface Frames {
  data: ArrayBuffer; // the chunk, decompressed
  samples: (Recorded | null)[]; // null: not readable
}

/** Messages of a chunk other than samples, with their log times. */
export interface OtherMessages {
  runs: { at: bigint; run: number; reason: Reason; scenario: string }[];
  rosters: { at: bigint; tree: RosterTree }[];
  events: { at: bigint; event: EventRecord }[];
  markers: { at: bigint; data: Uint8Array }[]; // encoded
}

/** Values of each column of each request: one per sample; NaN where the vehicle did not exist. */
type SeriesPart = Float64Array[];

async function framesOf(bytes: FileBytes, job: FramesJob): Promise<Frames> {
  const data = await chunkData(bytes, job);
  const samples: Frames["samples"] = [];
  for (const { state, roster } of statesOf(data, job)) samples.push(state && roster && recorded(state, roster));
  return { data: data.buffer as ArrayBuffer, samples };
}

async function otherMessagesOf(bytes: FileBytes, job: OtherMessagesJob): Promise<OtherMessages> {
  const things: OtherMessages = { runs: [], rosters: [], events: [], markers: [] };
  for (const { channel, logTime: at, data } of messagesOf(await chunkData(bytes, job))) {
    const topic = job.topics.get(channel);
    if (topic === "run") things.runs.push({ at, ...decodeRunStart(data) });
    else if (topic === "roster") {
      things.rosters.push({ at, tree: decodeRoster(data, job.firstRoster + things.rosters.length) });
    } else if (topic === "events") things.events.push({ at, event: decodeEvent(data) });
    else if (topic === "markers") things.markers.push({ at, data: data.slice() });
  }
  return things;
}

async function seriesOf(bytes: FileBytes, job: SeriesJob): Promise<SeriesPart> {
  const states = [...statesOf(await chunkData(bytes, job), job)];
  return job.requests.flatMap(({ vehicle, columns }) => {
    const series = columns.map(() => new Float64Array(states.length).fill(Number.NaN));
    states.forEach(({ state, roster }, k) => {
      const row = roster?.rowOfName(vehicle);
      const fleet = row === undefined ? undefined : roster?.fleetAt(row);
      const block = fleet && state?.blocks[fleet.index];
      if (!state || row === undefined || !fleet || !block) return;
      const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
      columns.forEach((name, c) => {
        (series[c] as Float64Array)[k] = columnReader(fleet, name)(view, state.width, row - fleet.first);
      });
    });
    return series;
  });
}

async function chunkData(bytes: FileBytes, job: ChunkJob): Promise<Uint8Array> {
  return unpackChunk(await bytes.read(job.start, job.length));
}

interface Stated {
  state: State | null; // null: not readable
  roster: Roster | null;
}

/** The states of a chunk with their rosters. */
function* statesOf(data: Uint8Array, job: FramesJob | SeriesJob): Generator<Stated> {
  let roster = job.before && new Roster(job.before);
  let rosters = 0;
  for (const message of messagesOf(data)) {
    const topic = job.topics.get(message.channel);
    if (topic === "roster") roster = new Roster(decodeRoster(message.data, job.firstRoster + rosters++));
    else if (topic === "state") yield { state: attempt(() => decodeState(message.data)), roster };
  }
}

function recorded(state: State, roster: Roster): Recorded | null {
  const { tick, time, run, width } = state;
  const poses = attempt(() => packPoses(state, roster));
  if (poses === null) return null;
  const offsets = (parts: readonly Uint8Array[]): number[] => parts.map((part) => part.byteOffset);
  const [blocks, arrays] = [offsets(state.blocks), offsets(state.arrays)];
  return { tick, time, run, width, blocks, arrays, poses, roster: roster.number, count: roster.size };
}

function attempt<Thing>(make: () => Thing): Thing | null {
  try {
    return make();
  } catch {
    return null;
  }
}

// workers ------------------------------------------------------------------------------------------------------------

const MIN_WORKERS = 2; // the drawing thread leaves the other cores mostly idle
const MAX_WORKERS = 3;

type Job = FramesJob | OtherMessagesJob | SeriesJob;
type Result = Frames | OtherMessages | SeriesPart;
export interface JobRequest {
  number: number;
  job: Job;
}
export type JobReply = { number: number; result: Result } | { number: number; error: string };

/** A reply and its transferable buffers. */
interface SealedReply {
  reply: JobReply;
  transfer: Transferable[];
}

/** Run a job; list the buffers to transfer instead of copying. */
export async function runJob(bytes: FileBytes, { number, job }: JobRequest): Promise<SealedReply> {
  try {
    if (job.kind === "frames") {
      const result = await framesOf(bytes, job);
      const poses = result.samples.flatMap((sample) => (sample === null ? [] : [sample.poses.buffer]));
      return { reply: { number, result }, transfer: [result.data, ...poses] };
    }
    const result = await (job.kind === "other" ? otherMessagesOf(bytes, job) : seriesOf(bytes, job));
    return { reply: { number, result }, transfer: [] };
  } catch (error) {
    return { reply: { number, error: error instanceof Error ? error.message : String(error) }, transfer: [] };
  }
}

/** One Worker and its pending jobs. */
class PoolWorker {
  private readonly worker: Worker;
  private readonly waiting = new Map<number, { done(result: Result): void; failed(error: Error): void }>();
  private lastNumber = 0;

  constructor(blob: Blob) {
    const beside = import.meta.url; // built beside this script
    this.worker = new Worker(new URL("./replay-worker.js", beside), { type: "module", name: "paddock-replay" });
    this.worker.onmessage = ({ data }: MessageEvent<JobReply>) => this.receive(data);
    this.worker.onerror = () => this.fail("the Worker that reads recordings has stopped");
    this.worker.postMessage({ blob });
  }

  get busy(): number {
    return this.waiting.size;
  }

  run(job: Job): Promise<Result> {
    const number = ++this.lastNumber;
    return new Promise((done, failed) => {
      this.waiting.set(number, { done, failed });
      this.worker.postMessage({ number, job });
    });
  }

  close(): void {
    this.worker.terminate();
    this.fail("closed");
  }

  private receive(reply: JobReply): void {
    const waiter = this.waiting.get(reply.number);
    this.waiting.delete(reply.number);
    if ("error" in reply) waiter?.failed(new Error(reply.error));
    else waiter?.done(reply.result);
  }

  private fail(reason: string): void {
    for (const { failed } of this.waiting.values()) failed(new Error(reason));
    this.waiting.clear();
  }
}

/** Several Workers: decompressing 10,000 vehicles at 30 samples per second takes more than one core. */
export class ReaderPool {
  private readonly bytes: FileBytes;
  private readonly workers: PoolWorker[]; // none in tests: jobs run on this thread

  constructor(blob: Blob) {
    this.bytes = new FileBytes(blob);
    const count = Math.min(Math.max((globalThis.navigator?.hardwareConcurrency || 2) - 1, MIN_WORKERS), MAX_WORKERS);
    this.workers = typeof Worker === "undefined" ? [] : Array.from({ length: count }, () => new PoolWorker(blob));
  }

  /** Number of jobs that run at a time. */
  get size(): number {
    return Math.max(this.workers.length, 1);
  }

  frames(job: Omit<FramesJob, "kind">): Promise<Frames> {
    return this.run({ ...job, kind: "frames" }) as Promise<Frames>;
  }

  otherMessages(job: Omit<OtherMessagesJob, "kind">): Promise<OtherMessages> {
    return this.run({ ...job, kind: "other" }) as Promise<OtherMessages>;
  }

  series(job: Omit<SeriesJob, "kind">): Promise<SeriesPart> {
    return this.run({ ...job, kind: "series" }) as Promise<SeriesPart>;
  }

  close(): void {
    for (const worker of this.workers) worker.close();
  }

  private async run(job: Job): Promise<Result> {
    const [first, ...others] = this.workers;
    if (first !== undefined) {
      return others.reduce((best, worker) => (worker.busy < best.busy ? worker : best), first).run(job);
    }
    const { reply } = await runJob(this.bytes, { number: 0, job });
    if ("error" in reply) throw new Error(reply.error);
    return reply.result;
  }
}
