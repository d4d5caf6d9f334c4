// Events of the run, newest last.
import { computed, signal } from "@preact/signals";
import type { EventRecord } from "../wire/schema";
import { clock } from "./store";

export interface TimedEvent extends EventRecord {
  time: number; // simulated s
}

const MOST_EVENTS = 5000;

const received = signal<readonly EventRecord[]>([]);
const ticksPerSecond = computed(() => clock.value.rate || 1);

/** At most MOST_EVENTS, with simulated time. */
export const events = computed<readonly TimedEvent[]>(() => {
  const rate = ticksPerSecond.value;
  return received.value.map((event) => ({ ...event, time: event.tick / rate }));
});

const NUMBER = "(-?[\\d.]+(?:e[+-]?\\d+)?)";
const PLACE = new RegExp(`at ${NUMBER}, ${NUMBER}, ${NUMBER}(?:, normal ${NUMBER}, ${NUMBER}, ${NUMBER})?`);
const IMPULSE = new RegExp(`${NUMBER} N s`);
const SPEED = new RegExp(`${NUMBER} m/s`);

export interface ContactPlace {
  place: [number, number, number]; // m
  normal: [number, number, number];
  impulse: number; // N s
  speed: number; // m/s at which they met; NaN: unknown
}

/** Where, in which direction and how strongly things touched, from the text of an event; null without a place. */
export function contactOf(detail: string): ContactPlace | null {
  const numbers = PLACE.exec(detail)
    ?.slice(1)
    .map((number) => Number(number ?? 0));
  if (!numbers?.every(Number.isFinite)) return null;
  const [x = 0, y = 0, z = 0, nx = 0, ny = 0, nz = 0] = numbers;
  const [impulse, speed] = [IMPULSE, SPEED].map((pattern) => Number(pattern.exec(detail)?.[1] ?? Number.NaN));
  return { place: [x, y, z], normal: [nx, ny, nz], impulse: impulse || 0, speed: speed ?? Number.NaN };
}

/** Add events; known numbers are skipped. */
export function addEvents(more: readonly EventRecord[]): void {
  const last = received.peek().at(-1)?.number ?? 0;
  const later = more.every(({ number }) => number > last);
  const all = later ? [...received.peek(), ...more] : merged(received.peek(), more);
  if (more.length > 0) received.value = all.slice(-MOST_EVENTS);
}

/** A new run numbers its events from 1. */
export function clearEvents(): void {
  received.value = [];
}

/** Requested events may arrive after newer ones. */
function merged(some: readonly EventRecord[], more: readonly EventRecord[]): EventRecord[] {
  const numbered = new Map([...some, ...more].map((event) => [event.number, event]));
  return [...numbered.values()].sort((a, b) => a.number - b.number);
}
