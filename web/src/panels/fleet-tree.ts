// State of the fleet tree: rows, expanded fleets, keyboard focus, and scrolling to picked vehicles.
import { type Signal, useSignal, useSignalEffect } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { type Fleet, isProp, type Roster } from "../state/roster";
import { focus, roster, selection } from "../state/store";
import { idsOf, lookAt, pickIds } from "./actions";

type TreeLine = { fleet: Fleet; row: null } | { fleet: Fleet; row: number };

interface Block {
  fleet: Fleet;
  first: number; // line of the fleet itself
  rows: readonly number[] | null; // rows of the matching vehicles; null: all
  shown: number; // number of vehicle lines
}

interface TreeLines {
  count: number;
  at(line: number): TreeLine | undefined;
  /** The line of a row, or of its fleet while that is collapsed; -1: none. */
  lineOf(row: number): number;
  lineOfFleet(name: string): number;
  /** The first match: a fleet, or one of its vehicles. */
  first: TreeLine | undefined;
  hits: number; // matching vehicles
}

const MOST_FOUND = 2000; // matching vehicles listed per fleet

/** Lines of a roster; `query` filters fleets by name, kind and model, and vehicles by name. */
export function treeLines(roster: Roster, open: ReadonlySet<string>, query: string): TreeLines {
  const wanted = query.trim().toLowerCase();
  const blocks: Block[] = [];
  let count = 0;
  let hits = 0;
  for (const fleet of wanted === "" ? grouped(roster) : roster.listed) {
    const block = blockOf(roster, fleet, count, open.has(fleet.name), wanted);
    if (block === null) continue;
    blocks.push(block);
    count += 1 + block.shown;
    hits += block.rows?.length ?? fleet.count;
  }
  return {
    count,
    hits,
    at: (line) => lineAt(blocks, line),
    lineOf: (row) => lineOf(blocks, row),
    first: firstOf(blocks[0]),
    lineOfFleet: (name) => blocks.find(({ fleet }) => fleet.name === name)?.first ?? -1,
  };
}

const PROPS = "all props"; // no fleet has this name: it contains a space

/** Fleets in the order of their lines; several fleets of props, which would fill the list, are one line. */
function grouped(roster: Roster): readonly Fleet[] {
  const props = roster.fleets.filter(isProp);
  const [first] = props;
  if (first === undefined || props.length < 2) return roster.listed;
  const kinds = [...new Set(props.map(({ kind }) => `${kind}s`))].join(", ");
  const sum = props.reduce((count, fleet) => count + fleet.count, 0);
  const ids = props.flatMap((fleet) => fleet.ids);
  return [
    ...roster.fleets.filter((fleet) => !isProp(fleet)),
    { ...first, name: PROPS, model: kinds, single: false, count: sum, ids, members: [] },
  ];
}

/** Rows of the group of props; null: the rows of a fleet follow each other. */
function rowsOf(roster: Roster, fleet: Fleet): readonly number[] | null {
  if (fleet.name !== PROPS) return null;
  return roster.fleets.filter(isProp).flatMap(({ first, count }) => Array.from({ length: count }, (_, k) => first + k));
}

function firstOf(block: Block | undefined): TreeLine | undefined {
  if (block === undefined) return undefined;
  return { fleet: block.fleet, row: block.rows?.[0] ?? null };
}

function blockOf(roster: Roster, fleet: Fleet, first: number, open: boolean, wanted: string): Block | null {
  const words = [fleet.name, fleet.kind, fleet.model];
  const whole = wanted === "" || words.some((word) => word.toLowerCase().includes(wanted));
  if (whole) return { fleet, first, rows: rowsOf(roster, fleet), shown: open && !fleet.single ? fleet.count : 0 };
  if (fleet.single) return null;
  const rows = matching(roster, fleet, wanted);
  return rows.length > 0 ? { fleet, first, rows, shown: rows.length } : null;
}

function matching(roster: Roster, fleet: Fleet, wanted: string): number[] {
  const rows: number[] = [];
  if (!couldMatch(fleet.name, wanted)) return rows;
  for (let row = fleet.first; row < fleet.first + fleet.count && rows.length < MOST_FOUND; row++) {
    if (roster.nameAt(row).toLowerCase().includes(wanted)) rows.push(row);
  }
  return rows;
}

/** Vehicles are named `name[17]`: without digits or brackets in the query only the fleet's name can match. */
function couldMatch(name: string, wanted: string): boolean {
  if (!/[\d[\]]/.test(wanted)) return false;
  const bracket = wanted.indexOf("[");
  return bracket <= 0 || name.toLowerCase().endsWith(wanted.slice(0, bracket));
}

function lineAt(blocks: readonly Block[], line: number): TreeLine | undefined {
  let low = 0;
  let high = blocks.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((blocks[middle] as Block).first <= line) low = middle;
    else high = middle - 1;
  }
  const block = blocks[low];
  if (block === undefined || line < block.first || line > block.first + block.shown) return undefined;
  const { fleet } = block;
  if (line === block.first) return { fleet, row: null };
  const at = line - block.first - 1;
  return { fleet, row: block.rows ? (block.rows[at] as number) : fleet.first + at };
}

function lineOf(blocks: readonly Block[], row: number): number {
  const block = blocks.find(({ fleet, rows }) =>
    rows && fleet.name === PROPS ? rows.includes(row) : row >= fleet.first && row < fleet.first + fleet.count,
  );
  if (block === undefined) return -1;
  const at = block.rows ? block.rows.indexOf(row) : row - block.fleet.first;
  if (block.shown === 0) return block.first;
  return at < 0 ? -1 : block.first + 1 + at;
}

// state --------------------------------------------------------------------------------------------------------------

interface Tree {
  lines: TreeLines;
  query: Signal<string>;
  active: Signal<number>; // line with the keyboard focus; -1: none
  reveal: Signal<{ readonly line: number } | null>;
  isOpen(fleet: string): boolean;
  toggle(fleet: string): void;
  onKey(event: KeyboardEvent): void;
  /** Select the first match; if it is selected, look at it. */
  onFound(): void;
}

export function useTree(): Tree {
  const query = useSignal("");
  const open = useSignal<ReadonlySet<string>>(new Set());
  const active = useSignal(-1);
  const reveal = useSignal<{ readonly line: number } | null>(null);
  const present = roster.value;
  const lines = useMemo(() => treeLines(present, open.value, query.value), [present, open.value, query.value]);
  const toggle = (name: string) => {
    const next = new Set(open.value);
    if (!next.delete(name)) next.add(name);
    open.value = next;
  };
  const goTo = (line: number) => {
    active.value = line;
    reveal.value = { line };
  };
  usePicked(open, query, goTo);
  const isOpen = (name: string) => open.value.has(name);
  const onKey = (event: KeyboardEvent) => {
    const move = moveFor(event.key, Math.min(active.value, lines.count - 1), lines, isOpen);
    if (move === null || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation(); // otherwise the arrow keys would also move the camera
    if ("toggle" in move) toggle(move.toggle);
    else if ("choose" in move) pickIds(idsAt(present, move.choose), event.shiftKey);
    else goTo(move.line);
  };
  const onFound = () => {
    if (query.value.trim() !== "" && lines.first) chooseOrLook(idsAt(present, lines.first));
  };
  return { lines, query, active, reveal, isOpen, toggle, onKey, onFound };
}

/** The action of a key at a line. */
type Move = { line: number } | { toggle: string } | { choose: TreeLine };

export function moveFor(key: string, at: number, lines: TreeLines, isOpen: (fleet: string) => boolean): Move | null {
  const here = lines.at(at);
  if (key === "ArrowDown") return { line: Math.min(at + 1, lines.count - 1) };
  if (key === "ArrowUp") return { line: Math.max(at - 1, 0) };
  if (key === "Home") return { line: 0 };
  if (key === "End") return { line: lines.count - 1 };
  if (here === undefined) return null;
  if (key === "Enter" || key === " ") return { choose: here };
  const { fleet, row } = here;
  const opened = row === null && isOpen(fleet.name);
  if (key === "ArrowRight" && row === null && !fleet.single) return opened ? { line: at + 1 } : { toggle: fleet.name };
  if (key !== "ArrowLeft") return null;
  if (row !== null) return { line: lines.lineOfFleet(fleet.name) };
  return opened ? { toggle: fleet.name } : null;
}

function chooseOrLook(ids: readonly number[]): void {
  const [first] = ids;
  const chosen = selection.value.size === ids.length && ids.every((id) => selection.value.has(id));
  if (chosen && first !== undefined) lookAt(first);
  else pickIds(ids, false);
}

function idsAt(present: Roster, { fleet, row }: TreeLine): number[] {
  if (row === null) return idsOf(fleet.ids);
  const id = present.idAt(row);
  return id === undefined ? [] : [id];
}

/** The fleet, or the group of props, under which a row is listed. */
function lineFleet(present: Roster, row: number): Fleet | undefined {
  const fleet = present.fleetAt(row);
  return fleet && (grouped(present).find(({ name }) => name === fleet.name) ?? grouped(present).at(-1));
}

/** Scroll to a vehicle picked elsewhere and expand its fleet. */
function usePicked(open: Signal<ReadonlySet<string>>, query: Signal<string>, goTo: (line: number) => void): void {
  const before = useRef(0); // number of selected vehicles
  useSignalEffect(() => {
    const id = focus.value;
    const { size } = selection.value;
    const single = size === 1 || size === before.current + 1; // not for whole fleets or large boxes
    before.current = size;
    const present = roster.peek();
    const row = id === null ? undefined : present.rowOfId(id);
    const fleet = row === undefined ? undefined : lineFleet(present, row);
    if (!single || row === undefined || fleet === undefined) return;
    if (!fleet.single && !open.peek().has(fleet.name)) open.value = new Set([...open.peek(), fleet.name]);
    goTo(treeLines(present, open.peek(), query.peek()).lineOf(row));
  });
}
