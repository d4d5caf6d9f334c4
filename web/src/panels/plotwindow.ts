// Which stretch of simulated time the plots show: the newest, a held one, or one that was zoomed into.
import { signal } from "@preact/signals";
import { persisted } from "../state/persist";
import { memory } from "./plotfeed";

export const WINDOWS = [5, 15, 30, 60, 180, 300] as const; // s
export const windowLength = signal(30);
/** The moment at which the plots are held; null: they go on. */
export const held = signal<number | null>(null);
export const zoom = signal<readonly [number, number] | null>(null);

persisted(windowLength, "plots.window");

export function shownRange(): readonly [number, number] {
  if (zoom.value !== null) return zoom.value;
  const end = held.value ?? memory.last;
  const start = Number.isFinite(end) ? Math.max(0, end - windowLength.value) : 0;
  return [start, start + windowLength.value];
}

/** Zooming holds the plots as well: what is looked at must not run away. */
export function zoomTo(start: number, end: number): void {
  if (end - start <= 0) return;
  held.value ??= memory.last;
  zoom.value = [start, end];
}

export function resetZoom(): void {
  zoom.value = null;
  held.value = null;
}
