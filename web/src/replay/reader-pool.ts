// Decodes chunks in Workers (in tests on the main thread): poses, events and markers, or column series.
import { Roster } from "../state/roster";
import type { EventTree, RosterTree } from "../wire/schema";
import { columnReader } from "./columns";
import { FileBytes, messagesOf, unpackChunk } from "./mcap";
import type { Topic } from "./mcap-index";
import { decodeEvent, decodeRoster, decodeRunStart, decodeState, packPoses, type Reason, type State } from "./messages";

export interface ChunkJob {
  start: number; // of the chunk's content in the file, bytes
  length: number;
  topics: Map<number, Topic>;
  firstRoster: number; // the number that the chunk's first roster is given
}

export interface FramesJob extends ChunkJob {
  kind: "frames";
  before: RosterTree | null; // who was there when the chunk begins
}

export interface ThingsJob extends ChunkJob {
  kind: "things";
}

export interface SeriesJob extends ChunkJob {
  kind: "series";
  before: RosterTree | null;
  vehicle: string;
  columns: readonly string[];
}

/** One sample; the blocks lie in the chunk's data. */
export interface Recorded {
  tick: number;
  time: number; // simulated s
  run: number;
  roster: number;
  count: number;
  width: 4 | 8;
  blocks: number[]; // where each fleet's block begins
  poses: Uint32Array<ArrayBuffer>;
}

export interface Frames {
  data: ArrayBuffer; // the chunk, decompressed
  samples: (Recorded | null)[]; // null: cannot be read
}

/** What a chunk says beside samples, each with its log time. */
export interface Things {
  runs: { at: bigint; run: number; reason: Reason; scenario: string }[];
  rosters: { at: bigint; tree: RosterTree }[];
  events: { at: bigint; event: EventTree }[];
  markers: { at: bigint; data: Uint8Array }[]; // still to be decoded
}

/** Values by sample, column by column: `values[column * samples + sample]`; NaN where the vehicle was not. */
export type SeriesPart = Float64Array<ArrayBuffer>;

export async function framesOf(bytes: FileBytes, job: FramesJob): Promise<Frames> {
  const data = await chunkData(bytes, job);
  const samples: Frames["samples"] = [];
  for (const { state, roster } of statesOf(data, job)) samples.push(state && roster && recorded(state, roster));
  return { data: data.buffer as ArrayBuffer, samples };
}

export async function thingsOf(bytes: FileBytes, job: ThingsJob): Promise<Things> {
  const things: Things = { runs: [], rosters: [], events: [], markers: [] };
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

export async function seriesOf(bytes: FileBytes, job: SeriesJob): Promise<SeriesPart> {
  const states = [...statesOf(await chunkData(bytes, job), job)];
  const values = new Float64Array(job.columns.length * states.length).fill(Number.NaN);
  states.forEach(({ state, roster }, k) => {
    const row = roster?.rowOfName(job.vehicle);
    const fleet = row === undefined ? undefined : roster?.fleetAt(row);
    const block = fleet && state?.blocks[fleet.index];
    if (!state || row === undefined || !fleet || !block) return;
    const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
    job.columns.forEach((name, c) => {
      values[c * states.length + k] = columnReader(fleet, name)(view, state.width, row - fleet.first);
    });
  });
  return values;
}

async function chunkData(bytes: FileBytes, job: ChunkJob): Promise<Uint8Array> {
  return unpackChunk(await bytes.read(job.start, job.length));
}

interface Stated {
  state: State | null; // null: cannot be read
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
  const blocks = state.blocks.map((block) => block.byteOffset);
  return { tick, time, run, width, blocks, poses, roster: roster.number, count: roster.size };
}

function attempt<Thing>(make: () => Thing): Thing | null {
  try {
    return make();
  } catch {
    return null;
  }
}

// workers ------------------------------------------------------------------------------------------------------------

const LEAST_HANDS = 2; // one thread that draws leaves the others idle most of the time
const MOST_HANDS = 3;

export type Job = FramesJob | ThingsJob | SeriesJob;
export type Result = Frames | Things | SeriesPart;
export interface Question {
  number: number;
  job: Job;
}
export type Answer = { number: number; result: Result } | { number: number; error: string };

/** An answer, and what of it need not be copied. */
interface Sealed {
  reply: Answer;
  transfer: Transferable[];
}

/** Do a job and say which buffers may be handed over instead of copied. */
export async function answer(bytes: FileBytes, { number, job }: Question): Promise<Sealed> {
  try {
    if (job.kind === "frames") {
      const result = await framesOf(bytes, job);
      const poses = result.samples.flatMap((sample) => (sample === null ? [] : [sample.poses.buffer]));
      return { reply: { number, result }, transfer: [result.data, ...poses] };
    }
    const result = await (job.kind === "things" ? thingsOf(bytes, job) : seriesOf(bytes, job));
    return { reply: { number, result }, transfer: [] };
  } catch (error) {
    return { reply: { number, error: error instanceof Error ? error.message : String(error) }, transfer: [] };
  }
}

export interface Crew {
  frames(job: Omit<FramesJob, "kind">): Promise<Frames>;
  things(job: Omit<ThingsJob, "kind">): Promise<Things>;
  series(job: Omit<SeriesJob, "kind">): Promise<SeriesPart>;
  close(): void;
}

export function crewFor(blob: Blob): Crew {
  return typeof Worker === "undefined" ? new Crewless(blob) : new WorkerCrew(blob);
}

abstract class AnyCrew implements Crew {
  protected abstract ask(job: Job): Promise<Result>;
  abstract close(): void;

  frames(job: Omit<FramesJob, "kind">): Promise<Frames> {
    return this.ask({ ...job, kind: "frames" }) as Promise<Frames>;
  }

  things(job: Omit<ThingsJob, "kind">): Promise<Things> {
    return this.ask({ ...job, kind: "things" }) as Promise<Things>;
  }

  series(job: Omit<SeriesJob, "kind">): Promise<SeriesPart> {
    return this.ask({ ...job, kind: "series" }) as Promise<SeriesPart>;
  }
}

class Crewless extends AnyCrew {
  private readonly bytes: FileBytes;

  constructor(blob: Blob) {
    super();
    this.bytes = new FileBytes(blob);
  }

  protected async ask(job: Job): Promise<Result> {
    const { reply } = await answer(this.bytes, { number: 0, job });
    if ("error" in reply) throw new Error(reply.error);
    return reply.result;
  }

  close(): void {}
}

/** One Worker and what it still has to answer. */
class Hand {
  private readonly worker: Worker;
  private readonly waiting = new Map<number, { done(result: Result): void; failed(error: Error): void }>();
  private asked = 0;

  constructor(blob: Blob) {
    const beside = import.meta.url; // the Worker is built beside this file
    this.worker = new Worker(new URL("./replay-worker.js", beside), { type: "module", name: "paddock-replay" });
    this.worker.onmessage = ({ data }: MessageEvent<Answer>) => this.hear(data);
    this.worker.onerror = () => this.fail("the Worker that reads recordings has stopped");
    this.worker.postMessage({ blob });
  }

  get busy(): number {
    return this.waiting.size;
  }

  ask(job: Job): Promise<Result> {
    const number = ++this.asked;
    return new Promise((done, failed) => {
      this.waiting.set(number, { done, failed });
      this.worker.postMessage({ number, job });
    });
  }

  close(): void {
    this.worker.terminate();
    this.fail("closed");
  }

  private hear(reply: Answer): void {
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

/** Several Workers: decompressing 10,000 vehicles at 30 samples a second takes more than one core. */
class WorkerCrew extends AnyCrew {
  private readonly hands: Hand[];

  constructor(blob: Blob) {
    super();
    const count = Math.min(Math.max((navigator.hardwareConcurrency || 2) - 1, LEAST_HANDS), MOST_HANDS);
    this.hands = Array.from({ length: count }, () => new Hand(blob));
  }

  protected ask(job: Job): Promise<Result> {
    const free = this.hands.reduce((best, hand) => (hand.busy < best.busy ? hand : best));
    return free.ask(job);
  }

  close(): void {
    for (const hand of this.hands) hand.close();
  }
}
