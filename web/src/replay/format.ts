// The little of MCAP's format that is read by hand: heads of records, and strings in them.
export const HEAD = 9; // bytes before each record's content: opcode u8, length u64
export const OPCODE = { channel: 4, message: 5, chunk: 6, messageIndex: 7, metadata: 12, dataEnd: 15 } as const;

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Opcode and length of content of the record at a place; null where there is none. */
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
