// Driving a vehicle from this page: taking it over, the 50 Hz loop, the failsafe, giving it back.
import { effect, signal } from "@preact/signals";
import { call } from "../net/link";
import { reasonOf } from "../state/caller";
import { isRemoving } from "../state/removed";
import { clock, connection, deaf, live, roster, tell } from "../state/store";
import { readPad } from "./gamepad";
import { KeysHeld } from "./keys";
import { driverFor } from "./kinds";
import type { Bar } from "./kinds/driver";
import { Seat } from "./seat";
import { askVehicle, type Vehicle } from "./vehicle";

/** What the HUD shows. */
export interface Driving {
  id: number;
  name: string;
  kind: string;
  bars: readonly Bar[];
  words: readonly string[];
  help: readonly (readonly [string, string])[];
  pad: string | null; // name of the gamepad
  away: boolean; // the failsafe holds until the page is looked at again
  speed: number;
}

export const driving = signal<Driving | null>(null);
export const keys = new KeysHeld();
const PERIOD = 20; // ms
const LOST = "the connection is gone";

let seat: Seat | null = null;
let wanted = 0; // number of the last wish to drive: an older one that is answered later does not count
let lookingTo: () => number = () => Math.PI / 2;

export function currentSeat(): Seat | null {
  return seat;
}

/** Sit down in a vehicle; one that a behaviour drives is taken from it. */
export async function drive(id: number): Promise<void> {
  const mine = ++wanted;
  if (seat) await leave(true);
  if (!live.value) return tell("warning", `Nothing can be driven: ${deaf.value || "there is no run yet"}.`);
  try {
    const vehicle = await askVehicle(id);
    const driver = driverFor(vehicle.kind, vehicle.known);
    if (!driver) return tell("warning", `${vehicle.name}: this page cannot drive a ${vehicle.kind}.`);
    await take(vehicle);
    if (mine !== wanted) return await giveBack(vehicle); // another wish came in between
    seat = new Seat(vehicle, driver, keys);
    seat.away = !document.hasFocus();
    keys.clear();
    publish();
  } catch (error) {
    tell("error", `Cannot drive: ${reasonOf(error)}`);
  }
}

/** Stand up again; the vehicle goes on as its entry says. */
export async function release(): Promise<void> {
  wanted += 1;
  await leave(true);
}

async function take(vehicle: Vehicle): Promise<void> {
  if (vehicle.drivenBy !== null) await call("give_order", { vehicles: [vehicle.id], behaviour: "external" });
}

async function giveBack(vehicle: Vehicle): Promise<void> {
  if (vehicle.drivenBy !== null) await call("give_order", { vehicles: [vehicle.id], behaviour: null });
}

async function leave(reachable: boolean): Promise<void> {
  const left = seat;
  if (!left) return;
  seat = null;
  driving.value = null;
  if (reachable) left.letGo();
  left.leave();
  keys.clear();
  if (!reachable) return;
  try {
    await giveBack(left.vehicle);
  } catch (error) {
    tell("error", `${left.vehicle.name}: its behaviour does not take over again: ${reasonOf(error)}`);
  }
}

/** The failsafe: neutral at once, and until the person is back. */
export function letGo(): void {
  keys.clear();
  if (!seat || seat.away) return;
  seat.away = true;
  seat.letGo();
  publish();
}

/** The person is back: the hands count again. */
export function takeUp(): void {
  if (seat) seat.away = false;
}

function publish(): void {
  if (!seat) return;
  const { vehicle, driver, away, speed, pad } = seat;
  const { bars, words, help } = driver;
  const { id, name, kind } = vehicle;
  driving.value = { id, name, kind, bars, words, help, pad: pad?.name ?? null, away, speed };
}

let steps = 0;

/** One step of the loop, also for tests. */
export function step(now: number): void {
  if (!seat) return;
  const before = seat.pad;
  const pad = readPad();
  if (before && !pad) {
    tell("warning", `${before.name} is unplugged: ${seat.vehicle.name} is let go.`);
    seat.pad = null;
    seat.letGo();
  }
  seat.step(now, pad, lookingTo());
  if (++steps % 2 === 0) publish(); // 25 times a second is enough for eyes
}

/** Begin the loop and what ends driving by itself; heading: where the camera looks over the ground. */
export function startDriving(heading: () => number): () => void {
  lookingTo = heading;
  const timer = setInterval(() => step(performance.now()), PERIOD);
  const stops = [watchConnection(), watchRoster(), watchRuns(), watchLive()];
  return () => {
    clearInterval(timer);
    for (const stop of stops) stop();
    void release();
  };
}

function watchConnection(): () => void {
  return effect(() => {
    if (connection.value.state === "open" || !seat) return;
    tell("warning", `${seat.vehicle.name} is no longer driven from here: ${LOST}.`);
    void leave(false);
  });
}

function watchRoster(): () => void {
  return effect(() => {
    const present = roster.value;
    if (!seat || present.number < 0 || present.rowOfId(seat.vehicle.id) !== undefined) return;
    // in the words of the selection: told once
    if (!isRemoving(seat.vehicle.id)) tell("warning", `${seat.vehicle.name} is no longer there`);
    void leave(false);
  });
}

/** A reset puts every behaviour back: the vehicle is taken again. */
function watchRuns(): () => void {
  let run = clock.peek().run;
  return effect(() => {
    const now = clock.value.run;
    if (now === run) return;
    run = now;
    if (seat) take(seat.vehicle).catch((error: unknown) => tell("error", reasonOf(error)));
  });
}

function watchLive(): () => void {
  return effect(() => {
    if (!live.value && seat && connection.peek().state === "open") void release();
  });
}
