// Whether the plots are held or zoomed into.
import { signal } from "@preact/signals";

/** The moment at which the plots are held; null: they go on. */
export const held = signal<number | null>(null);
export const zoom = signal<readonly [number, number] | null>(null);

export function resetZoom(): void {
  zoom.value = null;
  held.value = null;
}
