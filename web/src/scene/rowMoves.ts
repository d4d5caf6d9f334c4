// Rows shift when vehicles come or go: what is kept by row (level of detail, wheels) moves along with its vehicle.
import type { Roster } from "../state/roster";

const MOST = 5_000; // vehicles: of more, what is kept begins anew, which nobody can see

/** Pairs of rows, before and after, of those who stay. */
export function moves(before: Roster | null, after: Roster): [from: number, to: number][] {
  if (before === null || after.size > MOST) return [];
  const pairs: [number, number][] = [];
  for (let to = 0; to < after.size; to++) {
    const id = after.idAt(to);
    const from = id === undefined ? undefined : before.rowOfId(id);
    if (from !== undefined) pairs.push([from, to]);
  }
  return pairs;
}

/** Values of the rows that stay, in their new places. */
export function moved<T extends Uint8Array | Float32Array>(values: T, into: T, rows: readonly (readonly [number,
  number])[]): T {
  for (const [from, to] of rows) if (to < into.length) into[to] = values[from] ?? 0;
  return into;
}
