// Trails: the last positions of vehicles, drawn as fading ribbons.
import { type Rgba, Ribbons } from "./ribbons";
import type { ViewState } from "./view";

export class TrailRing {
  readonly positions: Float32Array; // x, y, z of each
  private start = 0;
  length = 0;

  constructor(readonly capacity: number) {
    this.positions = new Float32Array(3 * capacity);
  }

  push(x: number, y: number, z: number): void {
    const at = (this.start + this.length) % this.capacity;
    this.positions.set([x, y, z], 3 * at);
    if (this.length < this.capacity) this.length += 1;
    else this.start = (this.start + 1) % this.capacity;
  }

  /** Position by index, 0 is the oldest. */
  at(index: number, into: number[]): number[] {
    const k = 3 * ((this.start + index) % this.capacity);
    into[0] = this.positions[k] as number;
    into[1] = this.positions[k + 1] as number;
    into[2] = this.positions[k + 2] as number;
    return into;
  }

  clear(): void {
    this.start = 0;
    this.length = 0;
  }
}

export const MOST_TRAILS = 300;
const SEGMENTS = 14_000; // of all trails together, for software rendering
const JUMP = 60; // m between samples: a larger step is no motion

/** Trails by vehicle id. */
export class TrailStore {
  readonly rings = new Map<number, TrailRing>();
  private time = Number.NaN;
  private run = Number.NaN;

  /** Set which vehicles have a trail. */
  keep(ids: readonly number[]): void {
    const wanted = new Set(ids.slice(0, MOST_TRAILS));
    for (const id of this.rings.keys()) if (!wanted.has(id)) this.rings.delete(id);
    const capacity = Math.max(24, Math.min(240, Math.floor(SEGMENTS / Math.max(wanted.size, 1))));
    for (const id of wanted) if (!this.rings.has(id)) this.rings.set(id, new TrailRing(capacity));
  }

  /** Sample at most 12 times per s; time that goes back clears the trails. */
  sample(time: number, run: number, where: (id: number) => readonly number[] | null): boolean {
    if (run !== this.run || time < this.time) for (const ring of this.rings.values()) ring.clear();
    if (run === this.run && time >= this.time && time - this.time < 1 / 12) return false;
    this.run = run;
    this.time = time;
    for (const [id, ring] of this.rings) {
      const place = where(id);
      if (place !== null) add(ring, place);
    }
    return true;
  }
}

const last = [0, 0, 0];

function add(ring: TrailRing, [x = 0, y = 0, z = 0]: readonly number[]): void {
  if (ring.length > 0) {
    ring.at(ring.length - 1, last);
    const away = Math.hypot(x - (last[0] as number), y - (last[1] as number), z - (last[2] as number));
    if (away < 0.02) return; // vehicles at rest keep their trail
    if (away > JUMP) ring.clear();
  }
  ring.push(x, y, z);
}

// drawing ------------------------------------------------------------------------------------------------------------

export class Trails {
  readonly ribbons = new Ribbons(0);
  readonly store = new TrailStore();
  private readonly a = [0, 0, 0];
  private readonly b = [0, 0, 0];

  /** Draw all trails up to the vehicles' present positions. */
  update(view: ViewState, where: (id: number) => readonly number[] | null, colourOf: (id: number) => Rgba): void {
    this.ribbons.clear();
    for (const [id, ring] of this.store.rings) {
      const here = where(id);
      if (here === null) continue; // the vehicle was removed
      const [r, g, b] = colourOf(id);
      for (let k = 0; k < ring.length; k++) {
        ring.at(k, this.a);
        const end = k + 1 < ring.length ? ring.at(k + 1, this.b) : here;
        this.ribbons.add(this.a, end, 1.8, [r, g, b, fade(k, ring.length)], [r, g, b, fade(k + 1, ring.length)]);
      }
    }
    this.ribbons.view(view);
    this.ribbons.show();
  }

  hide(): void {
    this.ribbons.clear();
    this.ribbons.show();
  }

  dispose(): void {
    this.ribbons.dispose();
  }
}

function fade(index: number, length: number): number {
  return Math.round(190 * (index / length) ** 1.3);
}
