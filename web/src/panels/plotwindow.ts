// Which stretch of time the plots show: the newest, that around the place in a recording, or one that is held.
import { signal } from "@preact/signals";
import { persisted } from "../state/persist";
import { source } from "../state/store";
import { memory } from "./plotfeed";
import { held, zoom } from "./plotzoom";
import { isOpened } from "./timelinemodel";

export { held, resetZoom, zoom } from "./plotzoom";
export const WINDOWS = [5, 15, 30, 60, 180, 300] as const; // s
export const windowLength = signal(30);

persisted(windowLength, "plots.window");

export function shownRange(): readonly [number, number] {
  if (zoom.value !== null) return zoom.value;
  const end = held.value ?? latest();
  const length = shownLength();
  const start = Number.isFinite(end) ? Math.max(0, end - length) : 0;
  return [start, start + length];
}

/** No more than there is of a recording. */
function shownLength(): number {
  const shown = source.value;
  return isOpened(shown) ? Math.min(windowLength.value, shown.recording.duration || 1) : windowLength.value;
}

/** The newest moment, or where a recording stands: what comes after it there is shown only where there is room. */
export function latest(): number {
  const shown = source.value;
  return isOpened(shown) ? shown.timeline.position.value : memory.last;
}

/** Zooming holds the plots as well: what is looked at must not run away. */
export function zoomTo(start: number, end: number): void {
  if (end - start <= 0) return;
  held.value ??= latest();
  zoom.value = [start, end];
}
