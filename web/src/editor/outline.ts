// What completion knows of a YAML text: its keys, and where the cursor is among them.

export type Path = readonly (string | number)[];

/** A key, where it stands, and the scalar beside it if there is one. */
export interface Entry {
  path: Path; // with the key
  from: number;
  to: number;
  value: string;
  valueFrom: number;
}

/** Where the cursor is: about to write a key of the mapping at `path`, or the value at `path`. */
export interface Cursor {
  path: Path;
  place: "key" | "value";
  from: number; // where what is being written begins
  prefix: string; // what of it stands before the cursor
  flow: boolean; // inside { } or [ ]
}

export interface Scan {
  entries: Entry[];
  cursor: Cursor | null; // null: in a comment or a block of text
}

/** A scalar without its quotes. */
export function unquoted(value: string): string {
  const quoted = /^(["'])(.*)\1$/.exec(value);
  return quoted ? (quoted[2] ?? "") : value;
}
