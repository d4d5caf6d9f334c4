// What the server knows about scenarios, asked once for each server: the schema and the models.
import { call } from "../net/link";
import type { Schema } from "./schema";
import type { Knowledge } from "./suggest";

let asked: Promise<Knowledge> | null = null;

export function askKnowledge(): Promise<Knowledge> {
  asked ??= ask().catch((error: unknown) => {
    asked = null; // the next one tries again
    throw error;
  });
  return asked;
}

async function ask(): Promise<Knowledge> {
  const [schema, { models }] = await Promise.all([call("get_schema", {}), call("list_models", {})]);
  return { schema: schema as Schema, models };
}
