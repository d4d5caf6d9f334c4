// Contacts: a ring where things touched, and the direction of the push, for a moment of simulated time.
import { contactOf } from "../state/events";
import { timeOf } from "../state/poses";
import type { FrameSource, Sample } from "../state/source";
import { bytes, type Rgba, Ribbons } from "./ribbons";
import type { ViewState } from "./view";

const SHOWN = 1.2; // simulated s
const MOST = 200; // drawn at once
const SIDES = 28;
const LEAST_PX = 7; // radius of a ring

export class ContactMarks {
  readonly ribbons = new Ribbons(7, false);
  private drawn = -1;

  update(source: FrameSource, sample: Sample, view: ViewState, shown: boolean): void {
    this.ribbons.clear();
    const now = source.kind === "recording" ? (source.timeline?.position.peek() ?? timeOf(sample)) : timeOf(sample);
    if (shown) for (const [event, age] of recent(source, now)) this.mark(event.detail, age, view);
    if (this.ribbons.count === 0 && this.drawn === 0) return;
    this.drawn = this.ribbons.count;
    this.ribbons.view(view);
    this.ribbons.show();
  }

  dispose(): void {
    this.ribbons.dispose();
  }

  private mark(detail: string, age: number, view: ViewState): void {
    const contact = contactOf(detail);
    if (!contact) return;
    const [x, y, z] = contact.place;
    const far = Math.hypot(x - view.eye[0], y - view.eye[1], z - view.eye[2]);
    const share = age / SHOWN;
    const strength = Math.min(Math.max(0.25 + 0.2 * Math.log10(1 + contact.impulse), 0.25), 1.4); // m
    const radius = Math.max(strength, (LEAST_PX * view.unit * far) / view.focal) * (0.4 + 1.1 * Math.sqrt(share));
    const fade = (opacity: number): Rgba => bytes(view.skin.amber, Math.round(opacity * (1 - share)));
    const at = (k: number): [number, number, number] => {
      const angle = (2 * Math.PI * k) / SIDES;
      return [x + radius * Math.cos(angle), y + radius * Math.sin(angle), z];
    };
    for (let k = 0; k < SIDES; k++) this.ribbons.add(at(k), at(k + 1), 2.4, fade(240));
    const [nx, ny, nz] = contact.normal;
    const reach = 1.6 * radius;
    this.ribbons.add([x, y, z], [x + reach * nx, y + reach * ny, z + reach * nz], 3, fade(240), fade(60));
  }
}

type Timed = FrameSource["events"]["value"][number] & { time?: number };

/** Contacts of the last moment before a time, with their age in s; newest first. */
export function recent(source: Pick<FrameSource, "events">, now: number): [Timed, number][] {
  const events = source.events.peek() as readonly Timed[];
  const found: [Timed, number][] = [];
  for (let k = lastBefore(events, now); k >= 0 && found.length < MOST; k--) {
    const event = events[k] as Timed;
    const age = now - (event.time ?? Number.NaN);
    if (!(age <= SHOWN)) break;
    if (event.kind === "contact") found.push([event, age]);
  }
  return found;
}

/** Index of the last event at or before a time; they are in order of time. */
function lastBefore(events: readonly Timed[], now: number): number {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((events[middle]?.time ?? 0) <= now) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
