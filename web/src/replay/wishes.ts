// Answers to the panels' wishes for columns out of a recording, just as the server answers them for the live run.
import type { WantedColumns } from "../net/schema";
import { colourFrame } from "../state/colouring";
import { deliver, listWishes, onWishes, type WantedList } from "../state/columns";
import type { ColumnBlock, Frame } from "../state/frame";
import type { Roster } from "../state/roster";
import { blockOf } from "./loaded";
import { columnReader } from "./values";

const EXACT = 4096; // values up to which a block is float64, as on the wire

/** Hands out the columns of what is shown; `close` ends that. */
export class Wishes {
  private list: WantedList | null = null;
  private readonly unwatch = onWishes(() => {
    this.list = null;
  });

  /** Whether a frame has been answered with all that is wanted now. */
  answered(frame: Frame): boolean {
    return this.list !== null && frame.wanted === this.list.number;
  }

  answer(frame: Frame, roster: Roster): void {
    this.list ??= listWishes();
    frame.columns = this.list.columns.map((wanted, request) => answerOne(frame, roster, wanted, request));
    frame.wanted = this.list.number;
    deliver(frame);
    colourFrame(frame);
  }

  close(): void {
    this.unwatch();
  }
}

function answerOne(frame: Frame, roster: Roster, wanted: WantedColumns, request: number): ColumnBlock {
  const [first, vehicles] = rowsOf(roster, wanted.of);
  const columns = wanted.columns.length;
  const size = columns * vehicles;
  const values = size <= EXACT ? new Float64Array(size) : new Float32Array(size);
  wanted.columns.forEach((name, column) => {
    fillColumn(frame, roster, name, first, values.subarray(column * vehicles, (column + 1) * vehicles));
  });
  return { request, vehicles, columns, values };
}

/** Rows of a fleet or a vehicle by name, of a vehicle by id, or of all. */
function rowsOf(roster: Roster, of: WantedColumns["of"]): [first: number, count: number] {
  if (of === null) return [0, roster.size];
  const fleet = typeof of === "string" ? roster.fleet(of) : undefined;
  if (fleet !== undefined) return [fleet.first, fleet.count];
  const row = typeof of === "string" ? roster.rowOfName(of) : roster.rowOfId(of);
  return row === undefined ? [0, 0] : [row, 1];
}

function fillColumn(frame: Frame, roster: Roster, name: string, first: number, into: ColumnBlock["values"]): void {
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
