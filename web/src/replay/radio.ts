// The radio of a recording: jammers as the events up to a position have changed them.
import type { TimedEvent } from "../state/events";
import type { JammerTree, RadioTree, SpooferTree } from "../wire/schema";

const CHANGE = /(\w+) (\[[^\]]*\]|[^,]+)(?:, |$)/g;

export function radioAt(begin: RadioTree | null, events: readonly TimedEvent[], position: number): RadioTree | null {
  if (begin === null || begin.jammers.length + begin.spoofers.length === 0) return begin;
  const jammers = new Map(begin.jammers.map((one) => [one.name, one]));
  const spoofers = new Map(begin.spoofers.map((one) => [one.name, one]));
  for (const { kind, subject, detail, time } of events) {
    if ((time ?? 0) > position) continue;
    const jammer = kind === "jammer" ? jammers.get(subject) : undefined;
    const spoofer = kind === "spoofer" ? spoofers.get(subject) : undefined;
    if (jammer) jammers.set(subject, { ...changed(jammer, detail), active: isOn(jammer, detail) ? 1 : 0 });
    if (spoofer) spoofers.set(subject, { ...changed(spoofer, detail), active: isOn(spoofer, detail) });
  }
  return { ...begin, jammers: [...jammers.values()], spoofers: [...spoofers.values()] };
}

/** Apply what an event reports: `on False, position [1.0, 2.0, 3.0]`. */
export function changed<Emitter extends JammerTree | SpooferTree>(one: Emitter, detail: string): Emitter {
  const found = { ...one } as Record<string, unknown>;
  for (const [, name = "", text = ""] of detail.matchAll(CHANGE)) {
    if (name === "on") found["on"] = text === "True";
    else if (name === "vehicle") Object.assign(found, { vehicle: text, position: null });
    else if (name === "position") Object.assign(found, { position: placeIn(text) ?? one.position, vehicle: null });
    else if (["power", "frequency", "bandwidth"].includes(name) && Number.isFinite(Number(text)))
      found[name] = Number(text);
  }
  return found as unknown as Emitter;
}

function isOn(one: JammerTree | SpooferTree, detail: string): boolean {
  return changed(one, detail).on;
}

function placeIn(text: string): [number, number, number] | null {
  const [x, y, z, ...more] = text.slice(1, -1).split(",").map(Number);
  if (x === undefined || y === undefined || z === undefined || more.length > 0) return null;
  return Number.isFinite(x + y + z) ? [x, y, z] : null;
}
