// Asks the server what is wrong with the text, a moment after the last change; only the newest question counts.
import { signal } from "@preact/signals";
import { call } from "../net/link";
import type { ProblemTree } from "../net/schema";
import { reasonOf } from "../state/caller";

export type Verdict =
  | { state: "checking" }
  | { state: "checked"; problems: readonly ProblemTree[] }
  | { state: "unknown"; reason: string }; // the server did not answer

const QUIET = 300; // ms

export const verdict = signal<Verdict>({ state: "checking" });
let newest = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Check a text soon. */
export function checkSoon(text: string): void {
  clearTimeout(timer);
  newest += 1;
  verdict.value = { state: "checking" };
  timer = setTimeout(() => void checkNow(text), QUIET);
}

/** Check it at once; what was found. */
export async function checkNow(text: string): Promise<Verdict> {
  clearTimeout(timer);
  const mine = ++newest;
  const found = await ask(text);
  if (mine === newest) verdict.value = found;
  return found;
}

async function ask(text: string): Promise<Verdict> {
  try {
    return { state: "checked", problems: (await call("check_scenario", { text })).problems };
  } catch (error) {
    return { state: "unknown", reason: reasonOf(error) };
  }
}
