// Markers by namespace and id: the last word about each counts, and simulated time makes them go.
import { signal } from "@preact/signals";

export type MarkerKind =
  | "points"
  | "line_strip"
  | "line_list"
  | "circle"
  | "ring"
  | "arrow"
  | "text"
  | "triangle_list"
  | "car"
  | "mesh"
  | "axes";

export interface Marker {
  namespace: string;
  id: number;
  kind: MarkerKind;
  color: [number, number, number, number]; // 0 to 255
  scale: [number, number, number];
  position: [number, number, number];
  quaternion: [number, number, number, number]; // x, y, z, w
  expires: number; // simulated s; Infinity: stays
  frame: string; // "": the world; else a vehicle or a named frame
  text: string;
  points: Float32Array; // x, y, z of each, relative to the marker
}

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

function key(namespace: string, id: number): string {
  return `${namespace}\u0000${id}`;
}
