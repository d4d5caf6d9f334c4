// Reads little-endian values one after the other from a frame's payload; what does not fit is garbage, no odd value.
import { Garbage, type RawFrame } from "./split";

const UTF8 = new TextDecoder();

export class Reader {
  private readonly view: DataView;
  private at = 0;

  constructor(message: ArrayBuffer, frame: RawFrame) {
    this.view = new DataView(message, frame.at, frame.length);
  }

  get left(): number {
    return this.view.byteLength - this.at;
  }

  u8(): number {
    return this.view.getUint8(this.step(1));
  }

  u16(): number {
    return this.view.getUint16(this.step(2), true);
  }

  u32(): number {
    return this.view.getUint32(this.step(4), true);
  }

  /** Exact up to 2^53, which no clock here reaches. */
  u64(): number {
    const at = this.step(8);
    return this.view.getUint32(at, true) + this.view.getUint32(at + 4, true) * 2 ** 32;
  }

  f32(): number {
    return this.view.getFloat32(this.step(4), true);
  }

  f64(): number {
    return this.view.getFloat64(this.step(8), true);
  }

  text(length: number): string {
    return UTF8.decode(this.bytes(length));
  }

  /** The bytes themselves, not a copy. */
  bytes(length: number): Uint8Array<ArrayBuffer> {
    const at = this.step(length);
    return new Uint8Array(this.view.buffer as ArrayBuffer, this.view.byteOffset + at, length);
  }

  /** A copy, because nothing is aligned in a message. */
  copy(length: number): ArrayBuffer {
    return this.bytes(length).slice().buffer;
  }

  end(what: string): void {
    if (this.left > 0) throw new Garbage(`${what} with ${this.left} bytes too many`);
  }

  private step(length: number): number {
    if (length > this.left) throw new Garbage("a frame that is shorter than it says");
    const at = this.at;
    this.at += length;
    return at;
  }
}
