// What tests and benchmarks may look at from outside, as window.paddock.
import * as store from "./store";

type Exposed = Record<string, unknown>;

/** Add to window.paddock. */
export function expose(parts: Exposed): void {
  const page = globalThis as { paddock?: Exposed };
  page.paddock = Object.assign(page.paddock ?? { store }, parts);
}
