// Signals stored in the browser between visits.
import { effect, type Signal } from "@preact/signals";

const PREFIX = "paddock.";

/** Restore a signal from storage and store its changes; return a stop function. */
export function persisted<T>(
  kept: Signal<T>,
  name: string,
  fits: (value: unknown) => boolean = () => true,
): () => void {
  const saved = read(PREFIX + name);
  if (saved !== undefined && alike(kept.peek(), saved) && fits(saved)) kept.value = merged(kept.peek(), saved as T);
  const atFirst = kept.peek(); // not chosen by the user: another window may start differently
  let chosen = false;
  return effect(() => {
    chosen ||= kept.value !== atFirst;
    if (chosen) write(PREFIX + name, kept.value);
  });
}

/** An older version of the page may have stored another type. */
function alike(now: unknown, saved: unknown): boolean {
  if (now === null || saved === null) return true;
  return typeof now === typeof saved && Array.isArray(now) === Array.isArray(saved);
}

/** Missing fields keep their present values. */
function merged<T>(now: T, saved: T): T {
  const both = [now, saved].every((side) => typeof side === "object" && side !== null && !Array.isArray(side));
  return both ? { ...now, ...saved } : saved;
}

function read(key: string): unknown {
  try {
    const text = localStorage.getItem(key);
    return text === null ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined; // storage is disabled or contains no JSON
  }
}

function write(key: string, value: unknown): void {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // storage is full or disabled
  }
}
