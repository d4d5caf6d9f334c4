// What has happened in the run, newest last.
import { computed, signal } from "@preact/signals";
import type { EventTree } from "../wire/schema";
import { clock } from "./store";

export interface TimedEvent extends EventTree {
  time: number; // simulated s
}

export const MOST_EVENTS = 5000;

const heard = signal<readonly EventTree[]>([]);
const ticksPerSecond = computed(() => clock.value.rate || 1);

/** At most MOST_EVENTS of them, with the simulated time at which they happened. */
export const events = computed<readonly TimedEvent[]>(() => {
  const rate = ticksPerSecond.value;
  return heard.value.map((event) => ({ ...event, time: event.tick / rate }));
});

/** Add what has arrived; known numbers are not added twice. */
export function addEvents(more: readonly EventTree[]): void {
  const last = heard.peek().at(-1)?.number ?? 0;
  const later = more.every(({ number }) => number > last);
  const all = later ? [...heard.peek(), ...more] : merged(heard.peek(), more);
  if (more.length > 0) heard.value = all.slice(-MOST_EVENTS);
}

/** Another run: its events count from 1 again. */
export function clearEvents(): void {
  heard.value = [];
}

/** What is asked for may come after what was sent meanwhile. */
function merged(some: readonly EventTree[], more: readonly EventTree[]): EventTree[] {
  const numbered = new Map([...some, ...more].map((event) => [event.number, event]));
  return [...numbered.values()].sort((a, b) => a.number - b.number);
}
