// Where things lie in an MCAP file: found by the summary at its end or, where that is missing, record by record.
import { McapIndexedReader } from "@mcap/core";
import { type FileBytes, readable } from "./bytes";
import { NotARecording } from "./errors";
import { HEAD } from "./format";
import { walkRecords } from "./walk";

export interface ChunkPlace {
  start: number; // where its content begins, bytes
  length: number; // of its content, bytes
  indexes: { start: number; length: number } | null; // its message index records; null: none were written
}

export interface Places {
  chunks: ChunkPlace[];
  channels: Map<number, string>; // topics; empty where the file was cut off: the first chunk tells
  metadata: ReadonlyMap<string, string> | null; // of Paddock
  complete: boolean;
}

const MAGIC = [0x89, 0x4d, 0x43, 0x41, 0x50, 0x30, 0x0d, 0x0a];

export async function findPlaces(bytes: FileBytes): Promise<Places> {
  if (bytes.size === 0) throw new NotARecording("is empty");
  const head = await bytes.read(0, MAGIC.length);
  if (MAGIC.some((byte, k) => head[k] !== byte)) throw new NotARecording("is not an MCAP file");
  try {
    return await fromSummary(bytes);
  } catch {
    return await walkRecords(bytes, MAGIC.length); // no summary, or one that is damaged
  }
}

async function fromSummary(bytes: FileBytes): Promise<Places> {
  const reader = await McapIndexedReader.Initialize({ readable: readable(bytes) });
  const chunks = reader.chunkIndexes.map((index) => ({
    start: Number(index.chunkStartOffset) + HEAD,
    length: Number(index.chunkLength) - HEAD,
    indexes: indexesAfter(Number(index.chunkStartOffset + index.chunkLength), Number(index.messageIndexLength)),
  }));
  const channels = new Map([...reader.channelsById].map(([id, channel]) => [id, channel.topic]));
  let metadata: Places["metadata"] = null;
  for await (const record of reader.readMetadata({ name: "paddock" })) metadata = record.metadata;
  return { chunks: chunks.sort((a, b) => a.start - b.start), channels, metadata, complete: true };
}

function indexesAfter(start: number, length: number): ChunkPlace["indexes"] {
  return length > 0 ? { start, length } : null;
}
