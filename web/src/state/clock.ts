// The simulation clock: state from the server, measured real-time factor, and commands.
import { effect, signal } from "@preact/signals";
import { call, reasonOf } from "../net/connection";
import type { Frame } from "../wire/frame";
import type { FiguresTree, MetadataTree, Moment } from "../wire/schema";
import { type Clock, clock, figures, showNotice } from "./store";

const WINDOW = 2; // s over which the real-time factor is measured
const STALE = 3000; // ms during which figures from before a command may still arrive
const SETTLED = 1500; // ms after a seek during which figures may be outdated
const SHOWN_EVERY = 100; // ms: faster changes cannot be read

/** Whether this page owns the clock, because it has stepped. */
export const holdsClock = signal(false);
let serverPaused = false; // paused as reported by the server
let jumpedAt = Number.NEGATIVE_INFINITY;
let shownAt = Number.NEGATIVE_INFINITY;
let late: ReturnType<typeof setTimeout> | undefined;
let floor = { run: 0, tick: 0, until: 0 }; // figures older than this are outdated by a command
let seen: { time: number; wall: number; run: number }[] = [];

function change(part: Partial<Clock>): void {
  clock.value = { ...clock.peek(), ...part };
}

// what arrives --------------------------------------------------------------------------------------------------------

export function clockFromMetadata({ rate, pace, paused, run, owner }: MetadataTree): void {
  serverPaused = paused;
  change({ rate, pace, run, paused: serverPaused || holdsClock.peek(), owner: owner ?? "" });
}

export function clockFromFigures({ tick, time, wall, run, rate, pace, paused, owner }: FiguresTree): void {
  const settled = performance.now() - jumpedAt > SETTLED; // until then only frames give the time
  if (settled) measure(time, wall, run);
  if (run === floor.run && tick < floor.tick && performance.now() < floor.until) return;
  serverPaused = paused;
  const stands = paused || holdsClock.peek();
  const place = settled ? { tick, time } : {};
  change({ ...place, run, rate, pace, owner: owner ?? "", paused: stands, factor: stands ? 0 : factor() });
}

export function clockFromFrame({ tick, time, wall, run }: Frame, now: number): void {
  measure(time, wall, run);
  clearTimeout(late);
  const show = () => {
    shownAt = performance.now();
    change({ tick, time, run, factor: serverPaused || holdsClock.peek() ? 0 : factor() });
  };
  // show the last frame before a pause, too
  if (now - shownAt >= SHOWN_EVERY || serverPaused || holdsClock.peek()) show();
  else late = setTimeout(show, SHOWN_EVERY);
}

/** Another run or another server. */
export function clockRestarted(): void {
  seen = [];
}

/** After a seek in a recording: figures in transit are outdated. */
export function clockJumped(): void {
  jumpedAt = performance.now();
  floor = { run: 0, tick: 0, until: 0 };
  seen = [];
}

/** The connection is lost, and with it the ownership of the clock. */
export function clockLost(): void {
  holdsClock.value = false;
  jumpedAt = Number.NEGATIVE_INFINITY;
  seen = [];
}

function measure(time: number, wall: number, run: number): void {
  const before = seen.at(-1);
  if (before && (before.run !== run || wall < before.wall - 1 || time < before.time - 1)) seen = [];
  const last = seen.at(-1);
  if (last && wall <= last.wall) return;
  seen.push({ time, wall, run });
  while (seen.length > 2 && (seen[0]?.wall ?? 0) < wall - WINDOW) seen.shift();
}

function factor(): number {
  const first = seen[0];
  const last = seen.at(-1);
  if (!first || !last || last.wall - first.wall < 0.2) return clock.peek().factor;
  return Math.max((last.time - first.time) / (last.wall - first.wall), 0);
}

// commands ------------------------------------------------------------------------------------------------------------

/** Resume, and release the clock if this page owns it. */
export function play(): Promise<void> {
  return withNotice(async () => {
    await requestRelease();
    applyPaused(false, await call("resume", {}), 1); // figures of the same tick are outdated
  });
}

/** Release the clock; the simulation resumes. */
export function releaseClock(): Promise<void> {
  return withNotice(async () => {
    const moment = await requestRelease();
    if (moment) applyPaused(false, moment, 1);
  });
}

async function requestRelease(): Promise<Moment | null> {
  if (!holdsClock.peek()) return null;
  const moment = await call("release_clock", {});
  holdsClock.value = false;
  change({ owner: "" });
  return moment;
}

export function pause(): Promise<void> {
  return withNotice(async () => {
    applyPaused(true, await call("pause", {}));
  });
}

/** Advance by `ticks`; this page then owns the clock. Nothing changes if the server refuses. */
export function step(ticks = 1): Promise<void> {
  return withNotice(async () => {
    const moment = await call("simulation_step", { ticks });
    holdsClock.value = true;
    applyPaused(serverPaused, moment);
  });
}

/** Restart at tick 0; null keeps the seed. */
export function reset(seed: number | null = null): Promise<void> {
  return withNotice(async () => {
    await call("reset", seed === null ? {} : { seed });
    showNotice("info", seed === null ? "Run reset" : `Run reset with seed ${seed}`, 3);
  });
}

/** Simulated s per s; 0: unlimited. */
export function setPace(pace: number): Promise<void> {
  return withNotice(async () => {
    const before = clock.peek().pace;
    change({ pace }); // keeps a dragged slider in place until the response arrives
    try {
      await call("set_pace", { pace });
    } catch (error) {
      if (clock.peek().pace === pace) change({ pace: before });
      throw error;
    }
    seen = [];
  });
}

/** Apply a confirmed pause or resume. */
function applyPaused(paused: boolean, moment: Partial<Moment> | null, later = 0): void {
  serverPaused = paused;
  seen = [];
  clearTimeout(late);
  const { run, tick: lastTick, time: lastTime } = clock.peek();
  const jumped = performance.now() - jumpedAt < SETTLED; // the response may be outdated
  const { tick = lastTick, time = lastTime } = (!jumped && moment) || {};
  floor = { run, tick: tick + later, until: performance.now() + STALE };
  const still = serverPaused || holdsClock.peek();
  change(still ? { paused: true, factor: 0, tick, time } : { paused: false });
}

/** Show refusals as notices. */
async function withNotice(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    showNotice("error", reasonOf(error));
  }
}

// history ------------------------------------------------------------------------------------------------------------

const FACTORS_KEPT = 240; // two minutes at 2 Hz

export const factorHistory = signal<readonly number[]>([]);
export const previousFigures = signal<FiguresTree | null>(null);

/** Start recording figures; return a stop function. */
export function recordFigures(): () => void {
  let last: FiguresTree | null = null;
  return effect(() => {
    const now = figures.value;
    if (now === null || now === last) return;
    const goesBack = last !== null && (now.run !== last.run || now.tick < last.tick);
    previousFigures.value = goesBack ? null : last;
    last = now;
    factorHistory.value = [...factorHistory.peek(), clock.peek().paused ? 0 : clock.peek().factor].slice(-FACTORS_KEPT);
  });
}
