// The samples of a chunk as frames, and their columns, which stay where they lie in the chunk.
import type { Frame } from "../state/frame";
import type { Fleet, Roster } from "../state/roster";
import type { Frames, Recorded } from "./jobs";
import { columnReader } from "./values";

export interface LoadedChunk {
  number: number;
  bytes: number; // of memory
  frames: (Frame | null)[]; // null: cannot be read
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
export function blockOf(frame: Frame, fleet: Fleet): { view: DataView; width: 4 | 8 } | undefined {
  const columns = columnsOf.get(frame);
  const start = columns?.sample.blocks[fleet.index];
  if (columns === undefined || start === undefined) return undefined;
  const { width } = columns.sample;
  return { view: new DataView(columns.data, start, width * fleet.columns.length * fleet.count), width };
}

/** Values of a vehicle (its id) in a frame, by names of columns; NaN for what it does not have. */
export function columnValues(frame: Frame, roster: Roster, vehicle: number, names: readonly string[]): Float64Array {
  const values = new Float64Array(names.length).fill(Number.NaN);
  const row = roster.rowOfId(vehicle);
  const fleet = row === undefined ? undefined : roster.fleetAt(row);
  const block = fleet && blockOf(frame, fleet);
  if (row === undefined || !fleet || !block) return values;
  return values.map((_, k) => columnReader(fleet, names[k] ?? "")(block.view, block.width, row - fleet.first));
}
