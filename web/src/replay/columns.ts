// Columns of a recording: values by vehicle and name, and responses to the panels' column requests.
import { colourFrame } from "../state/colouring";
import { type ColumnRequestList, deliver, listColumnRequests, onColumnRequests } from "../state/columns";
import type { ArrayLayout, Fleet, Roster } from "../state/roster";
import type { ColumnBlock, Frame } from "../wire/frame";
import type { WantedColumns } from "../wire/schema";
import type { Frames, Recorded } from "./reader-pool";

/** Reads one value of a vehicle (index in its fleet) from a block. */
type ColumnReader = (block: DataView, width: 4 | 8, at: number) => number;

/** The reader of a column, or of the derived speed (m/s), yaw, roll, pitch (rad), yaw_rate (rad/s); NaN if unknown. */
export function columnReader(fleet: Fleet, name: string): ColumnReader {
  const own = plainReader(fleet, name);
  if (own !== undefined) return own;
  const made = DERIVED[name];
  const parts = made?.of.map((part) => plainReader(fleet, part));
  if (made === undefined || parts === undefined || parts.includes(undefined)) return () => Number.NaN;
  return (block, width, at) => made.value(parts.map((part) => (part as ColumnReader)(block, width, at)));
}

function plainReader(fleet: Fleet, name: string): ColumnReader | undefined {
  const column = fleet.columns.indexOf(name);
  if (column < 0) return undefined;
  const before = column * fleet.count;
  return (block, width, at) =>
    width === 8 ? block.getFloat64(8 * (before + at), true) : block.getFloat32(4 * (before + at), true);
}

interface Derived {
  of: readonly string[];
  value(parts: number[]): number;
}

const TURN = ["qx", "qy", "qz", "qw"];
const DERIVED: Readonly<Record<string, Derived>> = {
  speed: { of: ["vx", "vy", "vz"], value: (parts) => Math.hypot(...parts) },
  yaw_rate: { of: ["wz"], value: ([wz = Number.NaN]) => wz },
  yaw: { of: TURN, value: ([x = 0, y = 0, z = 0, w = 1]) => Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)) },
  roll: { of: TURN, value: ([x = 0, y = 0, z = 0, w = 1]) => Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)) },
  pitch: {
    of: TURN,
    value: ([x = 0, y = 0, z = 0, w = 1]) => Math.asin(Math.min(Math.max(2 * (w * y - z * x), -1), 1)),
  },
};

// loaded chunks ------------------------------------------------------------------------------------------------------

export interface LoadedChunk {
  number: number;
  bytes: number; // of memory
  frames: (Frame | null)[]; // null: not readable
}

interface Columns {
  data: ArrayBuffer;
  sample: Recorded;
}

const columnsOf = new WeakMap<Frame, Columns>();

export function loadedChunk(number: number, { data, samples }: Frames): LoadedChunk {
  let bytes = data.byteLength;
  const frames = samples.map((sample) => {
    if (sample === null) return null;
    const { run, tick, time, roster, count, poses } = sample;
    const frame: Frame = { run, tick, time, wall: 0, roster, count, poses, columns: [], wanted: -1 };
    bytes += poses.byteLength;
    columnsOf.set(frame, { data, sample });
    return frame;
  });
  return { number, bytes, frames };
}

/** A fleet's block in a frame of a recording. */
function blockOf(frame: Frame, fleet: Fleet): { view: DataView; width: 4 | 8 } | undefined {
  const columns = columnsOf.get(frame);
  const start = columns?.sample.blocks[fleet.index];
  if (columns === undefined || start === undefined) return undefined;
  const { width } = columns.sample;
  return { view: new DataView(columns.data, start, width * fleet.columns.length * fleet.count), width };
}

/** An array of a vehicle (index in its fleet) in a frame; empty if there is none. */
function arrayOf(frame: Frame, fleet: Fleet, name: string, at: number): Values {
  const array = fleet.arrays.find((each) => each.name === name);
  const { data, sample } = columnsOf.get(frame) ?? {};
  const start = array && sample?.arrays[array.index];
  if (data === undefined || start === undefined) return new Float32Array(0);
  const { size, width } = array as ArrayLayout;
  const bytes = data.slice(start + at * size * width, start + (at + 1) * size * width); // a copy is aligned
  return width === 4 ? new Float32Array(bytes) : new Float64Array(bytes);
}

/** Values of a vehicle (by id) in a frame; NaN for unknown columns. */
export function columnValues(frame: Frame, roster: Roster, vehicle: number, names: readonly string[]): Float64Array {
  const values = new Float64Array(names.length).fill(Number.NaN);
  const row = roster.rowOfId(vehicle);
  const fleet = row === undefined ? undefined : roster.fleetAt(row);
  const block = fleet && blockOf(frame, fleet);
  if (row === undefined || !fleet || !block) return values;
  return values.map((_, k) => columnReader(fleet, names[k] ?? "")(block.view, block.width, row - fleet.first));
}

// column requests ----------------------------------------------------------------------------------------------------

const EXACT = 4096; // up to this many values a block is float64, as on the wire

/** Responds to column requests from the shown frame, as the server does for the live run. */
export class ColumnResponder {
  private list: ColumnRequestList | null = null;
  private readonly unwatch = onColumnRequests(() => {
    this.list = null;
  });

  /** Whether a frame contains all requested columns. */
  answered(frame: Frame): boolean {
    return this.list !== null && frame.wanted === this.list.number;
  }

  /** Arrays are delivered, but not kept with the frame: those of all loaded frames would take much memory. */
  answer(frame: Frame, roster: Roster): void {
    this.list ??= listColumnRequests();
    const { columns, number } = this.list;
    frame.columns = columns.map((wanted, request) => answerOne(frame, roster, wanted, request));
    frame.wanted = number;
    deliver(frame);
    frame.columns = frame.columns.filter((block) => block.columns === columns[block.request]?.columns.length);
    colourFrame(frame);
  }

  close(): void {
    this.unwatch();
  }
}

/** An array takes as many columns as it has values, of the largest where fleets differ. */
function answerOne(frame: Frame, roster: Roster, wanted: WantedColumns, request: number): ColumnBlock {
  const [first, vehicles] = rowsOf(roster, wanted.of);
  const inside = roster.fleets.filter((fleet) => fleet.first < first + vehicles && fleet.first + fleet.count > first);
  const widths = wanted.columns.map((name) => {
    const named = inside.flatMap(({ arrays }) => arrays.filter((array) => array.name === name));
    return Math.max(1, ...named.map(({ size }) => size));
  });
  const columns = widths.reduce((sum, width) => sum + width, 0);
  const size = columns * vehicles;
  const values = size <= EXACT ? new Float64Array(size) : new Float32Array(size);
  let at = 0;
  wanted.columns.forEach((name, k) => {
    const next = at + (widths[k] as number) * vehicles;
    const into = values.subarray(at, next);
    if (!fillArray(frame, inside, name, first, vehicles, into)) fillColumn(frame, roster, name, first, into);
    at = next;
  });
  return { request, vehicles, columns, values };
}

type Values = ColumnBlock["values"];

/** Fill in an array of the vehicles that have it; false if no fleet has it. */
function fillArray(
  frame: Frame,
  fleets: readonly Fleet[],
  name: string,
  first: number,
  vehicles: number,
  into: Values,
): boolean {
  const owners = fleets.filter(({ arrays }) => arrays.some((array) => array.name === name));
  if (owners.length > 0) into.fill(Number.NaN);
  for (const fleet of owners) {
    const [low, high] = [Math.max(first, fleet.first), Math.min(first + vehicles, fleet.first + fleet.count)];
    for (let row = low; row < high; row++) {
      const values = arrayOf(frame, fleet, name, row - fleet.first);
      for (let k = 0; k < values.length; k++) into[k * vehicles + row - first] = values[k] as number;
    }
  }
  return owners.length > 0;
}

/** Rows of a fleet or vehicle by name, of a vehicle by id, or all. */
function rowsOf(roster: Roster, of: WantedColumns["of"]): [first: number, count: number] {
  if (of === null) return [0, roster.size];
  const fleet = typeof of === "string" ? roster.fleet(of) : undefined;
  if (fleet !== undefined) return [fleet.first, fleet.count];
  const row = typeof of === "string" ? roster.rowOfName(of) : roster.rowOfId(of);
  return row === undefined ? [0, 0] : [row, 1];
}

function fillColumn(frame: Frame, roster: Roster, name: string, first: number, into: Values): void {
  into.fill(Number.NaN);
  for (const fleet of roster.fleets) {
    const low = Math.max(first, fleet.first);
    const high = Math.min(first + into.length, fleet.first + fleet.count);
    const block = low < high ? blockOf(frame, fleet) : undefined;
    if (block === undefined) continue;
    const read = columnReader(fleet, name);
    for (let row = low; row < high; row++) into[row - first] = read(block.view, block.width, row - fleet.first);
  }
}
