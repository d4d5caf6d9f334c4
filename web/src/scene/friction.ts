// The friction of the ground as an image: the server's map under the patches of the scenario, with exact edges.
import { ClampToEdgeWrapping, DataTexture, LinearFilter, RedFormat, UnsignedByteType } from "three";
import type { GroundTree, SceneryTree } from "../wire/schema";

type Place = readonly [number, number];

/** A patch as in the scenario's `world.ground.patches`; one of its shapes is set. */
export interface Patch {
  mu: number;
  transition?: number;
  circle?: { center: Place; radius: number } | null;
  rectangle?: { center: Place; size: Place; heading?: number } | null;
  polygon?: readonly Place[] | null;
  half_plane?: { point?: Place; heading?: number } | null;
}

export interface Area {
  x: number; // m, of the south-western corner
  y: number;
  width: number;
  height: number;
}

/** Distance (m) of a point from the edge of a patch, negative inside. */
export function distanceFrom(patch: Patch, x: number, y: number): number {
  if (patch.circle) return Math.hypot(x - patch.circle.center[0], y - patch.circle.center[1]) - patch.circle.radius;
  if (patch.rectangle) return fromRectangle(patch.rectangle, x, y);
  if (patch.polygon) return fromPolygon(patch.polygon, x, y);
  const { point = [0, 0], heading = 0 } = patch.half_plane ?? {};
  return Math.sin(heading) * (x - point[0]) - Math.cos(heading) * (y - point[1]); // inside: left of the line
}

function fromRectangle({ center, size, heading = 0 }: NonNullable<Patch["rectangle"]>, x: number, y: number): number {
  const [dx, dy, c, s] = [x - center[0], y - center[1], Math.cos(heading), Math.sin(heading)];
  const [along, across] = [Math.abs(c * dx + s * dy) - size[0] / 2, Math.abs(c * dy - s * dx) - size[1] / 2];
  return Math.hypot(Math.max(along, 0), Math.max(across, 0)) + Math.min(Math.max(along, across), 0);
}

function fromPolygon(corners: readonly Place[], x: number, y: number): number {
  let [nearest, inside] = [Number.POSITIVE_INFINITY, false];
  corners.forEach(([bx, by], k) => {
    const [ax, ay] = corners[(k || corners.length) - 1] as Place;
    const [ex, ey, px, py] = [bx - ax, by - ay, x - ax, y - ay];
    const share = Math.min(Math.max((px * ex + py * ey) / Math.max(ex * ex + ey * ey, 1e-12), 0), 1);
    nearest = Math.min(nearest, Math.hypot(px - share * ex, py - share * ey));
    if (ay > y !== by > y && x < ax + ((y - ay) / ey) * ex) inside = !inside;
  });
  return inside ? -nearest : nearest;
}

/** West, south, east and north of a patch with its transition; null: without end. */
export function boundsOf(patch: Patch): [number, number, number, number] | null {
  const margin = (patch.transition ?? 0) / 2;
  if (patch.half_plane) return null;
  const round = (center: Place, r: number): Place[] => [
    [center[0] - r, center[1] - r],
    [center[0] + r, center[1] + r],
  ];
  const points = patch.circle
    ? round(patch.circle.center, patch.circle.radius)
    : patch.rectangle
      ? round(patch.rectangle.center, Math.hypot(...patch.rectangle.size) / 2)
      : (patch.polygon ?? []);
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  return [Math.min(...xs) - margin, Math.min(...ys) - margin, Math.max(...xs) + margin, Math.max(...ys) + margin];
}

// image --------------------------------------------------------------------------------------------------------------

const TEXELS = 1024; // of the longer side
const MARGIN = 0.08; // around patches, in sides

/** Friction on an image; `bytes` are shares of `most`. */
export class FrictionImage {
  readonly columns: number;
  readonly rows: number;
  readonly most: number; // friction of 255
  readonly least: number; // smallest friction
  private readonly values: Float32Array;

  constructor(
    readonly area: Area,
    readonly mu: number, // friction of the world
    patches: readonly Patch[],
    map: GroundTree | null,
    texels = TEXELS,
  ) {
    const cell = Math.max(area.width, area.height) / texels;
    this.columns = Math.max(2, Math.round(area.width / cell));
    this.rows = Math.max(2, Math.round(area.height / cell));
    this.values = new Float32Array(this.columns * this.rows).fill(mu);
    if (map?.friction) this.fill((x, y) => bilinear(map, map.friction as readonly number[], x, y));
    for (const patch of patches) this.cover(patch, cell);
    this.most = this.values.reduce((a, b) => Math.max(a, b), Math.max(mu, 1e-3));
    this.least = this.values.reduce((a, b) => Math.min(a, b), mu);
  }

  /** Friction of the texel at a point. */
  at(x: number, y: number): number {
    const i = Math.floor(((x - this.area.x) / this.area.width) * this.columns);
    const j = Math.floor(((y - this.area.y) / this.area.height) * this.rows);
    const within = (k: number, count: number): number => Math.min(Math.max(k, 0), count - 1);
    return this.values[within(j, this.rows) * this.columns + within(i, this.columns)] ?? this.mu;
  }

  texture(): DataTexture {
    const bytes = Uint8Array.from(this.values, (mu) => Math.round((255 * mu) / this.most));
    const made = new DataTexture(bytes, this.columns, this.rows, RedFormat, UnsignedByteType);
    made.minFilter = LinearFilter;
    made.magFilter = LinearFilter;
    made.wrapS = ClampToEdgeWrapping;
    made.wrapT = ClampToEdgeWrapping;
    made.unpackAlignment = 1;
    made.needsUpdate = true;
    return made;
  }

  private fill(valueAt: (x: number, y: number) => number): void {
    for (let k = 0; k < this.values.length; k++) this.values[k] = valueAt(...this.middleOf(k));
  }

  private cover(patch: Patch, cell: number): void {
    const { columns, rows, area } = this;
    const [west, south, east, north] = boundsOf(patch) ?? [-Infinity, -Infinity, Infinity, Infinity];
    const wide = Math.max(patch.transition ?? 0, cell); // at least one texel, for smooth edges
    const column = (x: number): number => Math.min(Math.max(((x - area.x) / area.width) * columns, 0), columns);
    const row = (y: number): number => Math.min(Math.max(((y - area.y) / area.height) * rows, 0), rows);
    for (let j = Math.floor(row(south - cell)); j < Math.ceil(row(north + cell)); j++) {
      for (let i = Math.floor(column(west - cell)); i < Math.ceil(column(east + cell)); i++) {
        const k = j * columns + i;
        const share = Math.min(Math.max(0.5 - distanceFrom(patch, ...this.middleOf(k)) / wide, 0), 1);
        const before = this.values[k] as number;
        this.values[k] = before + share * (patch.mu - before);
      }
    }
  }

  /** Middle of a texel, m. */
  private middleOf(k: number): [number, number] {
    const { columns, rows, area } = this;
    const [i, j] = [k % columns, Math.floor(k / columns)];
    return [area.x + ((i + 0.5) / columns) * area.width, area.y + ((j + 0.5) / rows) * area.height];
  }
}

function bilinear({ x, y, cell, columns, rows }: GroundTree, values: readonly number[], px: number, py: number) {
  const u = Math.min(Math.max((px - x) / cell, 0), columns - 1);
  const v = Math.min(Math.max((py - y) / cell, 0), rows - 1);
  const [i, j] = [Math.min(Math.floor(u), columns - 2), Math.min(Math.floor(v), rows - 2)];
  const at = (column: number, row: number): number => values[row * columns + column] ?? 0;
  const south = at(i, j) + (u - i) * (at(i + 1, j) - at(i, j));
  const north = at(i, j + 1) + (u - i) * (at(i + 1, j + 1) - at(i, j + 1));
  return south + (v - j) * (north - south);
}

/** The image of a scenery with other friction than the world's somewhere; `section`: the scenario's `world.ground`. */
export function frictionImage(
  { ground, mu }: SceneryTree,
  section: Readonly<Record<string, unknown>>,
): FrictionImage | null {
  const patches = Array.isArray(section["patches"]) ? (section["patches"] as Patch[]) : [];
  const mapped = section["friction_map"] != null;
  if (!ground || (patches.length === 0 && !mapped)) return null;
  return new FrictionImage(areaOf(ground, patches, mapped), mu, patches, mapped ? ground : null);
}

/** All patches with a margin; with a map or something without end also the area of the ground. */
function areaOf(ground: GroundTree, patches: readonly Patch[], mapped: boolean): Area {
  const bounds = patches.map(boundsOf);
  const boxes = bounds.filter((box) => box !== null);
  const { x, y, cell, columns, rows } = ground;
  if (mapped || boxes.length < bounds.length) boxes.push([x, y, x + cell * (columns - 1), y + cell * (rows - 1)]);
  const [west, south] = [Math.min(...boxes.map((box) => box[0])), Math.min(...boxes.map((box) => box[1]))];
  const [width, height] = [
    Math.max(...boxes.map((box) => box[2])) - west,
    Math.max(...boxes.map((box) => box[3])) - south,
  ];
  const margin = MARGIN * Math.max(width, height);
  return { x: west - margin, y: south - margin, width: width + 2 * margin, height: height + 2 * margin };
}
