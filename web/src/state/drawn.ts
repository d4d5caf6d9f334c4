// Counts pictures; whoever must go on after each drawing is told from here.
const after = new Set<() => void>();
let count = 0;

/** A source says that it was looked at for a drawing. */
export function drew(): void {
  count += 1;
  for (const callback of after) callback();
}

export function onDrawn(callback: () => void): () => void {
  after.add(callback);
  return () => after.delete(callback);
}

/** Pictures since the page was opened. */
export function pictures(): number {
  return count;
}
