// The simulation clock: state from the server, measured real-time factor, and commands.
import { effect, signal } from "@preact/signals";
import { call } from "../net/connection";
import { reasonOf } from "../net/rpc";
import type { Frame } from "../wire/frame";
import type { FiguresTree, MetadataTree, Moment } from "../wire/schema";
import { type Clock, clock, figures, tell } from "./store";

const WINDOW = 2; // s over which the factor is measured
const STALE = 3000; // ms within which figures from before a command may still come
const SETTLED = 1500; // ms after a jump until figures tell where it stands again
const SHOWN_EVERY = 100; // ms: numbers that change faster are not read

/** Whether this page has the clock, because it has stepped. */
export const holding = signal(false);
let told = false; // what the server says about pausing
let jumpedAt = Number.NEGATIVE_INFINITY;
let shownAt = Number.NEGATIVE_INFINITY;
let late: ReturnType<typeof setTimeout> | undefined;
let floor = { run: 0, tick: 0, until: 0 }; // figures from before the last command tell what is over
let seen: { time: number; wall: number; run: number }[] = [];

function change(part: Partial<Clock>): void {
  clock.value = { ...clock.peek(), ...part };
}

// what arrives --------------------------------------------------------------------------------------------------------

export function clockFromMetadata({ rate, pace, paused, run, owner }: MetadataTree): void {
  told = paused;
  change({ rate, pace, run, paused: told || holding.peek(), owner: owner ?? "" });
}

export function clockFromFigures({ tick, time, wall, run, rate, pace, paused, owner }: FiguresTree): void {
  const settled = performance.now() - jumpedAt > SETTLED; // until then only frames tell where it stands
  if (settled) measure(time, wall, run);
  if (run === floor.run && tick < floor.tick && performance.now() < floor.until) return;
  told = paused;
  const stands = paused || holding.peek();
  const place = settled ? { tick, time } : {};
  change({ ...place, run, rate, pace, owner: owner ?? "", paused: stands, factor: stands ? 0 : factor() });
}

export function clockFromFrame({ tick, time, wall, run }: Frame, now: number): void {
  measure(time, wall, run);
  clearTimeout(late);
  const show = () => {
    shownAt = performance.now();
    change({ tick, time, run, factor: told || holding.peek() ? 0 : factor() });
  };
  // the last frame before a pause must be shown too, hence the later one
  if (now - shownAt >= SHOWN_EVERY || told || holding.peek()) show();
  else late = setTimeout(show, SHOWN_EVERY);
}

/** Another run or another server. */
export function clockRestarted(): void {
  seen = [];
}

/** Somebody has moved in a recording: figures that are on their way tell where it stood before. */
export function clockJumped(): void {
  jumpedAt = performance.now();
  floor = { run: 0, tick: 0, until: 0 };
  seen = [];
}

/** The connection is gone, and with it the hold on the clock. */
export function clockLost(): void {
  holding.value = false;
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

/** Go on, and let go of the clock if this page has it. */
export function play(): Promise<void> {
  return tried(async () => {
    await letGo();
    stands(false, await call("resume", {}), 1); // figures of the same tick are from before
  });
}

/** Give the clock back to everyone; time goes on. */
export function giveBack(): Promise<void> {
  return tried(async () => {
    const moment = await letGo();
    if (moment) stands(false, moment, 1);
  });
}

async function letGo(): Promise<Moment | null> {
  if (!holding.peek()) return null;
  const moment = await call("let_go", {});
  holding.value = false;
  change({ owner: "" });
  return moment;
}

export function pause(): Promise<void> {
  return tried(async () => {
    stands(true, await call("pause", {}));
  });
}

/** Exactly so many ticks; the page holds the clock from now on. If it is refused, nothing has changed for anyone. */
export function step(ticks = 1): Promise<void> {
  return tried(async () => {
    const moment = await call("simulation_step", { ticks });
    holding.value = true;
    stands(told, moment);
  });
}

/** From tick 0 again; null keeps the seed. */
export function reset(seed: number | null = null): Promise<void> {
  return tried(async () => {
    await call("reset", seed === null ? {} : { seed });
    tell("info", seed === null ? "The run began anew" : `The run began anew with seed ${seed}`, 3);
  });
}

/** Simulated s per s; 0: as fast as possible. */
export function setPace(pace: number): Promise<void> {
  return tried(async () => {
    const before = clock.peek().pace;
    change({ pace }); // a slider that is moved must not jump back until the answer is there
    try {
      await call("set_pace", { pace });
    } catch (error) {
      if (clock.peek().pace === pace) change({ pace: before });
      throw error;
    }
    seen = [];
  });
}

/** Time stands or goes since a moment; the server may not tell which. */
function stands(paused: boolean, moment: Partial<Moment> | null, later = 0): void {
  told = paused;
  seen = [];
  clearTimeout(late);
  const { run, tick: lastTick, time: lastTime } = clock.peek();
  const jumped = performance.now() - jumpedAt < SETTLED; // the answer may be from before
  const { tick = lastTick, time = lastTime } = (!jumped && moment) || {};
  floor = { run, tick: tick + later, until: performance.now() + STALE };
  const still = told || holding.peek();
  change(still ? { paused: true, factor: 0, tick, time } : { paused: false });
}

/** What the server refuses is told to the person, not thrown. */
async function tried(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    tell("error", reasonOf(error));
  }
}

// history ------------------------------------------------------------------------------------------------------------

const FACTORS_KEPT = 240; // two minutes at 2 Hz

export const factors = signal<readonly number[]>([]);
export const previous = signal<FiguresTree | null>(null);

/** Keep what arrives from now on. */
export function keepHistory(): () => void {
  let last: FiguresTree | null = null;
  return effect(() => {
    const now = figures.value;
    if (now === null || now === last) return;
    const goesBack = last !== null && (now.run !== last.run || now.tick < last.tick);
    previous.value = goesBack ? null : last;
    last = now;
    factors.value = [...factors.peek(), clock.peek().paused ? 0 : clock.peek().factor].slice(-FACTORS_KEPT);
  });
}
