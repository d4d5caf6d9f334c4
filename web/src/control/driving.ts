// Driving a vehicle from the page: keys and gamepads, claim, 50 Hz command loop, failsafe, release.
import { effect, signal } from "@preact/signals";
import { call, connection, notify, reasonOf } from "../net/connection";
import { onColumns, requestColumns } from "../state/columns";
import { autopilots, blockedAmong, nameOfClient, otherDriver } from "../state/controllers";
import { isRemoving } from "../state/removed-vehicles";
import {
  type CameraMode,
  camera,
  clock,
  figures,
  focus,
  live,
  metadata,
  readOnlyReason,
  roster,
  select,
  showNotice,
} from "../state/store";
import type { InspectedTree, ValueTree } from "../wire/schema";
import { driverFor } from "./kinds";
import type { Bar, Driver, GamepadState, InputState, Inputs, VehicleInfo } from "./kinds/driver";
import { speedBetween } from "./placement";

// keyboard -----------------------------------------------------------------------------------------------------------

export class KeysHeld {
  private readonly down = new Set<string>();

  press(code: string): void {
    this.down.add(code);
  }

  lift(code: string): void {
    this.down.delete(code);
  }

  clear(): void {
    this.down.clear();
  }

  readonly held = (...codes: string[]): boolean => codes.some((code) => this.down.has(code));
}

const WITHOUT_TEXT = new Set(["button", "checkbox", "radio", "range", "color", "file", "submit", "reset", "image"]);

/** Whether typing goes to a field instead of the page. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !WITHOUT_TEXT.has(target.type);
  if (target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  return target.isContentEditable || target.closest("[contenteditable=true], dialog[open], [role=dialog]") !== null;
}

/** Whether the event is a browser or system shortcut. */
export function isShortcut(event: KeyboardEvent): boolean {
  return event.ctrlKey || event.metaKey || event.altKey;
}

/** Handle keys of the page before other listeners; those that `handle` takes go no further. Return a stop function. */
export function listenToKeys(handle: (event: KeyboardEvent) => boolean): () => void {
  const listen = (event: KeyboardEvent): void => {
    if (isTyping(event.target) || isShortcut(event) || !handle(event)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  window.addEventListener("keydown", listen, true);
  return () => window.removeEventListener("keydown", listen, true);
}

// gamepad ------------------------------------------------------------------------------------------------------------

const STICKS = 4;

/** A stick with a dead zone: 0 inside, then linear from 0 to 1. */
export function deadZone(value: number, zone = 0.1): number {
  const size = Math.abs(value);
  if (!(size > zone)) return 0; // also NaN
  return Math.sign(value) * Math.min(1, (size - zone) / (1 - zone));
}

/** The first connected gamepad with the standard mapping, otherwise the first connected one. */
export function firstPad(pads: readonly (Gamepad | null)[]): Gamepad | null {
  const connected = pads.filter((pad): pad is Gamepad => pad?.connected === true);
  return connected.find((pad) => pad.mapping === "standard") ?? connected[0] ?? null;
}

export function readingOf(pad: Gamepad): GamepadState {
  const axes = pad.axes.slice(0, STICKS).map((value) => deadZone(value));
  const buttons = pad.buttons.map((button) => deadZone(button.value, 0.03));
  return { name: shortName(pad.id), axes, buttons };
}

export function readPad(): GamepadState | null {
  const pad = typeof navigator.getGamepads === "function" ? firstPad(navigator.getGamepads()) : null;
  return pad && readingOf(pad);
}

/** "Xbox Controller (STANDARD GAMEPAD Vendor: 045e Product: 028e)" -> "Xbox Controller" */
export function shortName(id: string): string {
  return id.replace(/\s*\(.*$/, "").trim() || "gamepad";
}

// vehicle ------------------------------------------------------------------------------------------------------------

interface Vehicle {
  id: number;
  name: string;
  kind: string;
  drivenBy: string | null; // name of a behaviour; null: manual control
  known: VehicleInfo;
}

/** `takenOver`: the driver before has overridden its behaviour, which resumes on release. */
async function requestVehicle(id: number, takenOver: boolean): Promise<Vehicle> {
  const row = roster.value.rowOfId(id);
  if (row === undefined) throw new Error("the vehicle no longer exists");
  const tree = await call("inspect", { vehicle: roster.value.nameAt(row) });
  const entry = metadata.peek()?.fleets?.find(({ name }) => name === tree.fleet)?.driven_by ?? null;
  return vehicleFrom(tree, takenOver ? entry : null);
}

function vehicleFrom(tree: InspectedTree, otherwise: string | null): Vehicle {
  const { id, name, kind } = tree;
  const drivenBy = (tree.driven_by ?? "external") === "external" ? otherwise : tree.driven_by;
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
  const known = values.filter((input): input is ValueTree & { value: number } => typeof input.value === "number");
  return new Map(known.map(({ name, value }) => [name, value]));
}

function limitsOf(inputs: readonly ValueTree[]): Map<string, readonly [number, number]> {
  return new Map(inputs.map(({ name, low, high }) => [name, [low ?? -Infinity, high ?? Infinity] as const]));
}

// command loop -------------------------------------------------------------------------------------------------------

const HOLD = 0.5; // s of wall time that a command holds at least
const LONGEST_HOLD = 1.5; // s of wall time: a page that hangs longer counts as gone
const GAPS = 3; // a command outlasts this many of the slowest recent steps
const LONGEST_STEP = 0.1; // s: limits ramps after the page was asleep

/**
 * Timeout of a command in simulated s: at least HOLD of wall time at any pace and at least HOLD simulated; longer if
 * steps are late (gap: the longest recent time between two steps, s).
 */
export function holdTime(pace: number, factor: number, gap = 0): number {
  const fastest = Math.max(1, Number.isFinite(pace) ? pace : 1, Number.isFinite(factor) ? factor : 1);
  return Math.min(Math.max(HOLD, GAPS * gap), LONGEST_HOLD) * fastest;
}

/** Columns of every vehicle. */
const MOTION = ["speed", "vx", "vy", "yaw", "yaw_rate"];

function hasColumn(id: number, name: string): boolean {
  const row = roster.peek().rowOfId(id);
  return row !== undefined && roster.peek().fleetAt(row)?.columns.includes(name) === true;
}

/** The angle from the nose to the direction of motion (rad, + left), from columns in the world's axes. */
export function slipOf(columns: ReadonlyMap<string, number>): number {
  const [vx, vy, yaw] = ["vx", "vy", "yaw"].map((name) => columns.get(name) ?? Number.NaN) as [number, number, number];
  const turned = Math.atan2(vy, vx) - yaw;
  const slip = Math.atan2(Math.sin(turned), Math.cos(turned));
  return Math.abs(slip) <= Math.PI / 2 ? slip : Math.atan2(Math.sin(slip + Math.PI), Math.cos(slip + Math.PI)); // reversing
}

class CommandLoop {
  suspended = false; // the page lost focus: inputs are ignored
  confirmed = false; // the server's figures name this page as the driver
  speed = Number.NaN; // m/s
  pad: GamepadState | null = null;
  private last = Number.NaN; // performance.now() of the last step
  private gap = 0; // s, the longest recent time between two steps, decaying
  private sent = "";
  private columns: ReadonlyMap<string, number> = new Map(); // newest values received
  private readonly stops: (() => void)[];

  constructor(
    readonly vehicle: Vehicle,
    readonly driver: Driver,
    private readonly keys: KeysHeld,
  ) {
    const columns = [...MOTION, ...(driver.columns ?? []).filter((name) => hasColumn(vehicle.id, name))];
    const request = requestColumns("driving", [{ of: vehicle.id, columns }]);
    const stop = onColumns(request, (_frame, [block]) => {
      this.columns = new Map(columns.map((name, at) => [name, block?.values[at] ?? Number.NaN]));
    });
    this.stops = [stop, () => request.release()];
  }

  /** One step of the loop; heading: the camera's direction, rad. */
  step(now: number, pad: GamepadState | null, heading: number): void {
    const passed = Math.max(0, (now - this.last) / 1000 || 0);
    const dt = Math.min(LONGEST_STEP, passed);
    this.last = now;
    this.gap = Math.max(passed, 0.99 * this.gap);
    this.pad = pad;
    this.updateSpeed();
    if (this.suspended) return this.send(this.driver.safe());
    const input: InputState = { held: this.keys.held, pad };
    const { speed, columns } = this;
    this.send(this.driver.step(input, { speed, heading, slip: slipOf(columns), columns }, dt));
  }

  /** The speed; kept between frames without a new value. */
  private updateSpeed(): void {
    const received = this.columns.get("speed") ?? Number.NaN;
    const speed = Number.isFinite(received) ? received : speedBetween(this.vehicle.id); // until its column arrives
    if (Number.isFinite(speed)) this.speed = speed;
  }

  /** Failsafe: clear the inputs and send safe inputs immediately. */
  suspend(): void {
    this.keys.clear();
    this.send(this.driver.safe(), true);
  }

  close(): void {
    for (const stop of this.stops) stop();
  }

  private send(inputs: Inputs, now = false): void {
    const { pace, factor, paused } = clock.value;
    const text = JSON.stringify(inputs);
    if (paused && !now && text === this.sent) return; // paused: send once
    this.sent = text;
    notify("set_control", { vehicle_id: this.vehicle.id, timeout: holdTime(pace, factor, this.gap), ...inputs });
  }
}

// claim and release --------------------------------------------------------------------------------------------------

/** State shown in the HUD. */
interface Driving {
  id: number;
  name: string;
  kind: string;
  bars: readonly Bar[];
  status: readonly string[];
  help: readonly (readonly [string, string])[];
  pad: string | null; // name of the gamepad
  suspended: boolean; // the failsafe holds until the page gets the focus again
  speed: number;
  figures: readonly string[];
}

export const driving = signal<Driving | null>(null);
export const keys = new KeysHeld();
const PERIOD = 20; // ms
const LOST = "connection lost";

let loop: CommandLoop | null = null;
let lastRequest = 0; // number of the last request to drive; later responses to older ones are ignored
let cameraHeadingOf: () => number = () => Math.PI / 2;

/** Claim a vehicle; a behaviour that controls it is overridden. Another driver keeps it, unless this page takes over. */
export async function drive(id: number, takeOver = false): Promise<void> {
  const mine = ++lastRequest;
  if (loop) await leave(true);
  if (!takeOver && otherDriver(id) !== "") return offerTakeOver(id);
  if (!live.value) return showNotice("warning", `Cannot drive: ${readOnlyReason.value || "no run yet"}`);
  if (autopilots.value.has(id)) return showNotice("warning", `Cannot drive: ${blockedAmong([id])}`);
  try {
    const vehicle = await requestVehicle(id, takeOver);
    const driver = driverFor(vehicle.kind, vehicle.known);
    if (!driver)
      return showNotice("warning", `${vehicle.name}: vehicles of kind ${vehicle.kind} cannot be driven from the page`);
    await call("drive", { vehicle_id: id, take_over: takeOver });
    await take(vehicle);
    if (mine !== lastRequest) return await giveBack(vehicle); // another request came in between
    loop = new CommandLoop(vehicle, driver, keys);
    loop.suspended = !document.hasFocus();
    keys.clear();
    rideAlong(id);
    publish();
  } catch (error) {
    if (reasonOf(error).includes(" is driven by ")) offerTakeOver(id);
    else {
      showNotice("error", `Cannot drive: ${reasonOf(error)}`);
      call("drive", { vehicle_id: id, driving: false }).catch(() => undefined);
    }
  }
}

let cameraBefore: CameraMode | null = null; // while the page has changed it for driving

/** A driver looks ahead: from an overview the camera goes behind the vehicle, and returns at the end. */
function rideAlong(id: number): void {
  if (camera.value !== "orbit" && camera.value !== "top") return;
  cameraBefore = camera.value;
  if (focus.value !== id) select([id]);
  camera.value = "chase";
}

function stepOut(): void {
  if (cameraBefore !== null && camera.value === "chase") camera.value = cameraBefore;
  cameraBefore = null;
}

function offerTakeOver(id: number): void {
  const name = roster.value.nameAt(roster.value.rowOfId(id) ?? -1);
  const text = `${name} is driven by ${nameOfClient(otherDriver(id) || "another client")}`;
  showNotice("warning", text, 10, { text: "Take over", act: () => void drive(id, true) });
}

/** Release the vehicle; its scenario behaviour resumes. */
export async function release(): Promise<void> {
  lastRequest += 1;
  await leave(true);
}

async function take(vehicle: Vehicle): Promise<void> {
  if (vehicle.drivenBy !== null) await call("override", { vehicles: [vehicle.id], behaviour: "external" });
}

async function giveBack(vehicle: Vehicle): Promise<void> {
  try {
    if (vehicle.drivenBy !== null) await call("override", { vehicles: [vehicle.id], behaviour: null });
  } finally {
    await call("drive", { vehicle_id: vehicle.id, driving: false });
  }
}

async function leave(reachable: boolean): Promise<void> {
  const left = loop;
  if (!left) return;
  loop = null;
  driving.value = null;
  stepOut();
  if (reachable) left.suspend();
  left.close();
  keys.clear();
  if (!reachable) return;
  try {
    await giveBack(left.vehicle);
  } catch (error) {
    showNotice("error", `${left.vehicle.name}: cannot restore its behaviour: ${reasonOf(error)}`);
  }
}

/** Failsafe: safe inputs now and until driving resumes. */
export function suspendDriving(): void {
  keys.clear();
  if (!loop || loop.suspended) return;
  loop.suspended = true;
  loop.suspend();
  publish();
}

function onDrivingKey(event: KeyboardEvent): boolean {
  if (event.code === "KeyG" && !event.shiftKey) {
    if (!event.repeat) toggle();
    return true;
  }
  if (!loop) return false;
  if (event.code === "Escape") void release();
  else if (!loop.driver.codes.has(event.code)) return false;
  else if (event.repeat) resumeDriving();
  else pressKey(event.code);
  return true;
}

function toggle(): void {
  const id = focus.value;
  if (loop) void release();
  else if (id !== null) void drive(id);
  else showNotice("info", "Select a vehicle to drive first");
}

/** A key or a button on a touch screen is pressed: a one-shot action, or an input until it is lifted. */
export function pressKey(code: string): void {
  resumeDriving();
  if (loop && !loop.driver.press(code)) keys.press(code);
}

/** The page has the focus again: inputs count. */
export function resumeDriving(): void {
  if (loop) loop.suspended = false;
}

function publish(): void {
  if (!loop) return;
  const { vehicle, driver, suspended: away, speed, pad } = loop;
  const { bars, status: text, help, figures: readings = [] } = driver;
  const { id, name, kind } = vehicle;
  driving.value = {
    id,
    name,
    kind,
    bars,
    status: text,
    help,
    pad: pad?.name ?? null,
    suspended: away,
    speed,
    figures: readings,
  };
}

let steps = 0;

/** One step of the loop, also called by tests. */
export function step(now: number): void {
  if (!loop) return;
  const before = loop.pad;
  const pad = readPad();
  if (before && !pad) {
    showNotice("warning", `${before.name} disconnected: ${loop.vehicle.name} stopped`);
    loop.pad = null;
    loop.suspend();
  }
  loop.step(now, pad, cameraHeadingOf());
  if (++steps % 2 === 0) publish(); // 25 Hz is enough for the display
}

/** Start the loop, listen to keys, watch for conditions that end driving. heading: the camera's direction, rad. */
export function startDriving(heading: () => number): () => void {
  cameraHeadingOf = heading;
  const timer = setInterval(() => step(performance.now()), PERIOD);
  const stops = [watchConnection(), watchRoster(), watchRuns(), watchLive(), watchDrivers()];
  const lift = (event: KeyboardEvent): void => keys.lift(event.code); // released anywhere
  window.addEventListener("keyup", lift, true);
  stops.push(listenToKeys(onDrivingKey), () => window.removeEventListener("keyup", lift, true));
  return () => {
    clearInterval(timer);
    for (const stop of stops) stop();
    void release();
  };
}

function watchConnection(): () => void {
  return effect(() => {
    const now = connection.value;
    if (now.state === "open" || !loop) return;
    showNotice("warning", `Stopped driving ${loop.vehicle.name}: ${("note" in now && now.note) || LOST}`);
    void leave(false);
  });
}

function watchRoster(): () => void {
  return effect(() => {
    const present = roster.value;
    if (!loop || present.number < 0 || present.rowOfId(loop.vehicle.id) !== undefined) return;
    // same text as the selection's notice, so that it is shown once
    if (!isRemoving(loop.vehicle.id)) showNotice("warning", `${loop.vehicle.name} removed`);
    void leave(false);
  });
}

/** A reset restores all behaviours: claim the vehicle again. */
function watchRuns(): () => void {
  let run = clock.peek().run;
  return effect(() => {
    const now = clock.value.run;
    if (now === run) return;
    run = now;
    if (loop) take(loop.vehicle).catch((error: unknown) => showNotice("error", reasonOf(error)));
  });
}

/** Another client has taken over: stop, without a command. */
function watchDrivers(): () => void {
  return effect(() => {
    const driver = figures.value?.drivers?.[String(loop?.vehicle.id)];
    if (!loop || driver === undefined) return;
    if (driver === metadata.peek()?.client) loop.confirmed = true;
    if (driver === metadata.peek()?.client || !loop.confirmed) return; // figures from before this page took over
    showNotice("warning", `Stopped driving ${loop.vehicle.name}: ${nameOfClient(driver)} has taken over`);
    void leave(false);
  });
}

function watchLive(): () => void {
  return effect(() => {
    if (!live.value && loop && connection.peek().state === "open") void release();
  });
}
