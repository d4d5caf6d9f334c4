// Trails of vehicles as fading ribbons: newest bright, oldest gone.
import type { Rgba } from "./ribbons";
import { Ribbons } from "./ribbons";
import { TrailStore } from "./trailStore";
import type { ViewState } from "./viewState";

export class Trails {
  readonly ribbons = new Ribbons(0);
  readonly store = new TrailStore();
  private readonly a = [0, 0, 0];
  private readonly b = [0, 0, 0];

  /** Draw all that is stored, each up to where its vehicle is now. */
  update(view: ViewState, where: (id: number) => readonly number[] | null, colourOf: (id: number) => Rgba): void {
    this.ribbons.clear();
    for (const [id, ring] of this.store.rings) {
      const here = where(id);
      if (here === null) continue; // gone: its trail goes with it
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
