// Markers by namespace and id, with expiry in simulation time.
import { signal } from "@preact/signals";
import type { Marker, MarkerChange } from "../wire/decode";
import { MarkerFlag } from "../wire/schema";

export class MarkerBoard {
  /** Grows whenever something has changed. */
  readonly version = signal(0);
  /** Namespaces with how many markers each has; hidden ones are hidden for everyone. */
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

  /** Tell who watches, after some changes. */
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

  /** Forget what is over at a simulated time; whether there was anything. */
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

  /** Those that are to be seen. */
  *visible(): Iterable<Marker> {
    for (const marker of this.markers.values()) if (!this.hidden.has(marker.namespace)) yield marker;
  }
}

/** Enter changes on a board, and tell who watches it. */
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

/** How many of the visible markers are not drawn, or only in part. */
export const skippedMarkers = signal(0);
