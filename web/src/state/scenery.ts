// What never moves, from the server: heights of the ground, friction, obstacles, roads.
import { computed, signal } from "@preact/signals";
import type { GroundTree, SceneryTree, TrackTree } from "../wire/schema";
import { groundHeight } from "./mission";
import { metadata, source } from "./store";

/** Values per side of the ground that the page requests. */
export const SIDE = 200;
const EVEN = 1e-6; // m: smaller differences count as flat

const received = signal<SceneryTree | null>(null);

export function applyScenery(tree: SceneryTree): void {
  if (!Array.isArray(tree.obstacles) || !Array.isArray(tree.roads)) throw new Error("obstacles or roads missing");
  received.value = tree;
}

/** The track that is being edited, shown in place of that of the run; null: none. */
export const draftTrack = signal<TrackTree | null>(null);

/** The scenery of the shown source; null: unknown, as that of recordings of earlier versions. */
export const scenery = computed<SceneryTree | null>(() => {
  const shown = source.value;
  const tree = shown?.routes === undefined ? received.value : (shown.scenery ?? null);
  return tree && draftTrack.value ? { ...tree, track: draftTrack.value } : tree;
});

/** The ground if it is not level. */
export const relief = computed(() => {
  const ground = scenery.value?.ground;
  return ground && isUneven(ground) ? new Relief(ground, slopeOf(groundSection())) : null;
});

/** Height of the ground, m. */
export function groundAt(x: number, y: number): number {
  return relief.value?.heightAt(x, y) ?? scenery.value?.ground_z ?? groundHeight();
}

/** The section `world.ground` of the scenario, without its maps. */
export function groundSection(): Readonly<Record<string, unknown>> {
  const shown = source.value;
  if (shown?.routes !== undefined) return shown.scenery?.section ?? LEVEL;
  const world = metadata.value?.scenario["world"] as Record<string, unknown> | undefined;
  return (world?.["ground"] ?? LEVEL) as Record<string, unknown>;
}

const LEVEL = {};

function isUneven({ heights }: GroundTree): boolean {
  const [first = 0] = heights;
  return heights.some((height) => Math.abs(height - first) > EVEN);
}

/** Slope (m per m) of the tilted plane, east and north. */
export function slopeOf(section: Readonly<Record<string, unknown>>): [number, number] {
  const number = (name: string): number => (typeof section[name] === "number" ? section[name] : 0);
  const [grade, bank, heading] = [number("grade"), number("bank"), number("heading")];
  const [c, s] = [Math.cos(heading), Math.sin(heading)];
  return [grade * c - bank * s, grade * s + bank * c];
}

// heights ------------------------------------------------------------------------------------------------------------

const MARCH = 400; // steps of a ray
const HALVINGS = 24;

/** Heights between the values of a grid; beyond its edge the plane continues from the edge. */
export class Relief {
  readonly low: number; // m
  readonly high: number;

  constructor(
    readonly grid: GroundTree,
    private readonly slope: readonly [number, number] = [0, 0],
  ) {
    this.low = grid.heights.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
    this.high = grid.heights.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  }

  heightAt(x: number, y: number): number {
    const { grid, slope } = this;
    const u = clamp((x - grid.x) / grid.cell, grid.columns - 1);
    const v = clamp((y - grid.y) / grid.cell, grid.rows - 1);
    const [i, j] = [Math.min(Math.floor(u), grid.columns - 2), Math.min(Math.floor(v), grid.rows - 2)];
    const at = (column: number, row: number): number => grid.heights[row * grid.columns + column] ?? 0;
    const south = at(i, j) + (u - i) * (at(i + 1, j) - at(i, j));
    const north = at(i, j + 1) + (u - i) * (at(i + 1, j + 1) - at(i, j + 1));
    const [outX, outY] = [x - grid.x - u * grid.cell, y - grid.y - v * grid.cell];
    return south + (v - j) * (north - south) + slope[0] * outX + slope[1] * outY;
  }

  /** Where the ray from the eye through a farther point first meets the ground; null: nowhere. */
  hit(eye: readonly number[], beyond: readonly number[]): [number, number, number] | null {
    const [ex = 0, ey = 0, ez = 0] = eye;
    const [dx, dy, dz] = [(beyond[0] ?? 0) - ex, (beyond[1] ?? 0) - ey, (beyond[2] ?? 0) - ez];
    const length = Math.hypot(dx, dy, dz);
    if (!(length > 0)) return null;
    const gap = (t: number): number => ez + t * dz - this.heightAt(ex + t * dx, ey + t * dy);
    const far = (6 * (this.span + Math.hypot(ex - this.middle[0], ey - this.middle[1], ez - this.high))) / length;
    let before = 0;
    for (let k = 1; k <= MARCH; k++) {
      const t = far * (k / MARCH) ** 2; // short steps near the eye
      if (gap(t) <= 0) return this.refined(eye, [dx, dy, dz], before, t, gap);
      before = t;
    }
    return null;
  }

  private refined(
    eye: readonly number[],
    way: readonly [number, number, number],
    from: number,
    to: number,
    gap: (t: number) => number,
  ): [number, number, number] {
    for (let k = 0; k < HALVINGS; k++) {
      const middle = (from + to) / 2;
      if (gap(middle) > 0) from = middle;
      else to = middle;
    }
    const [x, y] = [(eye[0] ?? 0) + to * way[0], (eye[1] ?? 0) + to * way[1]];
    return [x, y, this.heightAt(x, y)];
  }

  private get span(): number {
    return this.grid.cell * Math.max(this.grid.rows, this.grid.columns);
  }

  private get middle(): [number, number] {
    const { x, y, cell, rows, columns } = this.grid;
    return [x + (cell * (columns - 1)) / 2, y + (cell * (rows - 1)) / 2];
  }
}

function clamp(value: number, most: number): number {
  return Math.min(Math.max(value, 0), most);
}
