// The models that the server can bring in; asked for once per connection.
import type { ModelTree } from "../net/schema";
import { attempt } from "./actions";

let known: readonly ModelTree[] | null = null;

export async function modelList(): Promise<readonly ModelTree[]> {
  if (known !== null) return known;
  const answer = await attempt("Models", "list_models", {});
  if (answer !== null) known = answer.models;
  return known ?? [];
}
