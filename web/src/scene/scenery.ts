// Terrain, roads, friction and obstacles in the world view; their drawing code is loaded when there are any.
import { signal } from "@preact/signals";
import type { Scene } from "three";
import { groundSection, relief, scenery } from "../state/scenery";
import { layers, metadata } from "../state/store";
import type { SceneryTree } from "../wire/schema";
import type { SceneryDrawing } from "./scenery-drawing";
import type { ViewState } from "./view";

/** Incremented when drawing code has been loaded. */
export const sceneryLoaded = signal(0);
/** Friction shown on the ground: smallest and largest, and that of the world; null: the same everywhere. */
export const shownFriction = signal<{ low: number; high: number; mu: number } | null>(null);

export class SceneryLayer {
  private drawing: SceneryDrawing | null = null;
  private drawn: [SceneryTree | null, unknown] = [null, null];
  private requested = false;

  constructor(private readonly scene: Scene) {}

  /** Whether uneven ground is drawn, in place of the grid. */
  get uneven(): boolean {
    return this.drawing?.uneven ?? false;
  }

  /** Whether there are obstacles that cast shadows. */
  get casts(): boolean {
    const tree = this.drawn[0];
    return layers.peek().obstacles && tree !== null && (tree.obstacles.length > 0 || (tree.track ?? null) !== null);
  }

  draw(view: ViewState): void {
    const tree = scenery.peek();
    const section = groundSection();
    if (tree !== this.drawn[0] || section !== this.drawn[1]) this.replace(tree, section);
    this.drawing?.view(view, layers.peek());
  }

  dispose(): void {
    this.drawing?.dispose();
  }

  private replace(tree: SceneryTree | null, section: Readonly<Record<string, unknown>>): void {
    const needed = tree !== null && isShown(tree);
    if (needed && !this.requested) void this.load();
    if (needed && !loaded) return; // again when the code is there
    this.drawing?.dispose();
    if (this.drawing) this.scene.remove(this.drawing.group);
    this.drawing = needed && loaded ? new loaded(tree, relief.peek(), section) : null;
    if (this.drawing) this.scene.add(this.drawing.group);
    shownFriction.value = this.drawing?.friction ?? null;
    this.drawn = [tree, section];
  }

  private async load(): Promise<void> {
    this.requested = true;
    loaded = (await import("./scenery-drawing")).SceneryDrawing;
    sceneryLoaded.value += 1;
  }
}

function isShown({ ground, obstacles, roads, track }: SceneryTree): boolean {
  return ground !== null || obstacles.length > 0 || roads.length > 0 || (track ?? null) !== null;
}

let loaded: typeof SceneryDrawing | null = null;

/** Signals that change the scenery. */
export function sceneryBasis(): unknown[] {
  return [scenery.value, relief.value, metadata.value, sceneryLoaded.value];
}
