// Driving a vehicle from the page: claim, 50 Hz command loop, failsafe, release.
import { effect, signal } from "@preact/signals";
import { call, connection, notify } from "../net/connection";
import { reasonOf } from "../net/rpc";
import { onColumns, want } from "../state/columns";
import { isRemoving } from "../state/removed-vehicles";
import { clock, deaf, live, roster, tell } from "../state/store";
import type { InspectedTree, ValueTree } from "../wire/schema";
import { type Hands, KeysHeld, type PadReading, readPad } from "./input";
import { driverFor } from "./kinds";
import type { Bar, Driver, Inputs, Known } from "./kinds/driver";
import { speedBetween } from "./placement";

export interface Vehicle {
  id: number;
  name: string;
  kind: string;
  drivenBy: string | null; // a behaviour's name; null: it takes commands
  known: Known;
}

export async function askVehicle(id: number): Promise<Vehicle> {
  const row = roster.value.rowOfId(id);
  if (row === undefined) throw new Error("the vehicle is no longer there");
  return vehicleFrom(await call("inspect", { vehicle: roster.value.nameAt(row) }));
}

export function vehicleFrom(tree: InspectedTree): Vehicle {
  const { id, name, kind } = tree;
  const drivenBy = tree.driven_by === "external" ? null : tree.driven_by;
  const height = valuesOf(tree.state).get("z") ?? 0;
  const known = {
    parameters: valuesOf(tree.parameters),
    command: valuesOf(tree.command),
    limits: limitsOf(tree.command),
    height,
  };
  return { id, name, kind, drivenBy, known };
}

function valuesOf(values: readonly ValueTree[]): Map<string, number> {
  const known = values.filter((one): one is ValueTree & { value: number } => typeof one.value === "number");
  return new Map(known.map(({ name, value }) => [name, value]));
}

function limitsOf(inputs: readonly ValueTree[]): Map<string, readonly [number, number]> {
  return new Map(inputs.map(({ name, low, high }) => [name, [low ?? -Infinity, high ?? Infinity] as const]));
}

// command loop -------------------------------------------------------------------------------------------------------

const HOLD = 0.5; // s of wall time that a command holds at least
const LONGEST_HOLD = 1.5; // s of wall time: beyond, a page that hangs must count as gone
const GAPS = 3; // steps of the slowest kind seen lately that a command outlasts
const LONGEST_STEP = 0.1; // s: a page that was asleep does not ramp through at once

/**
 * Simulated s that a command holds: at least HOLD of wall time at any pace, and never less than HOLD simulated; longer
 * on a page whose steps come late (gap: the longest s between two of them lately).
 */
export function holdTime(pace: number, factor: number, gap = 0): number {
  const fastest = Math.max(1, Number.isFinite(pace) ? pace : 1, Number.isFinite(factor) ? factor : 1);
  return Math.min(Math.max(HOLD, GAPS * gap), LONGEST_HOLD) * fastest;
}

export class Seat {
  away = false; // the person looks elsewhere: nothing that keys or sticks say counts
  speed = Number.NaN; // m/s
  pad: PadReading | null = null;
  private last = Number.NaN; // performance.now() of the last step
  private gap = 0; // s, the longest between two steps, slowly forgotten
  private sent = "";
  private told = Number.NaN; // the speed that arrived as a column
  private readonly stops: (() => void)[];

  constructor(
    readonly vehicle: Vehicle,
    readonly driver: Driver,
    private readonly keys: KeysHeld,
  ) {
    const wish = want("driving", [{ of: vehicle.id, columns: ["speed"] }]);
    const stop = onColumns(wish, (_frame, blocks) => {
      this.told = blocks[0]?.values[0] ?? Number.NaN;
    });
    this.stops = [stop, () => wish.release()];
  }

  /** One step of the loop; heading is where the camera looks, rad. */
  step(now: number, pad: PadReading | null, heading: number): void {
    const passed = Math.max(0, (now - this.last) / 1000 || 0);
    const dt = Math.min(LONGEST_STEP, passed);
    this.last = now;
    this.gap = Math.max(passed, 0.99 * this.gap);
    this.pad = pad;
    this.look();
    if (this.away) return this.send(this.driver.safe());
    const hands: Hands = { held: this.keys.held, pad };
    this.send(this.driver.step(hands, { speed: this.speed, heading }, dt));
  }

  /** How fast it is; between frames that do not tell, as fast as it was. */
  private look(): void {
    const speed = Number.isFinite(this.told) ? this.told : speedBetween(this.vehicle.id); // until its column arrives
    if (Number.isFinite(speed)) this.speed = speed;
  }

  /** The failsafe: keys are forgotten and the vehicle is told so at once. */
  letGo(): void {
    this.keys.clear();
    this.send(this.driver.safe(), true);
  }

  leave(): void {
    for (const stop of this.stops) stop();
  }

  private send(inputs: Inputs, now = false): void {
    const { pace, factor, paused } = clock.value;
    const said = JSON.stringify(inputs);
    if (paused && !now && said === this.sent) return; // time stands still: once is enough
    this.sent = said;
    notify("set_control", { vehicle_id: this.vehicle.id, timeout: holdTime(pace, factor, this.gap), ...inputs });
  }
}

// claim and release --------------------------------------------------------------------------------------------------

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
