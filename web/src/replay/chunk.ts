// A chunk of an MCAP file: decompressed, checked, and its records one by one.
import { decompress } from "fzstd";
import { crc32 } from "./crc32";
import { HEAD, OPCODE, Strings, viewOf } from "./format";

const CHUNK_HEAD = 28; // first and last log time u64, size u64, CRC u32
const MESSAGE_HEAD = 22; // channel u16, sequence u32, log and publish time u64
const LARGEST = 2 ** 30;

export interface Message {
  channel: number;
  logTime: bigint; // ns
  data: Uint8Array; // a part of the chunk
}

/** The records of a chunk, decompressed; an error if they are not what was written. */
export function unpackChunk(content: Uint8Array): Uint8Array {
  const view = viewOf(content);
  const size = Number(view.getBigUint64(16, true));
  const crc = view.getUint32(24, true);
  const strings = new Strings(new DataView(content.buffer, content.byteOffset + CHUNK_HEAD));
  const compression = strings.next();
  const start = CHUNK_HEAD + strings.at + 8;
  const length = Number(view.getBigUint64(start - 8, true));
  const packed = content.subarray(start, start + length);
  if (size > LARGEST || packed.length !== length) throw new Error("a chunk of impossible size");
  const data = unpacked(packed, compression, size);
  if (data.length !== size || (crc !== 0 && crc32(data) !== crc)) throw new Error("its checksum is wrong");
  return data;
}

function unpacked(packed: Uint8Array, compression: string, size: number): Uint8Array {
  if (compression === "") return packed;
  if (compression !== "zstd") throw new Error(`compressed by ${compression}`);
  return decompress(packed, new Uint8Array(size));
}

/** (opcode, content) of the records of a chunk. */
export function* recordsOf(data: Uint8Array): Generator<{ opcode: number; content: Uint8Array }> {
  const view = viewOf(data);
  for (let at = 0; at + HEAD <= data.length; ) {
    const opcode = view.getUint8(at);
    const length = Number(view.getBigUint64(at + 1, true));
    at += HEAD;
    if (length > data.length - at) throw new Error("a record that is longer than its chunk");
    yield { opcode, content: data.subarray(at, at + length) };
    at += length;
  }
}

export function* messagesOf(data: Uint8Array): Generator<Message> {
  for (const { opcode, content } of recordsOf(data)) {
    if (opcode !== OPCODE.message) continue;
    const view = viewOf(content);
    yield {
      channel: view.getUint16(0, true),
      logTime: view.getBigUint64(6, true),
      data: content.subarray(MESSAGE_HEAD),
    };
  }
}

/** Topics by channel, as a chunk declares them. */
export function channelsOf(data: Uint8Array): Map<number, string> {
  const channels = new Map<number, string>();
  for (const { opcode, content } of recordsOf(data)) {
    if (opcode !== OPCODE.channel) continue;
    const strings = new Strings(new DataView(content.buffer, content.byteOffset + 4, content.length - 4));
    channels.set(viewOf(content).getUint16(0, true), strings.next());
  }
  return channels;
}
