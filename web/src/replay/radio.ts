// The radio of a recording: jammers as the events up to a position have changed them.
import type { TimedEvent } from "../state/events";
import type { JammerTree, RadioTree } from "../wire/schema";

const CHANGE = /(\w+) (\[[^\]]*\]|[^,]+)(?:, |$)/g;

export function radioAt(begin: RadioTree | null, events: readonly TimedEvent[], position: number): RadioTree | null {
  if (begin === null || begin.jammers.length === 0) return begin;
  const jammers = new Map(begin.jammers.map((one) => [one.name, one]));
  for (const { kind, subject, detail, time } of events) {
    const one = kind === "jammer" && (time ?? 0) <= position ? jammers.get(subject) : undefined;
    if (one) jammers.set(subject, changed(one, detail));
  }
  return { ...begin, jammers: [...jammers.values()] };
}

/** Apply what an event reports: `on False, position [1.0, 2.0, 3.0]`. */
export function changed(one: JammerTree, detail: string): JammerTree {
  const found = { ...one } as Record<string, unknown>;
  for (const [, name = "", text = ""] of detail.matchAll(CHANGE)) {
    if (name === "on") found["on"] = text === "True";
    else if (name === "vehicle") Object.assign(found, { vehicle: text, position: null });
    else if (name === "position") Object.assign(found, { position: placeIn(text) ?? one.position, vehicle: null });
    else if (["power", "frequency", "bandwidth"].includes(name) && Number.isFinite(Number(text)))
      found[name] = Number(text);
  }
  return { ...(found as unknown as JammerTree), active: found["on"] ? Math.max(one.active, 1) : 0 };
}

function placeIn(text: string): [number, number, number] | null {
  const [x, y, z, ...more] = text.slice(1, -1).split(",").map(Number);
  if (x === undefined || y === undefined || z === undefined || more.length > 0) return null;
  return Number.isFinite(x + y + z) ? [x, y, z] : null;
}
