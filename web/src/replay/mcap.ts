// MCAP files: random access, records, and chunk decompression.
// @mcap/core reads the summary (mcap-index.ts). Chunks and message indexes are read here, because its indexed reader
// decompresses chunks on the calling thread with an object and three BigInts per message and does not expose message
// times without reading messages; and because its stream reader would read truncated files, which may have gigabytes, as
// a whole, where record heads are enough.
import { decompress } from "fzstd";

export class InvalidRecording extends Error {
  override name = "InvalidRecording";
}

export class FileBytes {
  constructor(private readonly blob: Blob) {}

  get size(): number {
    return this.blob.size;
  }

  /** Read bytes; fewer at the end of the file. */
  async read(start: number, length: number): Promise<Uint8Array> {
    const part = this.blob.slice(start, Math.min(start + length, this.blob.size));
    return new Uint8Array(await part.arrayBuffer());
  }
}

/** The interface that @mcap/core expects. */
export function readable(bytes: FileBytes): {
  size(): Promise<bigint>;
  read(offset: bigint, size: bigint): Promise<Uint8Array>;
} {
  return {
    size: async () => BigInt(bytes.size),
    read: async (offset, size) => {
      const data = await bytes.read(Number(offset), Number(size));
      if (data.length < Number(size)) throw new Error("unexpected end of file");
      return data;
    },
  };
}

// records ------------------------------------------------------------------------------------------------------------

export const HEAD = 9; // bytes before each record's content: opcode u8, length u64
export const OPCODE = { channel: 4, message: 5, chunk: 6, messageIndex: 7, metadata: 12, dataEnd: 15 } as const;

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Opcode and content length of the record at an offset; null at the end. */
export function recordHead(data: Uint8Array, at: number): { opcode: number; length: number } | null {
  if (at + HEAD > data.length) return null;
  const view = viewOf(data);
  return { opcode: view.getUint8(at), length: Number(view.getBigUint64(at + 1, true)) };
}

/** MCAP's strings: length u32, then UTF-8. */
export class Strings {
  at = 0;

  constructor(private readonly view: DataView) {}

  uint32(): number {
    this.at += 4;
    return this.view.getUint32(this.at - 4, true);
  }

  next(): string {
    const length = this.uint32();
    const bytes = new Uint8Array(this.view.buffer, this.view.byteOffset + this.at, length);
    this.at += length;
    return new TextDecoder().decode(bytes);
  }
}

// CRC-32 -------------------------------------------------------------------------------------------------------------

const TABLE = new Uint32Array(256).map((_, byte) => {
  let value = byte;
  for (let k = 0; k < 8; k++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (let k = 0; k < bytes.length; k++) {
    crc = (TABLE[(crc ^ (bytes[k] as number)) & 0xff] as number) ^ (crc >>> 8);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

// chunks -------------------------------------------------------------------------------------------------------------

const CHUNK_HEAD = 28; // first and last log time u64, size u64, CRC u32
const MESSAGE_HEAD = 22; // channel u16, sequence u32, log and publish time u64
const LARGEST = 2 ** 30;

interface Message {
  channel: number;
  logTime: bigint; // ns
  data: Uint8Array; // a view into the chunk
}

/** Decompress and check the records of a chunk. */
export function unpackChunk(content: Uint8Array): Uint8Array {
  const view = viewOf(content);
  const size = Number(view.getBigUint64(16, true));
  const crc = view.getUint32(24, true);
  const strings = new Strings(new DataView(content.buffer, content.byteOffset + CHUNK_HEAD));
  const compression = strings.next();
  const start = CHUNK_HEAD + strings.at + 8;
  const length = Number(view.getBigUint64(start - 8, true));
  const packed = content.subarray(start, start + length);
  if (size > LARGEST || packed.length !== length) throw new Error("invalid chunk size");
  const data = unpacked(packed, compression, size);
  if (data.length !== size || (crc !== 0 && crc32(data) !== crc)) throw new Error("checksum mismatch");
  return data;
}

function unpacked(packed: Uint8Array, compression: string, size: number): Uint8Array {
  if (compression === "") return packed;
  if (compression !== "zstd") throw new Error(`unsupported compression ${compression}`);
  return decompress(packed, new Uint8Array(size));
}

/** Opcode and content of each record of a chunk. */
function* recordsOf(data: Uint8Array): Generator<{ opcode: number; content: Uint8Array }> {
  const view = viewOf(data);
  for (let at = 0; at + HEAD <= data.length; ) {
    const opcode = view.getUint8(at);
    const length = Number(view.getBigUint64(at + 1, true));
    at += HEAD;
    if (length > data.length - at) throw new Error("record longer than its chunk");
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

/** Topics by channel, as declared in a chunk. */
export function channelsOf(data: Uint8Array): Map<number, string> {
  const channels = new Map<number, string>();
  for (const { opcode, content } of recordsOf(data)) {
    if (opcode !== OPCODE.channel) continue;
    const strings = new Strings(new DataView(content.buffer, content.byteOffset + 4, content.length - 4));
    channels.set(viewOf(content).getUint16(0, true), strings.next());
  }
  return channels;
}
