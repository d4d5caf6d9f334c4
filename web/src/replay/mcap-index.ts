// Index of an MCAP file: chunk offsets and message times, without decompressing chunks.
import { McapIndexedReader } from "@mcap/core";
import {
  channelsOf,
  type FileBytes,
  HEAD,
  InvalidRecording,
  messagesOf,
  OPCODE,
  readable,
  recordHead,
  Strings,
  unpackChunk,
  viewOf,
} from "./mcap";

const WINDOW = 64 * 1024; // bytes per read

async function walkRecords(bytes: FileBytes, from: number): Promise<FileIndex> {
  const places: FileIndex = { chunks: [], channels: new Map(), metadata: null, complete: false };
  const window = new Window(bytes);
  for (let at = from; ; ) {
    const head = await window.at(at, HEAD);
    if (head === null) break;
    const opcode = head.getUint8(0);
    const length = Number(head.getBigUint64(1, true));
    at += HEAD;
    if (opcode === 0 || opcode === OPCODE.dataEnd || length > bytes.size - at) break;
    await note(places, window, opcode, at, length);
    at += length;
  }
  const last = places.chunks.at(-1);
  if (last !== undefined) last.indexes = null; // its indexes may be incomplete: read the messages instead
  return places;
}

async function note(places: FileIndex, window: Window, opcode: number, start: number, length: number): Promise<void> {
  const last = places.chunks.at(-1);
  if (opcode === OPCODE.chunk) places.chunks.push({ start, length, indexes: null });
  else if (opcode === OPCODE.messageIndex && last !== undefined) extend(last, start - HEAD, HEAD + length);
  else if (opcode === OPCODE.metadata && places.metadata === null) {
    const view = await window.at(start, length);
    if (view !== null) places.metadata = paddockMetadata(view);
  }
}

function extend(chunk: ChunkOffset, start: number, length: number): void {
  if (chunk.indexes === null) chunk.indexes = { start, length };
  else chunk.indexes.length = start + length - chunk.indexes.start;
}

/** Contents of a metadata record of Paddock. */
function paddockMetadata(view: DataView): ReadonlyMap<string, string> | null {
  const strings = new Strings(view);
  if (strings.next() !== "paddock") return null;
  const end = strings.uint32() + strings.at;
  const metadata = new Map<string, string>();
  while (strings.at < end) metadata.set(strings.next(), strings.next());
  return metadata;
}

/** A read-ahead window, because records are often short. */
class Window {
  private start = 0;
  private data: Uint8Array = new Uint8Array(0);

  constructor(private readonly bytes: FileBytes) {}

  async at(start: number, length: number): Promise<DataView | null> {
    if (start < this.start || start + length > this.start + this.data.length) {
      this.data = await this.bytes.read(start, Math.max(length, WINDOW));
      this.start = start;
    }
    const from = start - this.start;
    if (from + length > this.data.length) return null;
    return viewOf(this.data.subarray(from, from + length));
  }
}

// chunk offsets ------------------------------------------------------------------------------------------------------

interface ChunkOffset {
  start: number; // start of the content, bytes
  length: number; // length of the content, bytes
  indexes: { start: number; length: number } | null; // its message index records; null: none
}

export interface FileIndex {
  chunks: ChunkOffset[];
  channels: Map<number, string>; // topics; empty for truncated files: declared in the first chunk
  metadata: ReadonlyMap<string, string> | null; // of Paddock
  complete: boolean;
}

const MAGIC = [0x89, 0x4d, 0x43, 0x41, 0x50, 0x30, 0x0d, 0x0a];

export async function readFileIndex(bytes: FileBytes): Promise<FileIndex> {
  if (bytes.size === 0) throw new InvalidRecording("is empty");
  const head = await bytes.read(0, MAGIC.length);
  if (MAGIC.some((byte, k) => head[k] !== byte)) throw new InvalidRecording("is not an MCAP file");
  try {
    return await fromSummary(bytes);
  } catch {
    return await walkRecords(bytes, MAGIC.length); // no summary, or a damaged one
  }
}

async function fromSummary(bytes: FileBytes): Promise<FileIndex> {
  const reader = await McapIndexedReader.Initialize({ readable: readable(bytes) });
  const chunks = reader.chunkIndexes.map((index) => ({
    start: Number(index.chunkStartOffset) + HEAD,
    length: Number(index.chunkLength) - HEAD,
    indexes: indexesAfter(Number(index.chunkStartOffset + index.chunkLength), Number(index.messageIndexLength)),
  }));
  const channels = new Map([...reader.channelsById].map(([id, channel]) => [id, channel.topic]));
  let metadata: FileIndex["metadata"] = null;
  for await (const record of reader.readMetadata({ name: "paddock" })) metadata = record.metadata;
  return { chunks: chunks.sort((a, b) => a.start - b.start), channels, metadata, complete: true };
}

function indexesAfter(start: number, length: number): ChunkOffset["indexes"] {
  return length > 0 ? { start, length } : null;
}

// message times ------------------------------------------------------------------------------------------------------

const TOPICS = {
  run: "/paddock/run",
  roster: "/paddock/roster",
  state: "/paddock/state",
  events: "/paddock/events",
  markers: "/paddock/markers",
} as const;
export type Topic = keyof typeof TOPICS;

/** Log times (ns) of the messages by topic. */
type ChunkTimes = Record<Topic, bigint[]>;

export interface Contents {
  topics: Map<number, Topic>; // by channel
  times: ChunkTimes[]; // by chunk
  damaged: number; // chunks that cannot be read
}

const MAX_CONCURRENT = 16; // concurrent reads

export async function readContents(bytes: FileBytes, places: FileIndex): Promise<Contents> {
  const topics = topicsOf(places.channels.size > 0 ? places.channels : await declared(bytes, places.chunks));
  const contents: Contents = { topics, times: [], damaged: 0 };
  for (let k = 0; k < places.chunks.length; k += MAX_CONCURRENT) {
    const some = places.chunks.slice(k, k + MAX_CONCURRENT);
    const read = some.map((place) => chunkTimes(bytes, place, topics).catch(() => null));
    for (const times of await Promise.all(read)) {
      if (times === null) contents.damaged += 1;
      contents.times.push(times ?? nothing());
    }
  }
  return contents;
}

async function declared(bytes: FileBytes, chunks: ChunkOffset[]): Promise<Map<number, string>> {
  const first = chunks[0];
  if (first === undefined) throw new InvalidRecording("is truncated before the first chunk");
  try {
    return channelsOf(unpackChunk(await bytes.read(first.start, first.length)));
  } catch {
    throw new InvalidRecording("is damaged in its first chunk");
  }
}

function topicsOf(channels: ReadonlyMap<number, string>): Map<number, Topic> {
  const names = new Map(Object.entries(TOPICS).map(([topic, name]) => [name as string, topic as Topic]));
  const topics = new Map<number, Topic>();
  for (const [channel, name] of channels) {
    const topic = names.get(name);
    if (topic !== undefined) topics.set(channel, topic);
  }
  return topics;
}

async function chunkTimes(bytes: FileBytes, place: ChunkOffset, topics: Map<number, Topic>): Promise<ChunkTimes> {
  if (place.indexes !== null) {
    const { start, length } = place.indexes;
    return indexedTimes(await bytes.read(start, length), topics);
  }
  const times = nothing();
  for (const { channel, logTime } of messagesOf(unpackChunk(await bytes.read(place.start, place.length)))) {
    const topic = topics.get(channel);
    if (topic !== undefined) times[topic].push(logTime);
  }
  return times;
}

/** A message index: channel u16, bytes u32, then log time u64 and offset u64 of each message. */
function indexedTimes(data: Uint8Array, topics: Map<number, Topic>): ChunkTimes {
  const times = nothing();
  const view = viewOf(data);
  for (let at = 0; ; ) {
    const head = recordHead(data, at);
    if (head === null) return times;
    const start = at + HEAD;
    at = start + head.length;
    const topic = head.opcode === OPCODE.messageIndex ? topics.get(view.getUint16(start, true)) : undefined;
    if (topic === undefined) continue;
    const end = start + 6 + view.getUint32(start + 2, true);
    for (let k = start + 6; k < end; k += 16) times[topic].push(view.getBigUint64(k, true));
  }
}

function nothing(): ChunkTimes {
  return { run: [], roster: [], state: [], events: [], markers: [] };
}
