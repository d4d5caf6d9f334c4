// Reading protobuf's wire format field by field: as much of it as the messages of a recording need.
const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;
const text = new TextDecoder();

/** `for (const reader = new ProtoReader(bytes); reader.next(); )`, then read or skip the field that it stands at. */
export class ProtoReader {
  field = 0;
  private type = VARINT;
  private at = 0;
  private readonly view: DataView;

  constructor(private readonly data: Uint8Array) {
    this.view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  }

  /** Go to the next field; false at the end. */
  next(): boolean {
    if (this.at >= this.data.length) return false;
    const key = this.varint();
    this.field = Math.floor(key / 8);
    this.type = key % 8;
    if (this.field === 0) throw new Error("a field without a number");
    return true;
  }

  /** A whole number; beyond 2^53 it is rounded. */
  uint(): number {
    this.expect(VARINT);
    return this.varint();
  }

  bool(): boolean {
    return this.uint() !== 0;
  }

  double(): number {
    this.expect(FIXED64);
    return this.view.getFloat64(this.advance(8), true);
  }

  /** A part of the same buffer, not a copy. */
  bytes(): Uint8Array {
    this.expect(BYTES);
    const length = this.varint();
    const start = this.advance(length);
    return this.data.subarray(start, start + length);
  }

  string(): string {
    return text.decode(this.bytes());
  }

  /** Repeated whole numbers, packed or one at a time, added to a list. */
  uints(into: number[]): void {
    if (this.type === VARINT) {
      into.push(this.varint());
      return;
    }
    const packed = new ProtoReader(this.bytes());
    while (packed.at < packed.data.length) into.push(packed.varint());
  }

  skip(): void {
    if (this.type === VARINT) this.varint();
    else if (this.type === FIXED64) this.advance(8);
    else if (this.type === FIXED32) this.advance(4);
    else this.bytes();
  }

  private expect(type: number): void {
    if (this.type !== type) throw new Error(`field ${this.field} has wire type ${this.type}, not ${type}`);
  }

  private advance(bytes: number): number {
    const start = this.at;
    if (bytes > this.data.length - start) throw new Error("a message that ends too early");
    this.at = start + bytes;
    return start;
  }

  private varint(): number {
    let value = 0;
    let factor = 1;
    for (let k = 0; k < 10; k++) {
      const byte = this.data[this.advance(1)] as number;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 128;
    }
    throw new Error("a number of more than 10 bytes");
  }
}
