// Markers that cannot be drawn: some of their numbers are not finite, or nobody knows their kind.
import { signal } from "@preact/signals";

/** How many of the visible markers are not drawn, or only in part. */
export const skippedMarkers = signal(0);
