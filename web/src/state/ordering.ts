// Orders on their way: given here, not answered yet.
import { signal } from "@preact/signals";
import type { Behaviour } from "./methods";

export interface Ordering {
  ids: ReadonlySet<number>;
  words: string; // what they were told
}

export const ordering = signal<readonly Ordering[]>([]);

/** An order is on its way until the returned function is called. */
export function orderSent(ids: readonly number[], behaviour: Behaviour): () => void {
  const sent = { ids: new Set(ids), words: wordsOf(behaviour) };
  ordering.value = [...ordering.peek(), sent];
  return () => {
    ordering.value = ordering.peek().filter((one) => one !== sent);
  };
}

/** What a vehicle is being told; "": nothing. */
export function orderedNow(id: number): string {
  return ordering.value.findLast(({ ids }) => ids.has(id))?.words ?? "";
}

function wordsOf(behaviour: Behaviour): string {
  if (behaviour === null) return "its own behaviour";
  if (behaviour === "external") return "to take commands";
  return typeof behaviour === "string" ? behaviour : (Object.keys(behaviour)[0] ?? "");
}
