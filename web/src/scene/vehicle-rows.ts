// Per-row data of all vehicles: pose and colour textures, wheel motion, colouring, steering angles.
import {
  DataTexture,
  NearestFilter,
  RGBAFormat,
  RGBAIntegerFormat,
  type TextureDataType,
  UnsignedByteType,
  UnsignedIntType,
} from "three";
import { scalarsOf } from "../state/colouring";
import { type ColumnRequest, listOf, requestColumns } from "../state/columns";
import { fleetColour, rgbOf } from "../state/palette";
import type { Fleet, Roster } from "../state/roster";
import type { Sample } from "../state/source";
import type { ColouringKind, Theme } from "../state/store";
import { type Frame, floatsOf, type Quaternion, unpackOrientation, WORDS } from "../wire/frame";
import { rampTable } from "./colour-ramp";
import { headingOf } from "./poses";
import { CONE_PAINTS } from "./shapes/cone";
import { ROW_WIDTH } from "./vehicle-meshes";
import type { KindTraits } from "./view";

const MAX_MOVED = 5_000; // vehicles: with more, per-row state is reset, which is not visible

/** Pairs of old and new rows of the remaining vehicles. */
export function moves(before: Roster | null, after: Roster): [from: number, to: number][] {
  if (before === null || after.size > MAX_MOVED) return [];
  const pairs: [number, number][] = [];
  for (let to = 0; to < after.size; to++) {
    const id = after.idAt(to);
    const from = id === undefined ? undefined : before.rowOfId(id);
    if (from !== undefined) pairs.push([from, to]);
  }
  return pairs;
}

/** Values of the remaining rows at their new indices. */
export function moved<T extends Uint8Array | Float32Array>(
  values: T,
  into: T,
  rows: readonly (readonly [number, number])[],
): T {
  for (const [from, to] of rows) if (to < into.length) into[to] = values[from] ?? 0;
  return into;
}

// textures -----------------------------------------------------------------------------------------------------------

/** A texture and its frame. */
interface Slot {
  texture: DataTexture;
  frame: Frame | null;
}

/** Two frames on the GPU; a frame already there is not uploaded again. */
export class PoseTextures {
  private slots: [Slot, Slot] = [slot(1), slot(1)];
  private lines = 1;

  /** The textures of two frames, which may be the same. */
  show(from: Frame, to: Frame): [DataTexture, DataTexture] {
    this.resize(Math.max(from.count, to.count));
    const last = this.holding(to) ?? this.take(to, from);
    const first = this.holding(from) ?? this.take(from, to);
    return [first.texture, last.texture];
  }

  private holding(frame: Frame): Slot | undefined {
    return this.slots.find((slot) => slot.frame === frame);
  }

  /** Replace the frame that is no longer needed. */
  private take(frame: Frame, needed: Frame): Slot {
    const [a, b] = this.slots;
    const free = a.frame === needed ? b : a;
    fill(free.texture, frame);
    free.frame = frame;
    return free;
  }

  private resize(count: number): void {
    const lines = Math.max(1, Math.ceil(count / ROW_WIDTH));
    if (lines <= this.lines && lines > this.lines / 4) return;
    this.dispose();
    this.lines = lines;
    this.slots = [slot(lines), slot(lines)];
  }

  dispose(): void {
    for (const slot of this.slots) slot.texture.dispose();
  }
}

function slot(lines: number): Slot {
  return { texture: texture(new Uint32Array(4 * ROW_WIDTH * lines), lines, UnsignedIntType), frame: null };
}

function fill(into: DataTexture, frame: Frame): void {
  const data = into.image.data as Uint32Array;
  data.set(frame.poses.length > data.length ? frame.poses.subarray(0, data.length) : frame.poses);
  into.needsUpdate = true;
}

/** Red, green, blue of each row, and its size in decimetres (0: drawn as a shape instead of a point). */
export class TintTexture {
  texture: DataTexture;
  private lines = 1;

  constructor() {
    this.texture = texture(new Uint8Array(4 * ROW_WIDTH), 1, UnsignedByteType);
  }

  get bytes(): Uint8Array {
    return this.texture.image.data as Uint8Array;
  }

  resize(count: number): void {
    const lines = Math.max(1, Math.ceil(count / ROW_WIDTH));
    if (lines === this.lines) return;
    this.texture.dispose();
    this.lines = lines;
    this.texture = texture(new Uint8Array(4 * ROW_WIDTH * lines), lines, UnsignedByteType);
  }

  changed(): void {
    this.texture.needsUpdate = true;
  }

  dispose(): void {
    this.texture.dispose();
  }
}

function texture(data: Uint32Array | Uint8Array, lines: number, type: TextureDataType): DataTexture {
  const words = type === UnsignedIntType;
  const made = new DataTexture(
    data as Uint8Array<ArrayBuffer>,
    ROW_WIDTH,
    lines,
    words ? RGBAIntegerFormat : RGBAFormat,
    type,
  );
  if (words) made.internalFormat = "RGBA32UI";
  made.minFilter = NearestFilter;
  made.magFilter = NearestFilter;
  made.generateMipmaps = false;
  made.unpackAlignment = 1;
  made.needsUpdate = true;
  return made;
}

// wheel motion -------------------------------------------------------------------------------------------------------

const MOST = 0.6; // rad
const SMOOTH = 0.15; // smoothing per drawn frame

const turnA: Quaternion = [0, 0, 0, 1];
const turnB: Quaternion = [0, 0, 0, 1];

/** Forward speed (m/s) and the steering angle (rad, + left) that explain the motion between two frames. */
export function drivenAs(sample: Sample, row: number, traits: KindTraits): { speed: number; steer: number } {
  const dt = sample.to.time - sample.from.time;
  if (!(dt > 0)) return { speed: 0, steer: 0 };
  const [a, b] = [floatsOf(sample.from.poses), floatsOf(sample.to.poses)];
  const k = WORDS * row;
  const [dx, dy] = [(b[k] ?? 0) - (a[k] ?? 0), (b[k + 1] ?? 0) - (a[k + 1] ?? 0)];
  const before = headingOf(unpackOrientation(sample.from.poses[k + 3] ?? 0, turnA));
  const after = headingOf(unpackOrientation(sample.to.poses[k + 3] ?? 0, turnB));
  const turn = Math.atan2(Math.sin(after - before), Math.cos(after - before));
  const speed = (dx * Math.cos(after) + dy * Math.sin(after)) / dt;
  if (Math.abs(speed) < 0.3) return { speed: finite(speed), steer: 0 };
  const steer = Math.atan((traits.wheelbase * turn) / dt / speed);
  return { speed: finite(speed), steer: Math.max(-MOST, Math.min(MOST, finite(steer))) };
}

/** Wheel angles of all rows, kept from frame to frame. */
export class WheelAngles {
  private spins = new Float32Array(0);
  private steers = new Float32Array(0);

  /** Resize; remaining rows (pairs of old and new) keep their angles. */
  move(count: number, rows: readonly (readonly [number, number])[]): void {
    this.spins = moved(this.spins, new Float32Array(count), rows);
    this.steers = moved(this.steers, new Float32Array(count), rows);
  }

  /** Advance by simulated seconds; `reported`: what the server says, NaN where unknown. */
  advance(
    sample: Sample,
    row: number,
    traits: KindTraits,
    seconds: number,
    reported: Reported,
  ): [steer: number, spin: number] {
    const { speed, steer } = drivenAs(sample, row, traits);
    const rate = Number.isNaN(reported.rate) ? speed / traits.wheel : reported.rate;
    const spin = ((this.spins[row] ?? 0) + rate * seconds) % (2 * Math.PI);
    const before = this.steers[row] ?? 0;
    const angle = Number.isNaN(reported.steer) ? before + SMOOTH * (steer - before) : reported.steer;
    this.spins[row] = spin;
    this.steers[row] = angle;
    return [angle, spin];
  }
}

function finite(value: number): number {
  return Number.isFinite(value) ? value : 0;
}

// colours ------------------------------------------------------------------------------------------------------------

const STEPS = 256;
const INK = 0.82; // fleet colours are chosen for dark backgrounds: darken them on light ones

/** Write red, green, blue of all rows into `bytes` (4 per row; the fourth is not touched). */
export function tintRows(bytes: Uint8Array, roster: Roster, frame: Frame, kind: ColouringKind, theme: Theme): void {
  const scalars = kind === "fleet" ? null : scalarsOf(frame, kind);
  if (kind === "fleet") return tintFleets(bytes, roster, theme);
  if (scalars === null) return tintUnknown(bytes, frame.count, theme);
  tintValues(bytes, scalars.values, scalars.low, scalars.high, rampTableOf(theme));
}

/** A track's cones keep their colours as points. */
function coneColour({ kind, name }: Fleet): readonly number[] | undefined {
  const colour = kind === "cone" ? name.replace("cones_", "") : "";
  return Object.hasOwn(CONE_PAINTS, colour) ? rgbOf(CONE_PAINTS[colour]?.body ?? "") : undefined;
}

function tintFleets(bytes: Uint8Array, roster: Roster, theme: Theme): void {
  const share = theme === "light" ? INK : 1;
  for (const fleet of roster.fleets) {
    const paint = coneColour(fleet);
    const [r, g, b] = (paint ?? fleetColour(fleet).rgb).map((part) => Math.round(255 * (paint ? 1 : share) * part));
    for (let row = fleet.first; row < fleet.first + fleet.count; row++) {
      bytes[4 * row] = r as number;
      bytes[4 * row + 1] = g as number;
      bytes[4 * row + 2] = b as number;
    }
  }
}

function tintUnknown(bytes: Uint8Array, count: number, theme: Theme): void {
  tintValues(bytes, new Float32Array(count).fill(Number.NaN), 0, 1, rampTableOf(theme));
}

/** Values as colours of a table with 256 entries and one for NaN. */
export function tintValues(
  bytes: Uint8Array,
  values: ArrayLike<number>,
  low: number,
  high: number,
  table: Uint8Array,
): void {
  const scale = (STEPS - 1) / Math.max(high - low, 1e-12);
  for (let row = 0; row < values.length; row++) {
    const value = values[row] as number;
    const step = Number.isNaN(value) ? STEPS : Math.max(0, Math.min(STEPS - 1, Math.round((value - low) * scale)));
    bytes[4 * row] = table[3 * step] as number;
    bytes[4 * row + 1] = table[3 * step + 1] as number;
    bytes[4 * row + 2] = table[3 * step + 2] as number;
  }
}

const tables = new Map<Theme, Uint8Array>();

function rampTableOf(theme: Theme): Uint8Array {
  let table = tables.get(theme);
  if (table === undefined) {
    table = rampTable(theme);
    tables.set(theme, table);
  }
  return table;
}

// wheels from the server -----------------------------------------------------------------------------------------------

const LARGEST = 64; // vehicles per fleet
const FLEETS = 24;
const TRAVELS = ["suspension_fl", "suspension_fr", "suspension_rl", "suspension_rr"] as const;
const COLUMNS = ["steer", "wheel_speed", ...TRAVELS] as const;
const RIGID: readonly number[] = [0, 0, 0, 0];

/** Steering angle (rad, + left) and rotation of the wheels (rad/s); NaN if unknown. */
export interface Reported {
  steer: number;
  rate: number;
  travel: readonly number[]; // m: compression of the four suspensions; 0 if unknown
}

export const UNKNOWN: Reported = { steer: Number.NaN, rate: Number.NaN, travel: RIGID };

export class Steering {
  private request: ColumnRequest | null = null;
  private fleets: { first: number; count: number; columns: readonly string[] }[] = [];
  private roster = Number.NaN;

  /** Request the columns that this roster has. */
  follow(roster: Roster): void {
    if (roster.number === this.roster) return;
    this.roster = roster.number;
    this.release();
    const steered = roster.fleets.filter(
      ({ count, columns }) => count > 0 && count <= LARGEST && columns.includes("steer"),
    );
    this.fleets = steered.slice(0, FLEETS).map(({ first, count, columns }) => {
      return { first, count, columns: COLUMNS.filter((name) => columns.includes(name)) };
    });
    if (steered.length === 0) return;
    this.request = requestColumns(
      "wheels",
      this.fleets.map(({ columns }, k) => ({ of: steered[k]?.name ?? "", columns })),
    );
  }

  /** What the server says about the wheels of a vehicle, between two frames as far as both say it. */
  between({ from, to, mix }: Sample, row: number): Reported {
    const after = this.at(to, row);
    if (from === to || Number.isNaN(after.steer)) return after;
    const before = this.at(from, row);
    const blended = (a: number, b: number): number => (Number.isNaN(a) ? b : a + mix * (b - a));
    const travel = after.travel.map((turned, k) => blended(before.travel[k] ?? Number.NaN, turned));
    return { steer: blended(before.steer, after.steer), rate: blended(before.rate, after.rate), travel };
  }

  /** What the server says about the wheels of a vehicle in a frame. */
  private at(frame: Frame, row: number): Reported {
    const start = this.request && listOf(frame)?.starts.get(this.request);
    const at = this.fleets.findIndex(({ first, count }) => row >= first && row < first + count);
    const fleet = this.fleets[at];
    if (start === null || start === undefined || !fleet) return UNKNOWN;
    const block = frame.columns.find(({ request }) => request === start + at);
    const value = (name: (typeof COLUMNS)[number]): number => {
      const column = fleet.columns.indexOf(name);
      return column < 0 ? Number.NaN : (block?.values[column * block.vehicles + row - fleet.first] ?? Number.NaN);
    };
    const springs = fleet.columns.includes(TRAVELS[0]);
    const travel = springs ? TRAVELS.map((name) => finite(value(name))) : RIGID;
    return { steer: value("steer"), rate: value("wheel_speed"), travel };
  }

  release(): void {
    this.request?.release();
    this.request = null;
  }
}
