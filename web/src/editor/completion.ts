// Completions at the cursor: keys and values from the JSON schema, models and presets from the server.
import { call } from "../net/connection";
import type { ModelTree } from "../wire/schema";
import { type Cursor, type Entry, entriesOf, type Path, placeAt } from "./yaml-scan";

export interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: boolean | Schema;
  readonly prefixItems?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
}

const DEEPEST = 12; // limits circular references

/** A schema with references resolved and alternatives listed. */
function branches(root: Schema, schema: Schema, depth = 0): Schema[] {
  if (depth > DEEPEST) return [];
  const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  const referred = schema.$ref === undefined ? undefined : definition(root, schema.$ref);
  if (referred) parts.push(referred);
  return [schema, ...parts.flatMap((part) => branches(root, part, depth + 1))];
}

function definition(root: Schema, reference: string): Schema | undefined {
  const name = /^#\/\$defs\/(.+)$/.exec(reference)?.[1];
  return name === undefined || !Object.hasOwn(root.$defs ?? {}, name) ? undefined : root.$defs?.[name];
}

/** All schemas that apply to a path. */
function schemasAt(root: Schema, path: Path): Schema[] {
  let here = branches(root, root);
  for (const step of path) {
    here = here.flatMap((schema) => below(schema, step)).flatMap((schema) => branches(root, schema));
  }
  return here;
}

function below(schema: Schema, step: string | number): Schema[] {
  if (typeof step === "number") {
    const item = schema.prefixItems?.[step] ?? schema.items;
    return typeof item === "object" ? [item] : [];
  }
  if (schema.properties && Object.hasOwn(schema.properties, step)) return [schema.properties[step] as Schema];
  return typeof schema.additionalProperties === "object" ? [schema.additionalProperties] : [];
}

/** The keys allowed at a path. */
function keysAt(root: Schema, path: Path): Map<string, { schema: Schema; required: boolean }> {
  const keys = new Map<string, { schema: Schema; required: boolean }>();
  for (const schema of schemasAt(root, path)) {
    for (const [key, value] of Object.entries(schema.properties ?? {})) {
      keys.set(key, { schema: value, required: schema.required?.includes(key) ?? false });
    }
  }
  return keys;
}

interface Choice {
  value: string;
  description: string;
}

/** The values allowed at a path, if they can be listed. */
function choicesAt(root: Schema, path: Path): Choice[] {
  const choices = new Map<string, Choice>();
  const add = (value: unknown, description = ""): void => {
    if (value !== null && typeof value !== "object") choices.set(String(value), { value: String(value), description });
  };
  for (const schema of schemasAt(root, path)) {
    for (const value of schema.enum ?? []) add(value);
    if (schema.const !== undefined) add(schema.const, schema.description);
    if (schema.type === "boolean") for (const value of [true, false]) add(value);
  }
  return [...choices.values()];
}

/** The schema's description of a path. */
function describe(root: Schema, path: Path): string {
  const here = schemasAt(root, path);
  const text = here.find((schema) => schema.description)?.description ?? "";
  const known = here.find((schema) => schema.default !== undefined && schema.default !== null);
  const choices = choicesAt(root, path).map(({ value }) => value);
  const lines = [text];
  if (choices.length > 0 && choices.length <= 12) lines.push(`One of: ${choices.join(", ")}`);
  if (known) lines.push(`Default: ${JSON.stringify(known.default)}`);
  return lines.filter((line) => line !== "").join("\n");
}

/** Whether a key opens a mapping or list below it. */
function opens(root: Schema, path: Path): boolean {
  const types = schemasAt(root, path).flatMap((schema) => schema.type ?? []);
  const inner = types.filter((type) => type === "object" || type === "array");
  return inner.length > 0 && types.every((type) => type === "object" || type === "array" || type === "null");
}

// completions --------------------------------------------------------------------------------------------------------

export interface CompletionData {
  schema: Schema;
  models: readonly ModelTree[];
}

export interface Suggestion {
  label: string;
  detail: string; // short, beside the label
  info: string; // description
  kind: "property" | "value";
  insert: string;
  required: boolean;
}

interface Suggestions {
  from: number;
  options: Suggestion[];
}

export function suggest(text: string, offset: number, known: CompletionData): Suggestions | null {
  const position = placeAt(text, offset);
  if (!position) return null;
  const { cursor, entries } = position;
  const options = cursor.place === "key" ? atKey(cursor, entries, known) : valuesFor(cursor.path, entries, known);
  return options.length > 0 ? { from: cursor.from, options } : null;
}

/** Keys not used yet; in an empty place also values. */
function atKey(cursor: Cursor, entries: readonly Entry[], known: CompletionData): Suggestion[] {
  const present = childrenOf(entries, cursor.path).filter((entry) => !within(entry, cursor.from));
  const taken = new Set(present.map((entry) => entry.path.at(-1)));
  const keys = keyNames(cursor.path, known).filter(({ label }) => !taken.has(label));
  return present.length > 0 || cursor.flow ? keys : [...keys, ...valuesFor(cursor.path, entries, known)];
}

function keyNames(path: Path, { schema }: CompletionData): Suggestion[] {
  return [...keysAt(schema, path)].map(([label, { required }]) => {
    const here = [...path, label];
    const insert = opens(schema, here) ? `${label}:` : `${label}: `;
    const detail = required ? "required" : "";
    return { label, detail, info: describe(schema, here), kind: "property", insert, required };
  });
}

function valuesFor(path: Path, entries: readonly Entry[], known: CompletionData): Suggestion[] {
  const last = path.at(-1);
  const inEntry = path[0] === "vehicles" && path.length === 3;
  if (inEntry && last === "model") return known.models.map(({ model, kind, summary }) => value(model, kind, summary));
  if (inEntry && last === "preset") return presetsFor(path.slice(0, -1), entries, known.models);
  return choicesAt(known.schema, path).map((choice) => value(choice.value, "", choice.description));
}

/** The presets of the model in the same entry; of all models if it has none. */
function presetsFor(entry: Path, entries: readonly Entry[], models: readonly ModelTree[]): Suggestion[] {
  const written = childrenOf(entries, entry).find(({ path }) => path.at(-1) === "model")?.value ?? "";
  const meant = models.filter(({ model }) => model === written);
  const from = meant.length > 0 ? meant : models;
  return from.flatMap(({ model, presets }) => presets.map((preset) => value(preset, model, `A preset of ${model}`)));
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

/** Documentation of the key or value at an offset. */
export function docAt(text: string, offset: number, known: CompletionData): Doc | null {
  const entries = entriesOf(text);
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

// server data --------------------------------------------------------------------------------------------------------

let completionData: Promise<CompletionData> | null = null;

export function requestCompletionData(): Promise<CompletionData> {
  completionData ??= load().catch((error: unknown) => {
    completionData = null; // the next request tries again
    throw error;
  });
  return completionData;
}

async function load(): Promise<CompletionData> {
  const [schema, { models }] = await Promise.all([call("get_schema", {}), call("list_models", {})]);
  return { schema: schema as Schema, models };
}
