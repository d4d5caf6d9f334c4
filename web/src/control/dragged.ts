// What is being dragged at the moment, so that Escape can take it back.
let cancelled: (() => void) | null = null;

/** Something is dragged; `cancel` takes it back. null: nothing is. */
export function setDragged(cancel: (() => void) | null): void {
  cancelled = cancel;
}

/** Take back what is dragged; false when nothing is. */
export function cancelDragged(): boolean {
  const cancel = cancelled;
  cancelled = null;
  cancel?.();
  return cancel !== null;
}
