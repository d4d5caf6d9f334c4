// Cuts a binary message into its frames: type u8, payload length u32, payload; nothing may be left over.
export const FrameType = { tick: 0x10, markers: 0x12, events: 0x13, poses: 0x14, columns: 0x15, commands: 0x20 } as const;

export const HEADER = 5;
/** Other frames of the same protocol, which this page has not asked for. */
const OTHERS = new Set([0x01, 0x02, 0x03, 0x04, 0x11]);
const KNOWN: ReadonlySet<number> = new Set([...Object.values(FrameType), ...OTHERS]);

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
  if (view.byteLength - at < HEADER) throw new Garbage("a frame is cut off within its header");
  const type = view.getUint8(at);
  const length = view.getUint32(at + 1, true);
  if (!KNOWN.has(type)) throw new Garbage(`a frame of unknown type ${type}`);
  if (view.byteLength - at - HEADER < length) throw new Garbage(`a frame of type ${type} is cut off`);
  return { type, at: at + HEADER, length };
}
