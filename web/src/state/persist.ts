// Keeps a signal from one visit to the next.
import { effect, type Signal } from "@preact/signals";

const PREFIX = "paddock.";

/** Give the signal what was kept under that name, and keep it when it changes; the returned function ends that. */
export function persisted<T>(
  kept: Signal<T>,
  name: string,
  fits: (value: unknown) => boolean = () => true,
): () => void {
  const saved = read(PREFIX + name);
  if (saved !== undefined && alike(kept.peek(), saved) && fits(saved)) kept.value = merged(kept.peek(), saved as T);
  const atFirst = kept.peek(); // not chosen by anybody: the next window may begin with something else
  let chosen = false;
  return effect(() => {
    chosen ||= kept.value !== atFirst;
    if (chosen) write(PREFIX + name, kept.value);
  });
}

/** An older page may have kept something else under the name. */
function alike(now: unknown, saved: unknown): boolean {
  if (now === null || saved === null) return true;
  return typeof now === typeof saved && Array.isArray(now) === Array.isArray(saved);
}

/** Fields that are new since then have their present value. */
function merged<T>(now: T, saved: T): T {
  const both = [now, saved].every((one) => typeof one === "object" && one !== null && !Array.isArray(one));
  return both ? { ...now, ...saved } : saved;
}

function read(key: string): unknown {
  try {
    const text = localStorage.getItem(key);
    return text === null ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined; // storage is forbidden, or what is there is no JSON
  }
}

function write(key: string, value: unknown): void {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // full or forbidden: the page works without
  }
}
