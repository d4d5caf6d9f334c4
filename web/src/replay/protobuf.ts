// Decodes the protobuf wire format, as far as the messages of a recording need it.
const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;
const text = new TextDecoder();

/** `for (const reader = new ProtoReader(bytes); reader.next(); )`, then read or skip the current field. */
export class ProtoReader {
  field = 0;
  private type = VARINT;
  private at = 0;
  private readonly view: DataView;

  constructor(private readonly data: Uint8Array) {
    this.view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  }

  /** Advance to the next field; false at the end. */
  next(): boolean {
    if (this.at >= this.data.length) return false;
    const key = this.varint();
    this.field = Math.floor(key / 8);
    this.type = key % 8;
    if (this.field === 0) throw new Error("field number 0");
    return true;
  }

  /** An integer; rounded beyond 2^53. */
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

  /** A view, not a copy. */
  bytes(): Uint8Array {
    this.expect(BYTES);
    const length = this.varint();
    const start = this.advance(length);
    return this.data.subarray(start, start + length);
  }

  string(): string {
    return text.decode(this.bytes());
  }

  /** Repeated integers, packed or not, appended to a list. */
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
    if (bytes > this.data.length - start) throw new Error("truncated message");
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
    throw new Error("varint longer than 10 bytes");
  }
}

// field numbers ------------------------------------------------------------------------------------------------------

export const FIELDS = {
  RunStart: { run: 1, seed: 2, scenario_json: 3, reason: 5 },
  Roster: { number: 1, fleets: 2 },
  Fleet: { name: 1, kind: 2, model: 3, columns: 4, ids: 5, members: 6, single: 7, arrays: 8 },
  Array: { name: 1, shape: 2, type: 3 },
  State: { tick: 1, sim_time: 2, run: 3, roster_number: 4, precision: 6, blocks: 7, arrays: 8 },
  Event: { number: 1, tick: 2, kind: 3, subject: 4, detail: 5 },
  MarkerCommand: { put: 1, delete: 2, clear: 3, visible: 4 },
  MarkerArray: { markers: 1 },
  DeleteMarkers: { namespace: 1, ids: 2 },
  ClearMarkers: { namespace: 1 },
  ShowMarkers: { namespace: 1, visible: 2 },
  Marker: {
    namespace: 1,
    id: 2,
    kind: 3,
    color: 4,
    scale: 5,
    position: 6,
    quaternion: 7,
    frame: 8,
    text: 9,
    points: 10,
    ttl: 11,
  },
  Vector: { x: 1, y: 2, z: 3 },
  Quaternion: { x: 1, y: 2, z: 3, w: 4 },
  Color: { r: 1, g: 2, b: 3, a: 4 },
} as const;

/** Names of enum values, from 0. A test compares them with messages.proto. */
export const ENUMS = {
  MarkerKind: [
    "POINTS",
    "LINE_STRIP",
    "LINE_LIST",
    "CIRCLE",
    "RING",
    "ARROW",
    "TEXT",
    "TRIANGLE_LIST",
    "CAR",
    "MESH",
    "AXES",
  ],
  Reason: ["START", "RESET", "RESTORE"],
  Precision: ["DOUBLE", "SINGLE"],
  Type: ["FLOAT32", "FLOAT64"],
} as const;
