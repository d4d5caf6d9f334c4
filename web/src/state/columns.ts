// Which columns the page wants to see, by whom, and handing out what arrives.
import type { ColumnBlock, Frame } from "../wire/frame";
import type { WantedColumns } from "../wire/schema";

export type ColumnsCallback = (frame: Frame, blocks: readonly ColumnBlock[]) => void;

/** Somebody's wish for columns; `blocks[k].request` of what arrives counts within `columns`. */
export interface Want {
  readonly name: string; // for people who look for who wants so much
  readonly columns: readonly WantedColumns[];
  release(): void;
}

/** A list of all wishes as it was sent, and where each wish begins in it. */
export interface WantedList {
  number: number; // unique in this page
  columns: readonly WantedColumns[];
  starts: ReadonlyMap<Want, number>;
}

const wishes = new Map<Want, Set<ColumnsCallback>>();
const lists = new Map<number, WantedList>();
const watchers = new Set<() => void>();
let listed = 0;

/** Ask for columns from now on; the connection is told a moment later. */
export function want(name: string, columns: readonly WantedColumns[]): Want {
  const wish: Want = {
    name,
    columns,
    release: () => {
      if (wishes.delete(wish)) changed();
    },
  };
  wishes.set(wish, new Set());
  changed();
  return wish;
}

/** Be handed what arrives for a wish; the returned function ends that. */
export function onColumns(wish: Want, callback: ColumnsCallback): () => void {
  wishes.get(wish)?.add(callback);
  return () => wishes.get(wish)?.delete(callback);
}

/** For the connection: be told when the wishes have changed. */
export function onWishes(callback: () => void): () => void {
  watchers.add(callback);
  return () => watchers.delete(callback);
}

function changed(): void {
  for (const watcher of watchers) watcher();
}

/** All wishes as one list, remembered so that frames that answer it can be read later, in the buffer too. */
export function listWishes(): WantedList {
  const starts = new Map<Want, number>();
  const columns: WantedColumns[] = [];
  for (const wish of wishes.keys()) {
    starts.set(wish, columns.length);
    columns.push(...wish.columns);
  }
  const list = { number: ++listed, columns, starts };
  lists.set(list.number, list);
  return list;
}

/** What a frame's blocks answer; undefined when that is not known. */
export function listOf(frame: Frame): WantedList | undefined {
  return lists.get(frame.wanted);
}

/** Hand a frame's columns to those who wanted them. */
export function deliver(frame: Frame): void {
  const list = listOf(frame);
  if (list === undefined) return;
  for (const [wish, start] of list.starts) {
    const callbacks = wishes.get(wish);
    if (callbacks === undefined || callbacks.size === 0) continue;
    const blocks = blocksOf(frame, start, wish.columns.length);
    if (blocks.length > 0) for (const callback of [...callbacks]) callback(frame, blocks);
  }
}

function blocksOf(frame: Frame, start: number, length: number): ColumnBlock[] {
  const inside = frame.columns.filter(({ request }) => request >= start && request < start + length);
  return inside.map((block) => ({ ...block, request: block.request - start }));
}

/** What a frame tells of one vehicle (its id), by the names of columns: whatever anybody wanted of it. */
export function valuesOf(frame: Frame, vehicle: number): Map<string, number> {
  const found = new Map<string, number>();
  const list = listOf(frame);
  for (const { request, vehicles, values } of list ? frame.columns : []) {
    const wanted = list?.columns[request];
    if (wanted?.of !== vehicle || vehicles !== 1) continue;
    wanted.columns.forEach((name, at) => found.set(name, values[at] ?? Number.NaN));
  }
  return found;
}

/** The values of one column of all vehicles in a frame, in roster order; undefined when it did not come along. */
export function wholeColumn(frame: Frame, name: string): Float32Array | Float64Array | undefined {
  const list = listOf(frame);
  for (const block of list ? frame.columns : []) {
    const wanted = list?.columns[block.request];
    const at = wanted?.of === null ? wanted.columns.indexOf(name) : -1;
    if (at >= 0 && block.vehicles === frame.count) {
      return block.values.subarray(at * block.vehicles, (at + 1) * block.vehicles);
    }
  }
  return undefined;
}
