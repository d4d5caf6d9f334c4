// Tolerant YAML scanner for completion: finds the keys of incomplete text and the cursor's place among them.
export type Path = readonly (string | number)[];

/** A key, its range, and its scalar value if any. */
export interface Entry {
  path: Path; // including the key
  from: number;
  to: number;
  value: string;
  valueFrom: number;
}

/** The cursor's place: a key of the mapping at `path`, or the value at `path`. */
export interface Cursor {
  path: Path;
  place: "key" | "value";
  from: number; // start of the word being written
  prefix: string; // the part before the cursor
  flow: boolean; // inside { } or [ ]
}

interface Scan {
  entries: Entry[];
  cursor: Cursor | null; // null: in a comment or a block scalar
}

/** A scalar without its quotes. */
function unquoted(value: string): string {
  const quoted = /^(["'])(.*)\1$/.exec(value);
  return quoted ? (quoted[2] ?? "") : value;
}

// flow collections ---------------------------------------------------------------------------------------------------

interface Frame {
  closing: "}" | "]";
  key: string | null;
  index: number;
}

class FlowReader {
  readonly entries: Entry[] = [];
  cursor: Cursor | null = null;
  private readonly frames: Frame[] = [];
  private word = -1; // start of the current scalar; -1: none
  private wordEnd = -1;
  private pending: Entry | null = null; // the last key, whose value follows

  constructor(
    private readonly text: string,
    private at: number,
    private readonly offset: number,
    private readonly base: Path,
  ) {}

  /** Return the end: behind the last bracket, or the end of the line where it is cut off. */
  read(): number {
    do {
      const start = this.at;
      if (this.cutOff()) {
        this.endWord();
        return start - 1;
      }
      if (start === this.offset && this.frames.length > 0 && this.word < 0) this.mark(start);
      this.step();
    } while (this.frames.length > 0 && this.at < this.text.length);
    const cut = this.frames.length > 0 && this.at === this.offset; // the text ends inside
    if (cut) this.mark(this.word < 0 ? this.at : this.word);
    return this.at;
  }

  private step(): void {
    const char = this.text[this.at] ?? "";
    if (char === "{" || char === "[") this.enter(char);
    else if (char === "}" || char === "]") this.leave();
    else if (char === ",") this.next();
    else if (char === ":" && /[\s,[\]{}]|^$/.test(this.text[this.at + 1] ?? "")) this.colon();
    else if (char === "#" && /\s/.test(this.text[this.at - 1] ?? "")) this.comment();
    else if (/\s/.test(char)) this.space();
    else this.scalar(char);
  }

  /** A line that starts with a key at the left ends an unclosed collection. */
  private cutOff(): boolean {
    if (this.text[this.at - 1] !== "\n") return false;
    return /^(?:[A-Za-z_]\w*:(?:\s|$)|\s*- \w+:(?:\s|$))/.test(this.text.slice(this.at, this.at + 80));
  }

  private enter(char: string): void {
    this.endWord();
    this.frames.push({ closing: char === "{" ? "}" : "]", key: null, index: 0 });
    this.at += 1;
  }

  private leave(): void {
    this.endWord();
    this.frames.pop();
    this.pending = null;
    this.at += 1;
  }

  private next(): void {
    this.endWord();
    this.pending = null;
    const frame = this.frames.at(-1);
    if (frame) {
      frame.key = null;
      frame.index += 1;
    }
    this.at += 1;
  }

  private colon(): void {
    const frame = this.frames.at(-1);
    const [from, to] = [this.word, this.wordEnd < 0 ? this.at : this.wordEnd];
    if (frame?.closing === "}" && from >= 0) {
      this.markWord(to);
      frame.key = unquoted(this.text.slice(from, to));
      this.pending = { path: this.path(), from, to, value: "", valueFrom: this.at + 1 };
      this.entries.push(this.pending);
    }
    this.word = this.wordEnd = -1;
    this.at += 1;
  }

  private comment(): void {
    const end = this.text.indexOf("\n", this.at);
    this.endWord();
    this.at = end < 0 ? this.text.length : end;
  }

  private space(): void {
    if (this.word >= 0 && this.wordEnd < 0) this.wordEnd = this.at;
    this.at += 1;
  }

  private scalar(char: string): void {
    if (this.word < 0) this.word = this.at;
    this.wordEnd = -1;
    const quoted = char === '"' || char === "'" ? this.text.indexOf(char, this.at + 1) : -1;
    this.at = quoted > 0 && this.word === this.at ? quoted + 1 : this.at + 1;
  }

  private endWord(): void {
    if (this.word < 0) return;
    const to = this.wordEnd < 0 ? this.at : this.wordEnd;
    this.markWord(to);
    if (this.pending) {
      this.pending.value = unquoted(this.text.slice(this.word, to));
      this.pending.valueFrom = this.word;
    }
    this.word = this.wordEnd = -1;
  }

  private markWord(to: number): void {
    if (this.offset >= this.word && this.offset <= to) this.mark(this.word);
  }

  private mark(from: number): void {
    const frame = this.frames.at(-1);
    if (this.cursor || !frame) return;
    const place = frame.closing === "}" && frame.key === null ? "key" : "value";
    const path = place === "key" ? this.path(1) : this.path();
    this.cursor = { path, place, from, prefix: this.text.slice(from, this.offset), flow: true };
  }

  private path(without = 0): Path {
    const frames = this.frames.slice(0, this.frames.length - without);
    return [...this.base, ...frames.map(({ closing, key, index }) => (closing === "}" ? (key ?? "") : index))];
  }
}

// block collections --------------------------------------------------------------------------------------------------

interface Level {
  indent: number;
  key: string | null; // null: a list item
  index: number;
  open: boolean; // the key has no value yet: what is indented further belongs to it
}

const KEY = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#:,[\]{}&*!|>'"%@`](?:[^:#]|:(?=\S)|(?<=\S)#)*?)\s*:(?=\s|$)/;
const PROPERTIES = /^(?:[&!][^\s,[\]{}]*\s*)+/; // anchors and tags

/** Scan a text; offset: the cursor (-1: none). */
export function scan(text: string, offset = -1): Scan {
  return new Scanner(text, offset).read();
}

class Scanner {
  private readonly entries: Entry[] = [];
  private readonly levels: Level[] = [];
  private cursor: Cursor | null = null;
  private at = 0; // start of the line
  private textIndent = -1; // deeper lines belong to a block scalar (| or >)

  constructor(
    private readonly text: string,
    private readonly offset: number,
  ) {}

  read(): Scan {
    while (this.at <= this.text.length) {
      const end = endOfLine(this.text, this.at);
      this.at = this.line(this.at, end) + 1;
    }
    return { entries: this.entries, cursor: this.cursor };
  }

  /** Scan one line, or more for a flow collection; return the end of the last one. */
  private line(start: number, end: number): number {
    const line = this.text.slice(start, end);
    const indent = line.length - line.trimStart().length;
    const bare = line.trim();
    if (this.textIndent >= 0 && (bare === "" || indent > this.textIndent)) return end;
    this.textIndent = -1;
    if (bare === "" || bare.startsWith("#")) {
      if (bare === "" && this.has(start, end)) this.mark(this.offset - start, this.offset);
      return end;
    }
    return this.content(start, indent, end);
  }

  private content(start: number, indent: number, end: number): number {
    let column = indent;
    for (let dash = /^-(?:\s+|$)/.exec(this.text.slice(start + column, end)); dash; ) {
      this.item(column);
      column += dash[0].length;
      dash = /^-(?:\s+|$)/.exec(this.text.slice(start + column, end));
    }
    const from = start + column;
    const key = KEY.exec(this.text.slice(from, end));
    if (!key) return this.scalar(column, from, end);
    const name = unquoted(key[1] ?? "");
    if (this.has(from, from + (key[1] ?? "").length)) this.mark(column, from);
    this.key(column, name);
    return this.value(from, from + (key[1] ?? "").length, from + key[0].length, end);
  }

  /** The value beside a key. */
  private value(from: number, to: number, after: number, end: number): number {
    const rest = this.text.slice(after, end);
    const begin = after + (rest.length - rest.trimStart().length);
    const start = begin + (PROPERTIES.exec(this.text.slice(begin, end))?.[0].length ?? 0);
    const value = uncommented(this.text.slice(start, end));
    const level = this.levels.at(-1);
    this.entries.push({ path: this.path(), from, to, value: unquoted(value), valueFrom: start });
    if (level) level.open = value === "";
    if (/^[|>]/.test(value)) this.textIndent = level?.indent ?? 0;
    if (/^[[{]/.test(value)) return this.flow(start);
    // no completion directly behind the colon, before a space
    const inside = this.offset > after && this.has(after, Math.max(start + value.length, begin));
    if (inside && !/^[|>]/.test(value)) this.markValue(start);
    return end;
  }

  /** A line without a key: a list item, a value on its own line, or an incomplete key. */
  private scalar(column: number, from: number, end: number): number {
    const value = uncommented(this.text.slice(from, end));
    if (/^[[{]/.test(value)) return this.flow(from);
    if (this.has(from, from + value.length)) this.mark(column, from);
    return end;
  }

  private flow(start: number): number {
    const reader = new FlowReader(this.text, start, this.offset, this.path());
    const stop = reader.read();
    this.entries.push(...reader.entries);
    this.cursor ??= reader.cursor;
    return endOfLine(this.text, stop);
  }

  private item(column: number): void {
    this.pop((level) => level.indent > column || (level.indent === column && level.key !== null && !level.open));
    const last = this.levels.at(-1);
    if (last && last.indent === column && last.key === null) last.index += 1;
    else this.levels.push({ indent: column, key: null, index: 0, open: true });
  }

  private key(column: number, name: string): void {
    this.pop((level) => level.indent > column || (level.indent === column && level.key === null));
    const last = this.levels.at(-1);
    if (last && last.indent === column) Object.assign(last, { key: name, open: true });
    else this.levels.push({ indent: column, key: name, index: 0, open: true });
  }

  private pop(goes: (level: Level) => boolean): void {
    for (let last = this.levels.at(-1); last && goes(last); last = this.levels.at(-1)) this.levels.pop();
  }

  /** The cursor could start a key at this column. */
  private mark(column: number, from: number): void {
    const holds = (level: Level): boolean => level.indent < column || (level.indent === column && level.key === null);
    const levels = this.levels.filter(holds);
    // deeper than an entry that has a value: a sibling of that entry
    while (levels.at(-1)?.key != null && !levels.at(-1)?.open) levels.pop();
    // at the column of the dashes: a key beside the list
    const dash = levels.at(-1);
    if (dash && dash.key === null && dash.indent === column && from === this.offset) levels.pop();
    const prefix = this.text.slice(from, this.offset);
    this.cursor = { path: levels.map(stepOf), place: "key", from, prefix, flow: false };
  }

  private markValue(start: number): void {
    const from = Math.min(start, this.offset);
    const prefix = this.text.slice(from, this.offset);
    this.cursor = { path: this.path(), place: "value", from, prefix, flow: false };
  }

  private path(): Path {
    return this.levels.map(stepOf);
  }

  private has(from: number, to: number): boolean {
    return this.offset >= from && this.offset <= to;
  }
}

function stepOf(level: Level): string | number {
  return level.key ?? level.index;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}

function uncommented(value: string): string {
  return value.replace(/(^|\s)#.*$/, "").trimEnd();
}
