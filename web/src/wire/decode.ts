// Decodes binary messages from the server. A message is accepted or rejected as a whole.
import type { ColumnBlock, Frame } from "./frame";
import { type EventRecord, FrameType, HEADER, POSES } from "./schema";

const KNOWN: ReadonlySet<number> = new Set(Object.values(FrameType));
/** Frame types that this page does not subscribe to. */
const OTHERS: ReadonlySet<number> = new Set([
  FrameType.POSITIONS,
  FrameType.TELEMETRY,
  FrameType.DEBUG_LINES,
  FrameType.DEBUG_SPHERES,
  FrameType.FPV_STATE,
]);

/** A message that violates the protocol. */
export class InvalidMessage extends Error {}

interface RawFrame {
  type: number;
  at: number; // offset of the payload in the message
  length: number;
}

export function splitFrames(message: ArrayBuffer): RawFrame[] {
  const view = new DataView(message);
  const frames: RawFrame[] = [];
  let at = 0;
  while (at < message.byteLength) {
    const frame = frameAt(view, at);
    if (!OTHERS.has(frame.type)) frames.push(frame);
    at = frame.at + frame.length;
  }
  return frames;
}

function frameAt(view: DataView, at: number): RawFrame {
  if (view.byteLength - at < HEADER.size) throw new InvalidMessage("truncated frame header");
  const type = view.getUint8(at + HEADER.type);
  const length = view.getUint32(at + HEADER.payload_length, true);
  if (!KNOWN.has(type)) throw new InvalidMessage(`unknown frame type ${type}`);
  if (view.byteLength - at - HEADER.size < length) throw new InvalidMessage(`truncated frame of type ${type}`);
  return { type, at: at + HEADER.size, length };
}

// reader -------------------------------------------------------------------------------------------------------------

const UTF8 = new TextDecoder();

class Reader {
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

  /** Exact up to 2^53. */
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

  /** A view of the bytes. */
  bytes(length: number): Uint8Array<ArrayBuffer> {
    const at = this.step(length);
    return new Uint8Array(this.view.buffer as ArrayBuffer, this.view.byteOffset + at, length);
  }

  /** A copy: messages are not aligned. */
  copy(length: number): ArrayBuffer {
    return this.bytes(length).slice().buffer;
  }

  end(what: string): void {
    if (this.left > 0) throw new InvalidMessage(`${what}: ${this.left} bytes too many`);
  }

  private step(length: number): number {
    if (length > this.left) throw new InvalidMessage("frame shorter than declared");
    const at = this.at;
    this.at += length;
    return at;
  }
}

// events (frame 0x13) ------------------------------------------------------------------------------------------------

function decodeEvents(reader: Reader): EventRecord[] {
  const events: EventRecord[] = [];
  const count = reader.u32();
  for (let k = 0; k < count; k++) events.push(eventOf(reader));
  reader.end("events");
  return events;
}

function eventOf(reader: Reader): EventRecord {
  const number = reader.u64();
  const tick = reader.u64();
  const lengths = [reader.u8(), reader.u8(), reader.u16()] as const;
  const kind = reader.text(lengths[0]);
  const subject = reader.text(lengths[1]);
  return { number, tick, kind, subject, detail: reader.text(lengths[2]) };
}

// markers (frame 0x12) -----------------------------------------------------------------------------------------------

const KINDS = [
  "points",
  "line_strip",
  "line_list",
  "circle",
  "ring",
  "arrow",
  "text",
  "triangle_list",
  "car",
  "mesh",
  "axes",
] as const;
export type MarkerKind = (typeof KINDS)[number];

export interface Marker {
  namespace: string;
  id: number;
  kind: MarkerKind;
  color: [number, number, number, number]; // 0 to 255
  scale: [number, number, number];
  position: [number, number, number];
  quaternion: [number, number, number, number]; // x, y, z, w
  expires: number; // simulated s; Infinity: never
  frame: string; // "": world; otherwise a vehicle or a named frame
  text: string;
  points: Float32Array; // x, y, z of each, relative to the marker
}

const POINT_BYTES = 12;

export interface MarkerChange {
  flags: number;
  marker: Marker;
}

function decodeMarkers(reader: Reader): MarkerChange[] {
  const changes: MarkerChange[] = [];
  const count = reader.u32();
  for (let k = 0; k < count; k++) changes.push(changeOf(reader));
  reader.end("markers");
  return changes;
}

function changeOf(reader: Reader): MarkerChange {
  const id = reader.u32();
  const kind = KINDS[reader.u8()];
  if (kind === undefined) throw new InvalidMessage("unknown marker kind");
  const flags = reader.u8();
  const [namespaceBytes, frameBytes] = [reader.u8(), reader.u8()];
  const place = placeOf(reader);
  const [textBytes, pointsCount] = [reader.u32(), reader.u32()];
  const namespace = reader.text(namespaceBytes);
  const frame = reader.text(frameBytes);
  const text = reader.text(textBytes);
  const points = new Float32Array(reader.copy(POINT_BYTES * pointsCount));
  return { flags, marker: { namespace, id, kind, ...place, frame, text, points } };
}

function placeOf(reader: Reader): Pick<Marker, "color" | "scale" | "position" | "quaternion" | "expires"> {
  const color: Marker["color"] = [reader.u8(), reader.u8(), reader.u8(), reader.u8()];
  const scale: Marker["scale"] = [reader.f32(), reader.f32(), reader.f32()];
  const position: Marker["position"] = [reader.f64(), reader.f64(), reader.f64()];
  const quaternion: Marker["quaternion"] = [reader.f32(), reader.f32(), reader.f32(), reader.f32()];
  return { color, scale, position, quaternion, expires: reader.f64() };
}

// messages -----------------------------------------------------------------------------------------------------------

export interface Decoded {
  frame: Frame | null; // tick, poses, columns
  markers: MarkerChange[];
  events: EventRecord[];
}

type Group = Partial<Frame>;

/**
 * Decode a message; throws InvalidMessage. The message's memory is reused: poses are moved by a few bytes for
 * alignment, because allocating memory for each frame of a large world costs several times as much.
 */
export function decodeMessage(message: ArrayBuffer): Decoded {
  const decoded: Decoded = { frame: null, markers: [], events: [] };
  const group: Group = {};
  for (const raw of splitFrames(message)) decodeFrame(message, raw, group, decoded);
  decoded.frame = groupOf(group);
  return decoded;
}

function decodeFrame(message: ArrayBuffer, raw: RawFrame, group: Group, decoded: Decoded): void {
  const reader = new Reader(message, raw);
  if (raw.type === FrameType.TICK) Object.assign(group, tickOf(reader));
  else if (raw.type === FrameType.POSES) Object.assign(group, posesOf(reader));
  else if (raw.type === FrameType.COLUMNS) Object.assign(group, columnsOf(reader));
  else if (raw.type === FrameType.MARKERS) decoded.markers.push(...decodeMarkers(reader));
  else if (raw.type === FrameType.EVENTS) decoded.events.push(...decodeEvents(reader));
  else throw new InvalidMessage(`frame type ${raw.type} is only sent by clients`);
}

function groupOf(group: Group): Frame | null {
  if (group.poses === undefined) return null; // nothing to draw
  if (group.tick === undefined) throw new InvalidMessage("poses without a tick");
  return { columns: [], wanted: 0, ...group } as Frame;
}

function tickOf(reader: Reader): Group {
  const tick = reader.u64();
  const time = reader.f64();
  const wall = reader.f64();
  const fields = { tick, time, wall, run: reader.u32(), roster: reader.u32() };
  reader.end("a tick");
  if (!Number.isFinite(time) || !Number.isFinite(wall)) throw new InvalidMessage("tick with a non-finite time");
  return fields;
}

function posesOf(reader: Reader): Group {
  const count = reader.u32();
  if (reader.left !== POSES.size * count)
    throw new InvalidMessage(`poses of ${count} vehicles in ${reader.left} bytes`);
  return { count, poses: aligned(reader.bytes(POSES.size * count)) };
}

/** Move bytes down to a multiple of 4; this overwrites only the end of their own frame's header. */
function aligned({ buffer, byteOffset, length }: Uint8Array<ArrayBuffer>): Uint32Array {
  const at = byteOffset - (byteOffset % 4);
  new Uint8Array(buffer).copyWithin(at, byteOffset, byteOffset + length);
  return new Uint32Array(buffer, at, length / 4);
}

function columnsOf(reader: Reader): Group {
  const wanted = reader.u32();
  const blocks = reader.u32();
  const columns: ColumnBlock[] = [];
  for (let k = 0; k < blocks; k++) columns.push(blockOf(reader));
  reader.end("columns");
  return { wanted, columns };
}

function blockOf(reader: Reader): ColumnBlock {
  const request = reader.u32();
  const vehicles = reader.u32();
  const columns = reader.u32();
  const width = reader.u32();
  if (width !== 4 && width !== 8) throw new InvalidMessage(`column values of ${width} bytes`);
  const buffer = reader.copy(width * vehicles * columns);
  return { request, vehicles, columns, values: width === 4 ? new Float32Array(buffer) : new Float64Array(buffer) };
}
