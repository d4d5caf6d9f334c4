// Messages of a recording: run, roster, state, events; packed poses from state columns.
import type { ArrayLayout, Roster } from "../state/roster";
import type { EventRecord, FleetTree, Range, RosterTree } from "../wire/schema";
import { ENUMS, FIELDS, ProtoReader } from "./protobuf";

export type Reason = "start" | "reset" | "restore";

interface RunStart {
  run: number;
  reason: Reason;
  scenario: string; // JSON
}

export interface State {
  tick: number;
  time: number; // simulated s
  run: number;
  width: 4 | 8; // bytes per value
  blocks: Uint8Array[]; // one per fleet: (columns, vehicles), views into the message
  arrays: Uint8Array[]; // one per array of each fleet: (vehicles, values)
}

export function decodeRunStart(data: Uint8Array): RunStart {
  const start: RunStart = { run: 0, reason: "start", scenario: "" };
  const field = FIELDS.RunStart;
  for (const reader = new ProtoReader(data); reader.next(); ) {
    if (reader.field === field.run) start.run = reader.uint();
    else if (reader.field === field.reason) start.reason = reasonOf(reader.uint());
    else if (reader.field === field.scenario_json) start.scenario = reader.string();
    else reader.skip();
  }
  return start;
}

function reasonOf(number: number): Reason {
  return (ENUMS.Reason[number] ?? "START").toLowerCase() as Reason;
}

/** Decode a roster; its number is assigned by the reader, which counts the rosters of a file. */
export function decodeRoster(data: Uint8Array, number: number): RosterTree {
  const fleets: FleetTree[] = [];
  let arrays = 0;
  for (const reader = new ProtoReader(data); reader.next(); ) {
    if (reader.field !== FIELDS.Roster.fleets) reader.skip();
    else {
      const fleet = decodeFleet(reader.bytes(), arrays);
      arrays += fleet.arrays.length;
      fleets.push(fleet);
    }
  }
  return { roster: number, fleets };
}

/** `before`: number of arrays of the fleets before it. */
function decodeFleet(data: Uint8Array, before: number): FleetTree & { arrays: readonly ArrayLayout[] } {
  const fields = { name: "", kind: "", model: "" };
  const columns: string[] = [];
  const ids: number[] = [];
  const members: number[] = [];
  const arrays: ArrayLayout[] = [];
  let single = false;
  const field = FIELDS.Fleet;
  for (const reader = new ProtoReader(data); reader.next(); ) {
    if (reader.field === field.name) fields.name = reader.string();
    else if (reader.field === field.kind) fields.kind = reader.string();
    else if (reader.field === field.model) fields.model = reader.string();
    else if (reader.field === field.columns) columns.push(reader.string());
    else if (reader.field === field.ids) reader.uints(ids);
    else if (reader.field === field.members) reader.uints(members);
    else if (reader.field === field.single) single = reader.bool();
    else if (reader.field === field.arrays) {
      arrays.push({ ...decodeArray(reader.bytes()), index: before + arrays.length });
    } else reader.skip();
  }
  const [known, named] = [ids.length, members.length];
  if (known !== named) throw new Error(`fleet ${fields.name}: ${known} ids, ${named} members`);
  return { ...fields, single, ids: rangesOf(ids), members: rangesOf(members), columns, arrays };
}

function decodeArray(data: Uint8Array): ArrayLayout {
  const array: ArrayLayout = { name: "", index: 0, size: 1, width: 4 };
  const shape: number[] = [];
  const field = FIELDS.Array;
  for (const reader = new ProtoReader(data); reader.next(); ) {
    if (reader.field === field.name) array.name = reader.string();
    else if (reader.field === field.shape) reader.uints(shape);
    else if (reader.field === field.type) array.width = ENUMS.Type[reader.uint()] === "FLOAT64" ? 8 : 4;
    else reader.skip();
  }
  return { ...array, size: shape.reduce((product, side) => product * side, 1) };
}

/** Numbers as ranges [first, count]. */
export function rangesOf(numbers: readonly number[]): Range[] {
  const ranges: [first: number, count: number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last[0] + last[1] === number) last[1] += 1;
    else ranges.push([number, 1]);
  }
  return ranges;
}

export function decodeState(data: Uint8Array): State {
  const state: State = { tick: 0, time: 0, run: 0, width: 8, blocks: [], arrays: [] };
  const field = FIELDS.State;
  for (const reader = new ProtoReader(data); reader.next(); ) {
    if (reader.field === field.tick) state.tick = reader.uint();
    else if (reader.field === field.sim_time) state.time = reader.double();
    else if (reader.field === field.run) state.run = reader.uint();
    else if (reader.field === field.precision) state.width = ENUMS.Precision[reader.uint()] === "SINGLE" ? 4 : 8;
    else if (reader.field === field.blocks) state.blocks.push(reader.bytes());
    else if (reader.field === field.arrays) state.arrays.push(reader.bytes());
    else reader.skip();
  }
  return state;
}

export function decodeEvent(data: Uint8Array): EventRecord {
  const event: EventRecord = { number: 0, tick: 0, kind: "", subject: "", detail: "" };
  const field = FIELDS.Event;
  for (const reader = new ProtoReader(data); reader.next(); ) {
    if (reader.field === field.number) event.number = reader.uint();
    else if (reader.field === field.tick) event.tick = reader.uint();
    else if (reader.field === field.kind) event.kind = reader.string();
    else if (reader.field === field.subject) event.subject = reader.string();
    else if (reader.field === field.detail) event.detail = reader.string();
    else reader.skip();
  }
  return event;
}

// packed poses -------------------------------------------------------------------------------------------------------

const STEPS = 1022; // even, so that 0 is representable
const SCALE = Math.SQRT2;
const COLUMNS = ["x", "y", "z", "qx", "qy", "qz", "qw"] as const;
const UPRIGHT = packOrientation(0, 0, 0, 1);

type Floats = Float32Array | Float64Array;

/** Inverse of unpackOrientation; an invalid orientation becomes upright. No arrays: it is called often. */
export function packOrientation(x: number, y: number, z: number, w: number): number {
  const square = x * x + y * y + z * z + w * w;
  if (!(square > 0 && square < Number.POSITIVE_INFINITY)) return UPRIGHT;
  const [ax, ay, az, aw] = [Math.abs(x), Math.abs(y), Math.abs(z), Math.abs(w)];
  const size = 1 / Math.sqrt(square);
  if (ax >= ay && ax >= az && ax >= aw) return packThree(0, y, z, w, x < 0 ? -size : size);
  if (ay >= az && ay >= aw) return packThree(1, x, z, w, y < 0 ? -size : size);
  if (az >= aw) return packThree(2, x, y, w, z < 0 ? -size : size);
  return packThree(3, x, y, z, w < 0 ? -size : size);
}

function packThree(largest: number, a: number, b: number, c: number, unit: number): number {
  return ((largest << 30) | (tenBits(a * unit) << 20) | (tenBits(b * unit) << 10) | tenBits(c * unit)) >>> 0;
}

function tenBits(part: number): number {
  return Math.min(Math.max(Math.floor((part * SCALE * 0.5 + 0.5) * STEPS + 0.5), 0), STEPS);
}

/** Packed poses of a state in roster order; throws if its blocks do not match the roster. */
export function packPoses(state: State, roster: Roster): Uint32Array<ArrayBuffer> {
  checkBlocks(state, roster);
  const fields = new Uint32Array(4 * roster.size);
  const floats = new Float32Array(fields.buffer);
  roster.fleets.forEach((fleet, k) => {
    const block = state.blocks[k] as Uint8Array;
    const columns = COLUMNS.map((name) => columnOf(block, state.width, fleet.columns.indexOf(name), fleet.count));
    packFleet(fields, floats, fleet.first, fleet.count, columns);
  });
  return fields;
}

function packFleet(fields: Uint32Array, floats: Float32Array, first: number, count: number, columns: Floats[]): void {
  const [x, y, z, qx, qy, qz, qw] = columns as [Floats, Floats, Floats, Floats, Floats, Floats, Floats];
  for (let k = 0; k < count; k++) {
    const at = 4 * (first + k);
    floats[at] = x[k] as number;
    floats[at + 1] = y[k] as number;
    floats[at + 2] = z[k] as number;
    fields[at + 3] = packOrientation(qx[k] as number, qy[k] as number, qz[k] as number, qw[k] as number);
  }
}

function checkBlocks(state: State, roster: Roster): void {
  const sizes = roster.fleets.map((fleet) => fleet.columns.length * fleet.count * state.width);
  const arrays = roster.fleets.flatMap(({ arrays, count }) => arrays.map(({ size, width }) => size * width * count));
  const fit = (blocks: readonly Uint8Array[], wanted: readonly number[]): boolean =>
    blocks.length === wanted.length && blocks.every((block, k) => block.length === wanted[k]);
  if (!fit(state.blocks, sizes) || !fit(state.arrays, arrays))
    throw new Error(`the state of tick ${state.tick} does not match its roster`);
}

/** A column of a fleet's block, copied because blocks are not aligned; NaN if missing. */
function columnOf(block: Uint8Array, width: 4 | 8, column: number, count: number): Floats {
  if (column < 0) return new Float32Array(count).fill(Number.NaN);
  const bytes = block.slice(width * column * count, width * (column + 1) * count);
  return width === 4 ? new Float32Array(bytes.buffer) : new Float64Array(bytes.buffer);
}
