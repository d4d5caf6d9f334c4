// Which messages each chunk holds and when, told by its message indexes: no chunk is decompressed for that.
import type { FileBytes } from "./bytes";
import { channelsOf, messagesOf, unpackChunk } from "./chunk";
import { NotARecording } from "./errors";
import { HEAD, OPCODE, recordHead, viewOf } from "./format";
import type { ChunkPlace, Places } from "./places";

export const TOPICS = {
  run: "/paddock/run",
  roster: "/paddock/roster",
  state: "/paddock/state",
  events: "/paddock/events",
  markers: "/paddock/markers",
} as const;
export type Topic = keyof typeof TOPICS;

/** Log times (ns) of the messages of the topics that matter here. */
export type ChunkTimes = Record<Topic, bigint[]>;

export interface Contents {
  topics: Map<number, Topic>; // by channel
  times: ChunkTimes[]; // by chunk
  damaged: number; // chunks that cannot be read at all
}

const AT_ONCE = 16; // reads under way

export async function readContents(bytes: FileBytes, places: Places): Promise<Contents> {
  const topics = topicsOf(places.channels.size > 0 ? places.channels : await declared(bytes, places.chunks));
  const contents: Contents = { topics, times: [], damaged: 0 };
  for (let k = 0; k < places.chunks.length; k += AT_ONCE) {
    const some = places.chunks.slice(k, k + AT_ONCE);
    const read = some.map((place) => chunkTimes(bytes, place, topics).catch(() => null));
    for (const times of await Promise.all(read)) {
      if (times === null) contents.damaged += 1;
      contents.times.push(times ?? nothing());
    }
  }
  return contents;
}

async function declared(bytes: FileBytes, chunks: ChunkPlace[]): Promise<Map<number, string>> {
  const first = chunks[0];
  if (first === undefined) throw new NotARecording("was cut off before anything was recorded");
  try {
    return channelsOf(unpackChunk(await bytes.read(first.start, first.length)));
  } catch {
    throw new NotARecording("is damaged at its beginning, where it says what it holds");
  }
}

function topicsOf(channels: ReadonlyMap<number, string>): Map<number, Topic> {
  const names = new Map(Object.entries(TOPICS).map(([topic, name]) => [name as string, topic as Topic]));
  const found = new Map<number, Topic>();
  for (const [channel, name] of channels) {
    const topic = names.get(name);
    if (topic !== undefined) found.set(channel, topic);
  }
  return found;
}

async function chunkTimes(bytes: FileBytes, place: ChunkPlace, topics: Map<number, Topic>): Promise<ChunkTimes> {
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
