// The fleet tree's state: what is open, which line has the keys, and bringing into sight what was picked in the world.
import { type Signal, useSignal, useSignalEffect } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import type { Roster } from "../state/roster";
import { focus, roster, selection } from "../state/store";
import { idsOf, lookAt, pickIds } from "./actions";
import { type TreeLine, type TreeLines, treeLines } from "./fleetlines";

export interface Tree {
  lines: TreeLines;
  query: Signal<string>;
  active: Signal<number>; // line that has the keys; -1: none yet
  reveal: Signal<{ readonly line: number } | null>;
  isOpen(fleet: string): boolean;
  toggle(fleet: string): void;
  onKey(event: KeyboardEvent): void;
  /** Choose the first that was found; when it is chosen already, look at it. */
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
    event.stopPropagation(); // else the arrows would turn the world, too
    if ("toggle" in move) toggle(move.toggle);
    else if ("choose" in move) pickIds(idsAt(present, move.choose), event.shiftKey);
    else goTo(move.line);
  };
  const onFound = () => {
    if (query.value.trim() !== "" && lines.first) chooseOrLook(idsAt(present, lines.first));
  };
  return { lines, query, active, reveal, isOpen, toggle, onKey, onFound };
}

/** What a key means at a line. */
export type Move = { line: number } | { toggle: string } | { choose: TreeLine };

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

/** One that is picked elsewhere (in the world, by a key) is brought into sight, and its fleet opened. */
function usePicked(open: Signal<ReadonlySet<string>>, query: Signal<string>, goTo: (line: number) => void): void {
  const before = useRef(0); // how many were chosen
  useSignalEffect(() => {
    const id = focus.value;
    const { size } = selection.value;
    const one = size === 1 || size === before.current + 1; // a whole fleet or a box full is not looked for
    before.current = size;
    const present = roster.peek();
    const row = id === null ? undefined : present.rowOfId(id);
    const fleet = row === undefined ? undefined : present.fleetAt(row);
    if (!one || row === undefined || fleet === undefined) return;
    if (!fleet.single && !open.peek().has(fleet.name)) open.value = new Set([...open.peek(), fleet.name]);
    goTo(treeLines(present, open.peek(), query.peek()).lineOf(row));
  });
}
