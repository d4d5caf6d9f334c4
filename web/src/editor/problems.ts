// Where a problem is in the text: the server counts lines and columns from 1.
import type { ProblemTree } from "../net/schema";

export interface Place {
  from: number;
  to: number;
}

const WORD_END = /[\s,:#[\]{}]/;

/** The word at a line and column; never empty unless the text is, never outside. */
export function placeOf(text: string, { line, column }: ProblemTree): Place {
  const lines = text.split("\n");
  const row = Math.min(Math.max(line, 1), lines.length) - 1;
  const start = lines.slice(0, row).reduce((sum, one) => sum + one.length + 1, 0);
  const words = lines[row] ?? "";
  const from = Math.min(Math.max(column, 1) - 1, words.length);
  const rest = words.slice(from);
  const length = Math.max(rest.search(WORD_END) < 0 ? rest.length : rest.search(WORD_END), 1);
  const to = Math.min(from + length, words.length);
  // past the end of the line (something is missing there): mark its last letter
  return to > from ? { from: start + from, to: start + to } : { from: start + Math.max(0, from - 1), to: start + from };
}
