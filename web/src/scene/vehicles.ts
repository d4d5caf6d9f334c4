// All vehicles of one run: points far away, simple shapes nearer, detailed shapes close to the camera.
import { Group, type IUniform, Matrix4, type Texture } from "three";
import { timeOf } from "../state/poses";
import { isProp, type Roster } from "../state/roster";
import type { Sample } from "../state/source";
import { type ColouringKind, overrides } from "../state/store";
import { lightOf } from "./light";
import { PoseBlend } from "./poses";
import { type Body, bodyOf } from "./shapes";
import { MOST_TRAILS } from "./trails";
import { HeadingLines, PROP, VehicleMesh, VehiclePoints } from "./vehicle-meshes";
import { moved, moves, PoseTextures, Steering, TintTexture, tintRows, UNKNOWN, WheelAngles } from "./vehicle-rows";
import { type KindTraits, type Matrix, traitsOf, type ViewState } from "./view";

export const POINT = 0;
export const SIMPLE = 1;
export const DETAILED = 2;

interface Budget {
  detailed: number; // maximum number of shapes
  simple: number;
}

interface LodFleet {
  first: number;
  count: number;
  size: number; // m
  floor?: number; // px, at least
}

/** px that a vehicle needs to be drawn as a shape, and in detail. */
const SIMPLE_PX = 6;
const DETAILED_PX = 26;
const KEEP = 0.85; // hysteresis: a shape is kept until it is this much smaller
const BINS = 96; // size bins: 8 per octave, from 1 px

/**
 * Set the levels of all rows in `levels` (in: previous levels); few vehicles have a floor, and are all drawn as shapes.
 * Return the px of the largest point.
 */
export function chooseLevels(
  positions: Float32Array,
  fleets: readonly LodFleet[],
  m: Matrix,
  focal: number,
  budget: Budget,
  levels: Uint8Array,
): number {
  const sizes = sizesOnScreen(positions, fleets, m, focal, levels.length);
  const detailed = limitFor(sizes, levels.length, budget.detailed, DETAILED_PX);
  const simple = limitFor(sizes, levels.length, budget.detailed + budget.simple, SIMPLE_PX);
  let largest = 0;
  for (let row = 0; row < levels.length; row++) {
    const size = sizes[row] as number;
    const before = levels[row] as number;
    const needed = before === DETAILED ? detailed.keep : detailed.px;
    if (size >= needed) levels[row] = DETAILED;
    else levels[row] = size >= (before >= SIMPLE ? simple.keep : simple.px) ? SIMPLE : POINT;
    if (levels[row] === POINT && size > largest) largest = size;
  }
  return largest;
}

let scratch = new Float32Array(0);

function sizesOnScreen(
  positions: Float32Array,
  fleets: readonly LodFleet[],
  m: Matrix,
  focal: number,
  rows: number,
): Float32Array {
  if (scratch.length < rows) scratch = new Float32Array(rows);
  scratch.fill(0, 0, rows);
  const k = Array.from(m);
  const [m0 = 0, m1 = 0, , m3 = 0, m4 = 0, m5 = 0, , m7 = 0, m8 = 0, m9 = 0, , m11 = 0, m12 = 0, m13 = 0, , m15 = 0] =
    k;
  for (const { first, count, size, floor = 0 } of fleets) {
    for (let row = first; row < first + count; row++) {
      const x = positions[3 * row] as number;
      const y = positions[3 * row + 1] as number;
      const z = positions[3 * row + 2] as number;
      const w = m3 * x + m7 * y + m11 * z + m15;
      if (!(w > -size)) continue;
      const edge = 1.15 * Math.max(w, 0) + 2 * size; // slightly beyond the borders, where shapes are partly visible
      const across = Math.abs(m0 * x + m4 * y + m8 * z + m12);
      const up = Math.abs(m1 * x + m5 * y + m9 * z + m13);
      if (across < edge && up < edge) scratch[row] = Math.max((size * focal) / Math.max(w, 0.1), floor);
    }
  }
  return scratch;
}

const counts = new Uint32Array(BINS);

/** The smallest size that at most `most` rows reach, but at least `px`; and the size for keeping the level. */
function limitFor(sizes: Float32Array, rows: number, most: number, px: number): { px: number; keep: number } {
  counts.fill(0);
  for (let row = 0; row < rows; row++) {
    const size = sizes[row] as number;
    if (size >= px * KEEP) counts[binOf(size)] = (counts[binOf(size)] as number) + 1;
  }
  let sum = 0;
  for (let bin = BINS - 1; bin >= 0; bin--) {
    sum += counts[bin] as number;
    if (sum > most) return { px: Math.max(px, 2 ** ((bin + 1) / 8)), keep: Math.max(px, 2 ** ((bin + 1) / 8)) };
  }
  return { px, keep: px * KEEP };
}

function binOf(size: number): number {
  return Math.min(BINS - 1, Math.max(0, Math.floor(8 * Math.log2(size))));
}

// vehicles -----------------------------------------------------------------------------------------------------------

interface VehicleLook {
  colouring: ColouringKind;
  headings: boolean;
  emphasised: ReadonlySet<number>; // rows
  budget: Budget;
  hidden?: ReadonlySet<number>; // rows that are not drawn
  faded?: boolean; // a ghost whose recording has ended
}

/** Rows that are drawn with one mesh. */
interface Alike {
  rows: number[];
  body: Body;
  traits: KindTraits;
  detailed: boolean;
  prop: boolean;
}

const FEW = 300; // vehicles, without cones and other props: all are drawn as shapes at any distance
const FEW_PX = 15; // px, at least
const PROP_PX = 3; // px, at least, of a prop: cones must not hide the cars between them
const PROP_SIZE = (0.4 * FEW_PX) / PROP_PX; // relative size of its shape, for that floor: a cone is slim
const NEAR_TRAILS = 40; // trails of many vehicles: more would dominate the cost
const GLYPH_PX = 4; // from which points show their heading
const FADED = 0.4; // relative opacity of a ghost
const BLADE_SPEED = 31; // rad per simulated s: fast, but no multiple of the frame rate

/** Minimum px of a point: smaller for more vehicles, to keep them distinct. */
function leastPoint(count: number): number {
  return count > 50_000 ? 2 : count > 5_000 ? 3.5 : 5;
}

export class VehicleLayer {
  readonly group = new Group();
  readonly blend = new PoseBlend();
  roster: Roster | null = null;
  private readonly poses = new PoseTextures();
  private readonly tints = new TintTexture();
  private readonly uniforms: Record<string, IUniform>;
  private readonly points: VehiclePoints;
  private readonly headings: HeadingLines;
  private readonly meshes = new Map<string, VehicleMesh>();
  private readonly wheels = new WheelAngles();
  private readonly steering = new Steering();
  private levels = new Uint8Array(0);
  private time = Number.NaN;
  private largest = 0; // px of the largest point
  private few = true; // vehicles
  private tinted: unknown[] = [];

  constructor(private readonly ghost: boolean) {
    this.uniforms = {
      fromPoses: { value: null as Texture | null },
      toPoses: { value: null as Texture | null },
      tints: { value: this.tints.texture },
      mixing: { value: 0 },
      focal: { value: 1 },
      least: { value: 4 },
      leastProp: { value: PROP_PX },
      glyphs: { value: 4 },
      floorPx: { value: 0 },
      blades: { value: 0 },
      strength: { value: 1 },
      skyLight: { value: [0.8, 0.85, 0.9] },
      groundLight: { value: [0.4, 0.4, 0.42] },
      gaze: { value: new Matrix4() },
    };
    this.points = new VehiclePoints(this.uniforms, ghost);
    this.headings = new HeadingLines(this.uniforms);
    this.group.add(this.points.group, this.headings.object);
  }

  /** Set roster and sample together, so that rows always match. */
  take(sample: Sample, roster: Roster): void {
    this.blend.update(sample);
    this.adopt(roster, sample);
  }

  rowOf(id: number | null): number | undefined {
    return id === null ? undefined : this.roster?.rowOfId(id);
  }

  /** The pose of a vehicle; null if it is not in the roster. */
  place(id: number | null): [number, number, number] | null {
    const row = this.rowOf(id);
    return row === undefined ? null : this.blend.position(row);
  }

  /** Colours as drawn (4 bytes per row, the fourth is no colour). */
  get colours(): Uint8Array {
    return this.tints.bytes;
  }

  /** Draw the set sample. */
  update(sample: Sample, roster: Roster, view: ViewState, look: VehicleLook): void {
    const [from, to] = this.poses.show(sample.from, sample.to);
    this.set("fromPoses", from);
    this.set("toPoses", to);
    this.set("mixing", sample.mix);
    this.set("strength", look.faded ? FADED : 1);
    this.light(view);
    const fresh = this.tint(sample, roster, view, look);
    for (const row of look.hidden ?? []) this.levels[row] = POINT;
    this.fillMeshes(sample, roster, look);
    this.points.show(
      this.blend.count,
      this.blend.positions,
      this.tints.bytes,
      fresh,
      this.largest >= GLYPH_PX || leastPoint(this.blend.count) * view.unit >= GLYPH_PX,
    );
    this.headings.show(look.headings && !this.ghost ? this.blend.count : 0);
  }

  /** Whether a vehicle is drawn as a shape, not only as a point: then it casts a shadow. */
  get shaped(): boolean {
    return [...this.meshes.values()].some(({ object }) => object.visible);
  }

  /** All ids if there are few, otherwise some near the camera. */
  nearIds(): number[] {
    const ids: number[] = [];
    const most = this.few ? MOST_TRAILS : NEAR_TRAILS;
    for (const fleet of this.roster?.fleets.filter((listed) => !isProp(listed)) ?? []) {
      const end = Math.min(fleet.first + fleet.count, this.levels.length);
      for (let row = fleet.first; row < end && ids.length < most; row++) {
        const id = this.few || this.levels[row] === DETAILED ? this.roster?.idAt(row) : undefined;
        if (id !== undefined) ids.push(id);
      }
    }
    return ids;
  }

  /** Draw nothing. */
  clear(): void {
    this.blend.clear();
    this.points.hide();
    this.headings.show(0);
    for (const mesh of this.meshes.values()) mesh.show(0);
  }

  dispose(): void {
    this.points.dispose();
    this.headings.dispose();
    for (const mesh of this.meshes.values()) mesh.dispose();
    this.poses.dispose();
    this.tints.dispose();
    this.steering.release();
  }

  private adopt(roster: Roster, { from }: Sample): void {
    if (this.roster === roster && this.levels.length === this.blend.count) return;
    const rows = moves(this.roster, roster);
    this.levels = moved(this.levels, new Uint8Array(this.blend.count), rows);
    this.wheels.move(this.blend.count, rows);
    this.roster = roster;
    this.few = roster.fleets.reduce((sum, fleet) => sum + (isProp(fleet) ? 0 : fleet.count), 0) <= FEW;
    this.tints.resize(from.count);
    this.set("tints", this.tints.texture);
    this.tinted = [];
    if (!this.ghost) this.steering.follow(roster);
  }

  private light({ focal, ratio, unit, skin, camera }: ViewState): void {
    this.set("gaze", camera.matrixWorldInverse);
    this.set("focal", focal * ratio);
    this.set("least", leastPoint(this.blend.count) * ratio * unit);
    this.set("leastProp", PROP_PX * ratio * unit);
    this.set("glyphs", GLYPH_PX * ratio);
    this.set("floorPx", this.few ? FEW_PX * ratio * unit : 0);
    const { sky, ground } = lightOf(skin.theme);
    this.set("skyLight", sky);
    this.set("groundLight", ground);
  }

  /** Update colours if they may have changed, and which rows are points. */
  private tint(sample: Sample, roster: Roster, view: ViewState, look: VehicleLook): boolean {
    const { bytes } = this.tints;
    const basis = [
      roster,
      look.colouring,
      view.skin.theme,
      look.colouring === "fleet" ? null : sample.to,
      look.colouring === "state" ? overrides.peek() : null,
    ];
    let fresh = basis.some((item, k) => item !== this.tinted[k]);
    if (fresh) tintRows(bytes, roster, sample.to, look.colouring, view.skin.theme);
    this.tinted = basis;
    const fleets = roster.fleets.map((fleet) => ({
      first: fleet.first,
      count: fleet.count,
      size: traitsOf(fleet).size,
      prop: isProp(fleet),
      floor: isProp(fleet) ? 0 : this.few ? FEW_PX * view.unit : 0,
    }));
    this.largest = chooseLevels(this.blend.positions, fleets, view.matrix, view.focal, look.budget, this.levels);
    for (const { first, count, size, prop } of fleets) {
      const code = prop ? PROP : Math.max(PROP + 1, Math.min(255, Math.round(10 * size)));
      for (let row = first; row < first + count; row++) {
        const next = this.levels[row] === POINT && !look.hidden?.has(row) ? code : 0;
        if (bytes[4 * row + 3] !== next) {
          bytes[4 * row + 3] = next;
          fresh = true;
        }
      }
    }
    if (fresh) this.tints.changed();
    return fresh;
  }

  private fillMeshes(sample: Sample, roster: Roster, look: VehicleLook): void {
    const time = timeOf(sample);
    const seconds = time > this.time && time - this.time < 1 ? time - this.time : 0;
    this.time = time;
    this.set("blades", (time * BLADE_SPEED) % (2 * Math.PI));
    const lists = this.rowsByShape(roster);
    for (const [name, mesh] of this.meshes) if (!lists.has(name)) mesh.show(0);
    for (const [name, list] of lists) this.fill(name, list, sample, look, seconds);
  }

  /** Rows by body and level of detail. */
  private rowsByShape(roster: Roster): Map<string, Alike> {
    const lists = new Map<string, Alike>();
    for (const fleet of roster.fleets) {
      const body = bodyOf(fleet);
      const traits = traitsOf(fleet);
      for (let row = fleet.first; row < fleet.first + fleet.count; row++) {
        const level = this.levels[row];
        if (level !== SIMPLE && level !== DETAILED) continue;
        const name = `${body.name}/${level === DETAILED ? "detailed" : "simple"}`;
        const list = lists.get(name);
        if (list) list.rows.push(row);
        else lists.set(name, { rows: [row], body, traits, detailed: level === DETAILED, prop: isProp(fleet) });
      }
    }
    return lists;
  }

  private fill(
    name: string,
    { rows, body, traits, detailed, prop }: Alike,
    sample: Sample,
    look: VehicleLook,
    seconds: number,
  ) {
    const mesh = this.mesh(name, body, prop ? PROP_SIZE * traits.size : traits.size, detailed ? "detailed" : "simple");
    mesh.reserve(rows.length);
    rows.forEach((row, k) => {
      const rolling = traits.wheel > 0 && detailed;
      const reported = rolling ? this.steering.between(sample, row) : UNKNOWN;
      const [steer, spin] = rolling ? this.wheels.advance(sample, row, traits, seconds, reported) : [0, 0];
      mesh.data[4 * k] = row;
      mesh.data[4 * k + 1] = steer;
      mesh.data[4 * k + 2] = spin;
      mesh.data[4 * k + 3] = look.emphasised.has(row) ? 1 : 0;
      mesh.travels.set(reported.travel, 4 * k);
    });
    mesh.show(rows.length);
    const blur = body.shape.blur && detailed ? this.mesh(`${body.name}/blur`, body, traits.size, "blur") : null;
    if (!blur) return;
    blur.reserve(rows.length);
    blur.data.set(mesh.data.subarray(0, 4 * rows.length));
    blur.show(rows.length);
  }

  private mesh(name: string, body: Body, size: number, level: "detailed" | "simple" | "blur"): VehicleMesh {
    let mesh = this.meshes.get(name);
    if (mesh === undefined) {
      const geometry = (body.shape[level] ?? body.shape.detailed)();
      const radius = body.name === "quad" ? 0.125 : 0.24;
      mesh = new VehicleMesh(geometry, this.uniforms, { size, ghost: this.ghost, blur: level === "blur", radius });
      this.meshes.set(name, mesh);
      this.group.add(mesh.object);
    }
    return mesh;
  }

  private set(name: string, value: unknown): void {
    (this.uniforms[name] as IUniform).value = value;
  }
}
