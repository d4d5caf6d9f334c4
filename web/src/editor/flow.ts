// Reads a flow collection ({...} or [...]) of YAML, also one that is not closed yet; it may span lines.
import { type Cursor, type Entry, type Path, unquoted } from "./outline";

interface Frame {
  closing: "}" | "]";
  key: string | null;
  index: number;
}

export class FlowReader {
  readonly entries: Entry[] = [];
  cursor: Cursor | null = null;
  private readonly frames: Frame[] = [];
  private word = -1; // where the scalar being read begins; -1: none
  private wordEnd = -1;
  private pending: Entry | null = null; // the last key, whose value is still to come

  constructor(
    private readonly text: string,
    private at: number,
    private readonly offset: number,
    private readonly base: Path,
  ) {}

  /** Where it ends: behind the last bracket, or at the end of the line where it is cut off. */
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

  /** A line that begins with a key at the left is no part of this: the bracket was never closed. */
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
