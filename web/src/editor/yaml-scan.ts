// The keys of incomplete YAML text and the cursor's place among them, for completion; read by the editor's own parser.
import { yamlLanguage } from "@codemirror/lang-yaml";

export type Path = readonly (string | number)[];
type Node = ReturnType<typeof yamlLanguage.parser.parse>["topNode"];

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

/** A section of the text, from a key at the left margin to the next. */
interface Section {
  text: string;
  from: number;
  root: Node;
}

/** The sections are parsed one by one: an unclosed bracket in one does not affect the next. */
function sectionsOf(text: string): Section[] {
  let from = 0;
  return text.split(/^(?=[A-Za-z_]\w*:(?:\s|$))/m).map((part) => {
    const section = { text: part, from, root: yamlLanguage.parser.parse(part).topNode };
    from += part.length;
    return section;
  });
}

/** List the keys of a text. */
export function entriesOf(text: string): Entry[] {
  return sectionsOf(text).flatMap(sectionEntries);
}

function sectionEntries({ text, from, root }: Section): Entry[] {
  const entries: Entry[] = [];
  root.cursor().iterate(({ node }) => {
    const pair = node.parent;
    if (node.name !== "Key" || pair?.name !== "Pair") return;
    const value = scalarOf(pair);
    entries.push({
      path: [...pathTo(pair, text), unquoted(text.slice(node.from, node.to))],
      from: from + node.from,
      to: from + node.to,
      value: value ? unquoted(text.slice(value.from, value.to)) : "",
      valueFrom: from + (value ?? pair).from,
    });
  });
  return entries;
}

function scalarOf(pair: Node): Node | null {
  let value = pair.lastChild;
  while (value?.name === "Anchored" || value?.name === "Tagged") value = value.lastChild;
  return value && /Literal$/.test(value.name) && value.name !== "BlockLiteral" ? value : null;
}

/** The keys and list indices that lead to a node. */
function pathTo(node: Node, text: string): Path {
  const path: (string | number)[] = [];
  for (let [below, at] = [node, node.parent]; at; [below, at] = [at, at.parent]) {
    const key = at.name === "Pair" && below.name !== "Key" ? at.getChild("Key") : null;
    if (key) path.unshift(unquoted(text.slice(key.from, key.to)));
    if (at.name === "Item") path.unshift(at.parent?.getChildren("Item").findIndex(({ from }) => from === at.from) ?? 0);
  }
  return path;
}

/** A scalar without its quotes. */
function unquoted(value: string): string {
  return /^(["'])(.*)\1$/.exec(value)?.[2] ?? value;
}

// cursor -------------------------------------------------------------------------------------------------------------

/** A text with a word inserted at the cursor, and the node that contains the word. */
interface Probe {
  section: Section;
  entries: Entry[];
  node: Node;
  flow: boolean;
}

function probe(text: string, offset: number, word: string): Probe {
  const sections = sectionsOf(text.slice(0, offset) + word + text.slice(offset));
  const section = sections.findLast(({ from }) => from <= offset) as Section;
  const node = section.root.resolveInner(offset - section.from, 1);
  let flow = false;
  for (let at = node.parent; at; at = at.parent) flow ||= /^Flow/.test(at.name);
  return { section, entries: sections.flatMap(sectionEntries), node, flow };
}

/** Find the cursor's place, and the keys around it; null: none, as in a comment. */
export function placeAt(text: string, offset: number): { cursor: Cursor; entries: Entry[] } | null {
  const before = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  const after = /^[^\n#]*/.exec(text.slice(offset))?.[0] ?? "";
  const first = /^\s*(?:- +)*[^\s:#]*$/.test(before); // the first word of its line: a key, perhaps without its colon
  let probed = probe(text, offset, "x");
  const block = !probed.flow && !/^(Comment|BlockLiteral)/.test(probed.node.name);
  if (first && block && after.trim() === "") probed = probe(text, offset, "x:");
  const { section, entries, node, flow } = probed;
  const from = section.from + node.from;
  const prefix = text.slice(from, offset);
  const holder = node.parent;
  if (!/^(Quoted)?Literal$/.test(node.name) || !holder || prefix.includes("\n")) return null;
  if (!/^(Key|Pair|Item|Anchored|Tagged)$/.test(holder.name)) return null;
  const key = holder.name === "Key";
  const path = pathTo(key ? (holder.parent as Node) : node, section.text);
  return { cursor: { path, place: key || (first && block) ? "key" : "value", from, prefix, flow }, entries };
}
