// Frame 0x13: what has happened.
import type { Reader } from "./reader";
import type { EventTree } from "./schema";

export function decodeEvents(reader: Reader): EventTree[] {
  const events: EventTree[] = [];
  const count = reader.u32();
  for (let k = 0; k < count; k++) events.push(eventOf(reader));
  reader.end("events");
  return events;
}

function eventOf(reader: Reader): EventTree {
  const number = reader.u64();
  const tick = reader.u64();
  const lengths = [reader.u8(), reader.u8(), reader.u16()] as const;
  const kind = reader.text(lengths[0]);
  const subject = reader.text(lengths[1]);
  return { number, tick, kind, subject, detail: reader.text(lengths[2]) };
}
