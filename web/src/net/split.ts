// Cuts a binary message into its frames: type u8, payload length u32, payload; nothing may be left over.
import { FrameType, HEADER } from "./schema";

const KNOWN: ReadonlySet<number> = new Set(Object.values(FrameType));
/** Of those, the ones that this page has not asked for. */
const OTHERS: ReadonlySet<number> = new Set([
  FrameType.POSITIONS,
  FrameType.TELEMETRY,
  FrameType.DEBUG_LINES,
  FrameType.DEBUG_SPHERES,
  FrameType.FPV_STATE,
]);

/** A message that is not what was agreed; the words are for people. */
export class Garbage extends Error {}

export interface RawFrame {
  type: number;
  at: number; // of the payload within the message
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
  if (view.byteLength - at < HEADER.size) throw new Garbage("a frame is cut off within its header");
  const type = view.getUint8(at + HEADER.type);
  const length = view.getUint32(at + HEADER.payload_length, true);
  if (!KNOWN.has(type)) throw new Garbage(`a frame of unknown type ${type}`);
  if (view.byteLength - at - HEADER.size < length) throw new Garbage(`a frame of type ${type} is cut off`);
  return { type, at: at + HEADER.size, length };
}
