// Column requests of the page, and delivery of the columns that arrive.
import type { ColumnBlock, Frame } from "../wire/frame";
import type { WantedColumns } from "../wire/schema";

type ColumnsCallback = (frame: Frame, blocks: readonly ColumnBlock[]) => void;

/** A request for columns; `blocks[k].request` of the response is an index into `columns`. */
export interface ColumnRequest {
  readonly name: string; // for debugging
  readonly columns: readonly WantedColumns[];
  release(): void;
}

/** All requests as sent, and the index at which each begins. */
export interface ColumnRequestList {
  number: number; // unique in this page
  columns: readonly WantedColumns[];
  starts: ReadonlyMap<ColumnRequest, number>;
}

const requests = new Map<ColumnRequest, Set<ColumnsCallback>>();
const lists = new Map<number, ColumnRequestList>();
const watchers = new Set<() => void>();
let lastNumber = 0;

/** Request columns until released; the server is notified after a short delay. */
export function requestColumns(name: string, columns: readonly WantedColumns[]): ColumnRequest {
  const request: ColumnRequest = {
    name,
    columns,
    release: () => {
      if (requests.delete(request)) changed();
    },
  };
  requests.set(request, new Set());
  changed();
  return request;
}

/** Receive the columns of a request; return a stop function. */
export function onColumns(request: ColumnRequest, callback: ColumnsCallback): () => void {
  requests.get(request)?.add(callback);
  return () => requests.get(request)?.delete(callback);
}

/** Call back when the requests change. */
export function onColumnRequests(callback: () => void): () => void {
  watchers.add(callback);
  return () => watchers.delete(callback);
}

function changed(): void {
  for (const watcher of watchers) watcher();
}

/** List all requests; the list is kept to interpret frames later, including those in the buffer. */
export function listColumnRequests(): ColumnRequestList {
  const starts = new Map<ColumnRequest, number>();
  const columns: WantedColumns[] = [];
  for (const request of requests.keys()) {
    starts.set(request, columns.length);
    columns.push(...request.columns);
  }
  const list = { number: ++lastNumber, columns, starts };
  lists.set(list.number, list);
  return list;
}

/** The list that a frame's blocks respond to; undefined if unknown. */
export function listOf(frame: Frame): ColumnRequestList | undefined {
  return lists.get(frame.wanted);
}

/** Deliver a frame's columns to their requesters. */
export function deliver(frame: Frame): void {
  const list = listOf(frame);
  if (list === undefined) return;
  for (const [request, start] of list.starts) {
    const callbacks = requests.get(request);
    if (callbacks === undefined || callbacks.size === 0) continue;
    const blocks = blocksOf(frame, start, request.columns.length);
    if (blocks.length > 0) for (const callback of [...callbacks]) callback(frame, blocks);
  }
}

function blocksOf(frame: Frame, start: number, length: number): ColumnBlock[] {
  const inside = frame.columns.filter(({ request }) => request >= start && request < start + length);
  return inside.map((block) => ({ ...block, request: block.request - start }));
}

/** All requested values of one vehicle (by id) in a frame, by column name. */
export function valuesOf(frame: Frame, vehicle: number): Map<string, number> {
  const measured = new Map<string, number>();
  const list = listOf(frame);
  for (const { request, vehicles, values } of list ? frame.columns : []) {
    const wanted = list?.columns[request];
    if (wanted?.of !== vehicle || vehicles !== 1) continue;
    wanted.columns.forEach((name, at) => measured.set(name, values[at] ?? Number.NaN));
  }
  return measured;
}

/** One column of all vehicles in a frame, in row order; undefined if not requested. */
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
