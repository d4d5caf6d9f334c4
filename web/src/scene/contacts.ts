// Contacts: a ring where things touched, and the direction of the push, for a moment of simulated time.
import { type ContactPlace, contactOf } from "../state/events";
import { timeOf } from "../state/poses";
import type { FrameSource, Sample } from "../state/source";
import type { Overlay } from "./overlay";
import { bytes, type Rgba, Ribbons } from "./ribbons";
import { cssOf } from "./skin";
import { toScreen, type ViewState } from "./view";

const SHOWN = 1.2; // simulated s
const MOST = 200; // drawn at once
const SIDES = 28;
const LEAST_PX = 7; // radius of a ring
const LABELS = 4; // the strongest ones, near enough to be read
const NEAR = 90; // m
const GAP_PX = 16; // between labels

export class ContactMarks {
  readonly ribbons = new Ribbons(7, false);
  /** Contacts drawn at present. */
  shown: readonly { contact: ContactPlace; age: number }[] = [];
  private drawn = -1;

  update(source: FrameSource, sample: Sample, view: ViewState, shown: boolean): void {
    this.ribbons.clear();
    const now = source.kind === "recording" ? (source.timeline?.position.peek() ?? timeOf(sample)) : timeOf(sample);
    this.shown = (shown ? recent(source, now) : []).flatMap(([event, age]) => {
      const contact = contactOf(event.detail);
      return contact ? [{ contact, age }] : [];
    });
    for (const { contact, age } of this.shown) this.mark(contact, age, view);
    if (this.ribbons.count === 0 && this.drawn === 0) return;
    this.drawn = this.ribbons.count;
    this.ribbons.view(view);
    this.ribbons.show();
  }

  /** Speed and impulse of the strongest contacts near the camera. */
  label(overlay: Overlay, { matrix, size, eye, skin, unit }: ViewState): void {
    const far = ({ place }: ContactPlace): number =>
      Math.hypot(...place.map((coordinate, k) => coordinate - (eye[k] as number)));
    const near = this.shown.filter(({ contact }) => contact.speed > 0 && far(contact) < NEAR);
    near.sort((a, b) => b.contact.impulse - a.contact.impulse);
    const [taken, screen]: [[number, number][], number[]] = [[], [0, 0, 0]];
    for (const { contact, age } of near) {
      const [x, y, z] = contact.place;
      if (taken.length === LABELS || !toScreen(matrix, x, y, z + 0.9, size, screen)) continue;
      const [px = 0, py = 0] = screen;
      const clash = (at: [number, number]) => Math.abs(at[1] - py) < GAP_PX * unit && Math.abs(at[0] - px) < 130 * unit;
      if (taken.some(clash)) continue;
      taken.push([px, py]);
      const opacity = 1 - (age / SHOWN) ** 2;
      overlay.words(
        contactText(contact),
        px,
        py,
        12 * unit,
        cssOf(skin.text, opacity),
        cssOf(skin.background, 0.8 * opacity),
      );
    }
  }

  dispose(): void {
    this.ribbons.dispose();
  }

  private mark(contact: ContactPlace, age: number, view: ViewState): void {
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

/** "21.8 m/s, 14.1 kN s" */
export function contactText({ speed, impulse }: Pick<ContactPlace, "speed" | "impulse">): string {
  const hit = `${speed.toFixed(1)} m/s`;
  if (!(impulse > 0)) return hit;
  if (impulse >= 1000) return `${hit}, ${(impulse / 1000).toPrecision(3)} kN s`;
  return `${hit}, ${impulse < 10 ? impulse.toPrecision(2) : Math.round(impulse)} N s`;
}

type Timed = FrameSource["events"]["value"][number] & { time?: number };

/** Contacts of the last moment before a time, with their age in s; newest first. */
export function recent(source: Pick<FrameSource, "events">, now: number): [Timed, number][] {
  const events = source.events.peek() as readonly Timed[];
  const recent: [Timed, number][] = [];
  for (let k = lastBefore(events, now); k >= 0 && recent.length < MOST; k--) {
    const event = events[k] as Timed;
    const age = now - (event.time ?? Number.NaN);
    if (!(age <= SHOWN)) break;
    if (event.kind === "contact") recent.push([event, age]);
  }
  return recent;
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
