// What could be written at the cursor: keys and values from the schema, models and presets from the server.
import type { ModelTree } from "../net/schema";
import type { Cursor, Entry, Path } from "./outline";
import { scan } from "./scan";
import { choicesAt, describe, keysAt, opens, type Schema } from "./schema";

export interface Knowledge {
  schema: Schema;
  models: readonly ModelTree[];
}

export interface Suggestion {
  label: string;
  detail: string; // beside it, short
  info: string; // what it is
  kind: "property" | "value";
  insert: string;
  required: boolean;
}

export interface Suggestions {
  from: number;
  options: Suggestion[];
}

export function suggest(text: string, offset: number, known: Knowledge): Suggestions | null {
  const { entries, cursor } = scan(text, offset);
  if (!cursor) return null;
  const options = cursor.place === "key" ? atKey(cursor, entries, known) : valuesFor(cursor.path, entries, known);
  return options.length > 0 ? { from: cursor.from, options } : null;
}

/** Keys that are not there yet; where nothing is there yet, a value could stand as well. */
function atKey(cursor: Cursor, entries: readonly Entry[], known: Knowledge): Suggestion[] {
  const present = childrenOf(entries, cursor.path).filter((entry) => !within(entry, cursor.from));
  const taken = new Set(present.map((entry) => entry.path.at(-1)));
  const keys = keyNames(cursor.path, known).filter(({ label }) => !taken.has(label));
  return present.length > 0 || cursor.flow ? keys : [...keys, ...valuesFor(cursor.path, entries, known)];
}

function keyNames(path: Path, { schema }: Knowledge): Suggestion[] {
  return [...keysAt(schema, path)].map(([label, { required }]) => {
    const here = [...path, label];
    const insert = opens(schema, here) ? `${label}:` : `${label}: `;
    const detail = required ? "required" : "";
    return { label, detail, info: describe(schema, here), kind: "property", insert, required };
  });
}

function valuesFor(path: Path, entries: readonly Entry[], known: Knowledge): Suggestion[] {
  const last = path.at(-1);
  const inEntry = path[0] === "vehicles" && path.length === 3;
  if (inEntry && last === "model") return known.models.map(({ model, kind, summary }) => value(model, kind, summary));
  if (inEntry && last === "preset") return presetsFor(path.slice(0, -1), entries, known.models);
  return choicesAt(known.schema, path).map((choice) => value(choice.value, "", choice.description));
}

/** The presets of the model that stands in the same entry; of all models while there is none. */
function presetsFor(entry: Path, entries: readonly Entry[], models: readonly ModelTree[]): Suggestion[] {
  const written = childrenOf(entries, entry).find(({ path }) => path.at(-1) === "model")?.value ?? "";
  const meant = models.filter(({ model }) => model === written);
  const from = meant.length > 0 ? meant : models;
  return from.flatMap(({ model, presets }) => presets.map((preset) => value(preset, model, `A preset of ${model}.`)));
}

function value(label: string, detail: string, info: string): Suggestion {
  return { label, detail, info, kind: "value", insert: label, required: false };
}

function childrenOf(entries: readonly Entry[], parent: Path): Entry[] {
  return entries.filter(({ path }) => path.length === parent.length + 1 && parent.every((step, k) => step === path[k]));
}

function within(entry: Entry, offset: number): boolean {
  return offset >= entry.from && offset <= entry.to;
}

export interface Doc {
  from: number;
  to: number;
  title: string;
  text: string;
}

/** What the key or value at a place means. */
export function docAt(text: string, offset: number, known: Knowledge): Doc | null {
  const { entries } = scan(text);
  const key = entries.find((entry) => within(entry, offset));
  if (key) return documented(key.from, key.to, String(key.path.at(-1)), describe(known.schema, key.path));
  const inValue = ({ value, valueFrom }: Entry): boolean => offset >= valueFrom && offset <= valueFrom + value.length;
  const beside = entries.find((entry) => entry.value !== "" && inValue(entry));
  if (!beside) return null;
  const meant = valuesFor(beside.path, entries, known).find(({ label }) => label === beside.value);
  return meant ? documented(beside.valueFrom, beside.valueFrom + beside.value.length, meant.label, meant.info) : null;
}

function documented(from: number, to: number, title: string, text: string): Doc | null {
  return text === "" ? null : { from, to, title, text };
}
