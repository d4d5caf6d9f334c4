// Markers by namespace and id, with expiry in simulation time.
import { signal } from "@preact/signals";
import type { Marker, MarkerChange } from "../wire/decode";
import { MarkerFlag } from "../wire/schema";

export class MarkerBoard {
  /** Increases with each change. */
  readonly version = signal(0);
  /** Marker count per namespace; hidden namespaces are hidden for all clients. */
  readonly namespaces = signal<ReadonlyMap<string, { count: number; hidden: boolean }>>(new Map());
  private readonly markers = new Map<string, Marker>();
  private readonly hidden = new Set<string>();

  put(marker: Marker): void {
    this.markers.set(key(marker.namespace, marker.id), marker);
  }

  remove(namespace: string, id: number): void {
    this.markers.delete(key(namespace, id));
  }

  removeNamespace(namespace: string): void {
    for (const [name, marker] of this.markers) if (marker.namespace === namespace) this.markers.delete(name);
  }

  clear(): void {
    this.markers.clear();
  }

  hide(namespace: string, hidden: boolean): void {
    if (hidden) this.hidden.add(namespace);
    else this.hidden.delete(namespace);
  }

  /** Notify observers after changes. */
  changed(): void {
    const counts = new Map<string, { count: number; hidden: boolean }>();
    for (const { namespace } of this.markers.values()) {
      const entry = counts.get(namespace) ?? { count: 0, hidden: this.hidden.has(namespace) };
      entry.count += 1;
      counts.set(namespace, entry);
    }
    this.namespaces.value = counts;
    this.version.value += 1;
  }

  /** Remove markers that expired at a simulated time; return whether any did. */
  expire(time: number): boolean {
    let some = false;
    for (const [name, marker] of this.markers) {
      if (marker.expires <= time) {
        this.markers.delete(name);
        some = true;
      }
    }
    if (some) this.changed();
    return some;
  }

  /** Visible markers. */
  *visible(): Iterable<Marker> {
    for (const marker of this.markers.values()) if (!this.hidden.has(marker.namespace)) yield marker;
  }
}

/** Apply changes to a board and notify its observers. */
export function applyMarkers(board: MarkerBoard, changes: readonly MarkerChange[]): void {
  for (const change of changes) applyOne(board, change);
  if (changes.length > 0) board.changed();
}

function applyOne(board: MarkerBoard, { flags, marker }: MarkerChange): void {
  const { namespace, id } = marker;
  if (flags & MarkerFlag.DELETE_ALL) board.clear();
  else if (flags & MarkerFlag.DELETE_NAMESPACE) board.removeNamespace(namespace);
  else if (flags & MarkerFlag.DELETE) board.remove(namespace, id);
  else {
    board.hide(namespace, (flags & MarkerFlag.HIDDEN) !== 0);
    board.put(marker);
  }
}

function key(namespace: string, id: number): string {
  return `${namespace}\u0000${id}`;
}

/** How many visible markers are not drawn or only drawn in part, because of non-finite values. */
export const skippedMarkers = signal(0);
