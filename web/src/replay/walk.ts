// Finding the chunks of a file that has no summary, because its writer was killed: only heads of records are read.
import type { FileBytes } from "./bytes";
import { HEAD, OPCODE, Strings, viewOf } from "./format";
import type { ChunkPlace, Places } from "./places";

const WINDOW = 64 * 1024; // bytes that are read at once

export async function walkRecords(bytes: FileBytes, from: number): Promise<Places> {
  const places: Places = { chunks: [], channels: new Map(), metadata: null, complete: false };
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
  if (last !== undefined) last.indexes = null; // some of them may be missing: its own messages tell
  return places;
}

async function note(places: Places, window: Window, opcode: number, start: number, length: number): Promise<void> {
  const last = places.chunks.at(-1);
  if (opcode === OPCODE.chunk) places.chunks.push({ start, length, indexes: null });
  else if (opcode === OPCODE.messageIndex && last !== undefined) extend(last, start - HEAD, HEAD + length);
  else if (opcode === OPCODE.metadata && places.metadata === null) {
    const view = await window.at(start, length);
    if (view !== null) places.metadata = paddockMetadata(view);
  }
}

function extend(chunk: ChunkPlace, start: number, length: number): void {
  if (chunk.indexes === null) chunk.indexes = { start, length };
  else chunk.indexes.length = start + length - chunk.indexes.start;
}

/** What a metadata record says, if it is Paddock's. */
function paddockMetadata(view: DataView): ReadonlyMap<string, string> | null {
  const strings = new Strings(view);
  if (strings.next() !== "paddock") return null;
  const end = strings.uint32() + strings.at;
  const found = new Map<string, string>();
  while (strings.at < end) found.set(strings.next(), strings.next());
  return found;
}

/** A part of the file that is read ahead, because records are often short. */
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
