// Walking a JSON schema: what may stand at a place of a document, with all alternatives side by side.
import type { Path } from "./outline";

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

const DEEPEST = 12; // references that lead back to themselves end somewhere

/** A schema with its references followed and its alternatives taken apart. */
export function branches(root: Schema, schema: Schema, depth = 0): Schema[] {
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

/** Everything that the schema says about a place. */
export function schemasAt(root: Schema, path: Path): Schema[] {
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

/** The keys that may stand at a place. */
export function keysAt(root: Schema, path: Path): Map<string, { schema: Schema; required: boolean }> {
  const keys = new Map<string, { schema: Schema; required: boolean }>();
  for (const schema of schemasAt(root, path)) {
    for (const [key, value] of Object.entries(schema.properties ?? {})) {
      keys.set(key, { schema: value, required: schema.required?.includes(key) ?? false });
    }
  }
  return keys;
}

export interface Choice {
  value: string;
  description: string;
}

/** The values that a place may have, where they can be listed. */
export function choicesAt(root: Schema, path: Path): Choice[] {
  const found = new Map<string, Choice>();
  const add = (value: unknown, description = ""): void => {
    if (value !== null && typeof value !== "object") found.set(String(value), { value: String(value), description });
  };
  for (const schema of schemasAt(root, path)) {
    for (const value of schema.enum ?? []) add(value);
    if (schema.const !== undefined) add(schema.const, schema.description);
    if (schema.type === "boolean") for (const value of [true, false]) add(value);
  }
  return [...found.values()];
}

/** What the schema tells about a place, in words. */
export function describe(root: Schema, path: Path): string {
  const here = schemasAt(root, path);
  const text = here.find((schema) => schema.description)?.description ?? "";
  const known = here.find((schema) => schema.default !== undefined && schema.default !== null);
  const choices = choicesAt(root, path).map(({ value }) => value);
  const lines = [text];
  if (choices.length > 0 && choices.length <= 12) lines.push(`One of: ${choices.join(", ")}`);
  if (known) lines.push(`Default: ${JSON.stringify(known.default)}`);
  return lines.filter((line) => line !== "").join("\n");
}

/** Whether something further belongs below a key (a mapping or a list), not beside it. */
export function opens(root: Schema, path: Path): boolean {
  const types = schemasAt(root, path).flatMap((schema) => schema.type ?? []);
  const inner = types.filter((type) => type === "object" || type === "array");
  return inner.length > 0 && types.every((type) => type === "object" || type === "array" || type === "null");
}
