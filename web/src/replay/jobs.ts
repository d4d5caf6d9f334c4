// What is done with one chunk, in a Worker where there is one: poses of its samples, other things, or a few columns.
import type { EventTree, RosterTree } from "../net/schema";
import { Roster } from "../state/roster";
import type { FileBytes } from "./bytes";
import { messagesOf, unpackChunk } from "./chunk";
import type { Topic } from "./contents";
import { decodeEvent, decodeRoster, decodeRunStart, decodeState, type Reason, type State } from "./messages";
import { packPoses } from "./poses";
import { columnReader } from "./values";

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
