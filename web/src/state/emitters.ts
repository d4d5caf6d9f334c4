// Jammers and spoofers: what the scenario plans for them, and whether they transmit now.
import { computed } from "@preact/signals";
import type { JammerView, SpooferView } from "../wire/schema";
import { formatCount } from "./format";
import { clock, metadata, source } from "./store";

export type Emitter = JammerView | SpooferView;

/** How an emitter is controlled. */
export type EmitterMode = "off" | "on" | "schedule";

export type EmitterStatus = "transmits" | "scheduled" | "silent" | "off";

type Span = readonly [number, number];

export interface EmitterPlan {
  schedule: readonly Span[] | null; // s; null: none
  sweep: Span | null; // Hz, lowest and highest centre
  vehicle: string | null; // that carries it at the start
}

const NO_PLAN: EmitterPlan = { schedule: null, sweep: null, vehicle: null };

/** Plans by name, from the section `radio` of a scenario. */
export function plansIn(section: unknown): ReadonlyMap<string, EmitterPlan> {
  const { jammers, spoofers } = (section ?? {}) as Record<string, unknown>;
  const all = [jammers, spoofers].flatMap((some) => (Array.isArray(some) ? (some as Record<string, unknown>[]) : []));
  return new Map(
    all.map(({ name, on, sweep, vehicle }) => [
      String(name),
      {
        schedule: Array.isArray(on) && on.every(isSpan) ? on : null,
        sweep: isSpan(sweep) ? sweep : null,
        vehicle: typeof vehicle === "string" ? vehicle : null,
      },
    ]),
  );
}

function isSpan(value: unknown): value is Span {
  return Array.isArray(value) && value.length === 2 && value.every(Number.isFinite);
}

const plans = computed(() => {
  const shown = source.value;
  return plansIn(shown?.routes === undefined ? metadata.value?.scenario?.["radio"] : shown.radioSection);
});

/** The plan of an emitter of the shown run. */
export function planOf({ name }: Emitter): EmitterPlan {
  return plans.value.get(name) ?? NO_PLAN;
}

/** Whole simulated s of the shown source. */
export const shownSecond = computed(() => {
  const shown = source.value;
  const position = shown?.timeline?.position.value ?? 0;
  return Math.floor(shown?.kind === "recording" ? (shown.simulated?.(position) ?? position) : clock.value.time);
});

/** Without a schedule an emitter that is not off is on. */
export function modeOf(emitter: Emitter, { schedule }: EmitterPlan): EmitterMode {
  if (!emitter.on) return "off";
  return emitter.scheduled && schedule !== null ? "schedule" : "on";
}

export function statusOf(emitter: Emitter, plan: EmitterPlan): EmitterStatus {
  if (Number(emitter.active) > 0) return "transmits";
  const mode = modeOf(emitter, plan);
  if (mode === "off") return "off";
  return mode === "schedule" ? "scheduled" : "silent";
}

/** `transmits`, `off`, `scheduled from 40 s`, `scheduled, ended`, `listens`. */
export function statusText(emitter: Emitter, plan: EmitterPlan, time: number): string {
  const status = statusOf(emitter, plan);
  if (status === "scheduled") return scheduleText(plan.schedule ?? [], time);
  if (status !== "silent") return status;
  if (emitter.position === null) return "silent: its vehicle is gone";
  const kind = "kind" in emitter ? emitter.kind : "";
  return kind === "follower" ? "listens" : kind === "pulsed" ? "between pulses" : "silent";
}

function scheduleText(schedule: readonly Span[], time: number): string {
  const later = schedule.map(([begin]) => begin).filter((begin) => begin > time);
  if (later.length > 0) return `scheduled from ${Number(Math.min(...later).toFixed(1))} s`;
  const within = schedule.some(([begin, end]) => time >= begin && time < end);
  return within ? "scheduled" : "scheduled, ended";
}

/** Whether a schedule is on at a simulated time, s; without a schedule it always is. */
export function isScheduled(schedule: readonly Span[] | null, time: number): boolean {
  return schedule === null || schedule.some(([begin, end]) => time >= begin && time < end);
}

/** `2.4 GHz`, `868 MHz`. */
export function formatFrequency(hertz: number): string {
  const [unit, name] = unitOf(hertz);
  return `${Number((hertz / unit).toPrecision(4))} ${name}`;
}

/** `2.42 to 2.46 GHz`. */
export function formatBand([low, high]: Span): string {
  const [unit, name] = unitOf(high);
  return `${Number((low / unit).toPrecision(4))} to ${Number((high / unit).toPrecision(4))} ${name}`;
}

function unitOf(hertz: number): [number, string] {
  return hertz >= 1e9 ? [1e9, "GHz"] : hertz >= 1e6 ? [1e6, "MHz"] : [1e3, "kHz"];
}

/** `barrage, 2.4 GHz, 17 dBm, on relays[0]`; what a recording does not have is left out. */
export function aboutEmitter(emitter: Emitter, { sweep }: EmitterPlan, recorded = false): string {
  const carried = emitter.vehicle === null ? [] : [`on ${emitter.vehicle}`];
  const power = `${emitter.power.toFixed(0).replace("-", "−")} dBm`;
  if ("captured" in emitter) return [power, `${formatCount(emitter.captured)} captured`, ...carried].join(", ");
  const band = emitter.kind === "swept" && sweep ? formatBand(sweep) : formatFrequency(emitter.frequency);
  const frames = emitter.kind === "deceptive" && !recorded ? [`${formatCount(emitter.false_frames)} false frames`] : [];
  return [emitter.kind, band, power, ...carried, ...frames].join(", ");
}
