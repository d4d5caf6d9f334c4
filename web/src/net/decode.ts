// From a binary message to what it says. A message is taken as a whole or refused as a whole.
import { type EventTree, FrameType, POSES } from "./schema";
import type { ColumnBlock, Frame } from "../state/frame";
import { decodeEvents } from "./decodeEvents";
import { decodeMarkers, type MarkerChange } from "./decodeMarkers";
import { Reader } from "./reader";
import { Garbage, type RawFrame, splitFrames } from "./split";

export interface Decoded {
  frame: Frame | null; // a group: tick, poses, columns
  markers: MarkerChange[];
  events: EventTree[];
}

type Group = Partial<Frame>;

/**
 * Throws Garbage. The message is used up: poses are moved by a few bytes to where words can be read and stay in its
 * memory, because fresh memory for each frame of a large world costs several times as much as the moving.
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
  else throw new Garbage(`a frame of type ${raw.type}, which only pages send`);
}

function groupOf(group: Group): Frame | null {
  if (group.poses === undefined) return null; // nothing to be seen
  if (group.tick === undefined) throw new Garbage("poses without a tick");
  return { columns: [], wanted: 0, ...group } as Frame;
}

function tickOf(reader: Reader): Group {
  const tick = reader.u64();
  const time = reader.f64();
  const wall = reader.f64();
  const told = { tick, time, wall, run: reader.u32(), roster: reader.u32() };
  reader.end("a tick");
  if (!Number.isFinite(time) || !Number.isFinite(wall)) throw new Garbage("a tick at no time");
  return told;
}

function posesOf(reader: Reader): Group {
  const count = reader.u32();
  if (reader.left !== POSES.size * count) throw new Garbage(`poses of ${count} vehicles in ${reader.left} bytes`);
  return { count, poses: aligned(reader.bytes(POSES.size * count)) };
}

/** Moves bytes left to a multiple of 4; only the end of their own frame's head is overwritten, which was read. */
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
  if (width !== 4 && width !== 8) throw new Garbage(`columns of numbers of ${width} bytes`);
  const buffer = reader.copy(width * vehicles * columns);
  return { request, vehicles, columns, values: width === 4 ? new Float32Array(buffer) : new Float64Array(buffer) };
}
