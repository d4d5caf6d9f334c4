// The radio of a recording: jammers and spoofers by their schedules and as events have changed them.
import { type Emitter, type EmitterPlan, isScheduled } from "../state/emitters";
import type { TimedEvent } from "../state/events";
import type { RadioTree } from "../wire/schema";

const CHANGE = /(\w+) (\[[^\]]*\]|[^,]+)(?:, |$)/g;
type Plans = ReadonlyMap<string, EmitterPlan>;

/** The radio after `events`, at a simulated time, s; `begin`: at the beginning of the recording. */
export function radioAt(
  begin: RadioTree | null,
  plans: Plans,
  events: readonly TimedEvent[],
  time: number,
): RadioTree | null {
  if (begin === null || begin.jammers.length + begin.spoofers.length === 0) return begin;
  const now = <One extends Emitter>(kind: string, emitter: One): One => {
    const own = events.filter((event) => event.kind === kind && event.subject === emitter.name);
    return own.reduce((before, { detail }) => changed(before, detail), emitter);
  };
  const captured = capturedAfter(begin, events);
  const jammers = begin.jammers.map((recorded) => {
    const jammer = now("jammer", recorded);
    return { ...jammer, active: transmits(jammer, plans, time) ? recorded.active || 1 : 0 };
  });
  const spoofers = begin.spoofers.map((recorded) => {
    const spoofer = now("spoofer", recorded);
    return {
      ...spoofer,
      active: transmits(spoofer, plans, time),
      captured: captured.get(recorded.name) ?? recorded.captured,
    };
  });
  return { ...begin, jammers, spoofers };
}

function transmits(emitter: Emitter, plans: Plans, time: number): boolean {
  return emitter.on && (!emitter.scheduled || isScheduled(plans.get(emitter.name)?.schedule ?? null, time));
}

/** Receivers that each spoofer has captured: those of the beginning, and what events report since. */
function capturedAfter({ spoofers }: RadioTree, events: readonly TimedEvent[]): Map<string, number> {
  const counts = new Map(spoofers.map(({ name, captured }) => [name, captured]));
  const captors = new Map<string, string>(); // vehicle -> spoofer
  const add = (spoofer: string, more: number) => counts.set(spoofer, Math.max((counts.get(spoofer) ?? 0) + more, 0));
  for (const { kind, subject, detail } of events) {
    if (kind !== "gnss_spoofed" && kind !== "gnss_released") continue;
    const before = captors.get(subject) ?? (kind === "gnss_released" ? detail : undefined);
    if (before !== undefined) add(before, -1);
    captors.delete(subject);
    if (kind === "gnss_released") continue;
    captors.set(subject, detail);
    add(detail, 1);
  }
  return counts;
}

/** Apply what an event reports: `on False, position [1.0, 2.0, 3.0]`. Switched by hand, a schedule does not count. */
export function changed<One extends Emitter>(emitter: One, detail: string): One {
  const next = { ...emitter } as Record<string, unknown>;
  for (const [, name = "", text = ""] of detail.matchAll(CHANGE)) {
    if (name === "on") Object.assign(next, { on: text === "True", scheduled: false });
    else if (name === "scheduled")
      Object.assign(next, text === "True" ? { on: true, scheduled: true } : { scheduled: false });
    else if (name === "vehicle") Object.assign(next, { vehicle: text, position: null });
    else if (name === "position") Object.assign(next, { position: placeIn(text) ?? emitter.position, vehicle: null });
    else if (["power", "frequency", "bandwidth"].includes(name) && Number.isFinite(Number(text)))
      next[name] = Number(text);
  }
  return next as unknown as One;
}

function placeIn(text: string): [number, number, number] | null {
  const [x, y, z, ...more] = text.slice(1, -1).split(",").map(Number);
  if (x === undefined || y === undefined || z === undefined || more.length > 0) return null;
  return Number.isFinite(x + y + z) ? [x, y, z] : null;
}
