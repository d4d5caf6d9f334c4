// The lines of the fleet tree: which fleet or member stands on the n-th line, without listing all members.
import type { Fleet, Roster } from "../state/roster";

export type TreeLine = { fleet: Fleet; row: null } | { fleet: Fleet; row: number };

interface Block {
  fleet: Fleet;
  first: number; // line of the fleet itself
  rows: readonly number[] | null; // rows of the members found; null: all of them
  shown: number; // how many members have lines
}

export interface TreeLines {
  count: number;
  at(line: number): TreeLine | undefined;
  /** The line of a row; that of its fleet while the fleet is closed; -1: it has none. */
  lineOf(row: number): number;
  lineOfFleet(name: string): number;
  /** The first that matches: a fleet, or one of its members where only that does. */
  first: TreeLine | undefined;
  found: number; // vehicles that match
}

const MOST_FOUND = 2000; // matching members listed per fleet

/** Lines for a roster; `query` filters fleets by name, kind and model, and members by name. */
export function treeLines(roster: Roster, open: ReadonlySet<string>, query: string): TreeLines {
  const wanted = query.trim().toLowerCase();
  const blocks: Block[] = [];
  let count = 0;
  let found = 0;
  for (const fleet of roster.fleets) {
    const block = blockOf(roster, fleet, count, open.has(fleet.name), wanted);
    if (block === null) continue;
    blocks.push(block);
    count += 1 + block.shown;
    found += block.rows?.length ?? fleet.count;
  }
  return {
    count,
    found,
    at: (line) => lineAt(blocks, line),
    lineOf: (row) => lineOf(blocks, row),
    first: firstOf(blocks[0]),
    lineOfFleet: (name) => blocks.find(({ fleet }) => fleet.name === name)?.first ?? -1,
  };
}

function firstOf(block: Block | undefined): TreeLine | undefined {
  if (block === undefined) return undefined;
  return { fleet: block.fleet, row: block.rows?.[0] ?? null };
}

function blockOf(roster: Roster, fleet: Fleet, first: number, open: boolean, wanted: string): Block | null {
  const words = [fleet.name, fleet.kind, fleet.model];
  const whole = wanted === "" || words.some((word) => word.toLowerCase().includes(wanted));
  if (whole) return { fleet, first, rows: null, shown: open && !fleet.single ? fleet.count : 0 };
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

/** Members are called `name[17]`: without digits or brackets in the query only the fleet's name can match. */
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
  const block = blocks.find(({ fleet }) => row >= fleet.first && row < fleet.first + fleet.count);
  if (block === undefined) return -1;
  const at = block.rows ? block.rows.indexOf(row) : row - block.fleet.first;
  if (block.shown === 0) return block.first;
  return at < 0 ? -1 : block.first + 1 + at;
}
