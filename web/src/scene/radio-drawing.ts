// Draws the radio: links by SINR, stations, ranges, jammers with the edge of what they jam, and the coverage.
import {
  BufferAttribute,
  BufferGeometry,
  type Color,
  DynamicDrawUsage,
  GLSL3,
  Group,
  Mesh,
  RawShaderMaterial,
} from "three";
import { planOf, statusOf } from "../state/emitters";
import { coverage, coverageChoice, coverageSpan, radio } from "../state/radio";
import { followLinks, type LinkSet, linksAt } from "../state/radio-links";
import { followCoverage } from "../state/radio-survey";
import { groundAt, scenery } from "../state/scenery";
import { type Layers, layers, selection } from "../state/store";
import { type CoverageGrid, type JammerView, NO_POWER, type RadioTree, type SpooferView } from "../wire/schema";
import { rampTable } from "./colour-ramp";
import { refined, smoothed, zeroLines } from "./contours";
import { JammedArea } from "./jammed-area";
import type { Overlay } from "./overlay";
import { bytes, type Rgba, Ribbons, UNDERNEATH } from "./ribbons";
import { cssOf, raw, type Skin } from "./skin";
import type { VehicleLayer } from "./vehicles";
import { toScreen, type ViewState } from "./view";

type Place = readonly [number, number, number];

const FULL = 20; // dB above the needed SINR at which a link is green
const SIDES = 72; // of a range
const MOST_RANGES = 24;
const SPOOFER = { dark: raw("#d58cff"), light: raw("#8a2fc4") };
const LIFT = 1.5; // m above the ground
const FINER = 4; // parts of a cell, of smooth edges
const FEW = 40; // links up to which they are drawn in full strength

/** Red at the SINR that is needed, amber 10 dB above it, green from 20 dB on. */
export function linkColour(margin: number, { red, amber, green }: Skin, opacity = 220): Rgba {
  const share = Math.min(Math.max(margin / FULL, 0), 1);
  const [from, to, along] = share < 0.5 ? [red, amber, 2 * share] : [amber, green, 2 * share - 1];
  const [a, b] = [bytes(from), bytes(to)];
  return [0, 1, 2].map((k) => Math.round(mix(a[k] as number, b[k] as number, along))).concat(opacity) as never;
}

/** Width (px) and opacity of one of many links: together they cover about as much as a few. */
export function linkLook(count: number): [width: number, opacity: number] {
  const share = Math.min(1, Math.sqrt(FEW / Math.max(count, 1)));
  return [Math.max(1, 1.6 * share), Math.max(60, Math.round(210 * share))];
}

function mix(a: number, b: number, share: number): number {
  return a + share * (b - a);
}

export class RadioDrawing {
  readonly group = new Group();
  private readonly links = new Ribbons(6);
  private readonly masts = new Ribbons(6);
  private readonly ranges = new Ribbons(5);
  private readonly edges = new Ribbons(5, false);
  private readonly area = new JammedArea();
  private readonly map = new HeatMap();
  private readonly stops = [followLinks(), followCoverage()];
  private jammers: { place: Place; emitter: JammerView | SpooferView; colour: Color }[] = [];
  private edged: unknown[] = [];

  constructor() {
    for (const layer of [this.links, this.masts, this.ranges, this.edges]) this.group.add(layer.object);
    this.group.add(this.area.object, this.map.object);
  }

  /** Numbers of what is drawn, and colours of links; for tests. */
  get shown(): {
    links: number;
    colours: number[][];
    stations: number;
    jammers: number;
    ranges: number;
    edges: number;
    filled: readonly [number, number];
    cells: number;
  } {
    return {
      links: this.links.count,
      colours: this.drawnColours,
      stations: layers.peek().stations ? (radio.peek()?.stations.length ?? 0) : 0,
      jammers: this.jammers.length,
      ranges: this.ranges.count,
      edges: this.edges.count,
      filled: this.area.filled,
      cells: this.map.object.visible ? this.map.cells : 0,
    };
  }

  private drawnColours: number[][] = [];

  update(view: ViewState, vehicles: VehicleLayer, time: number): void {
    const [tree, shown] = [radio.peek(), layers.peek()];
    this.group.visible = tree !== null;
    if (tree === null) return;
    this.drawLinks(view, vehicles, tree, shown.links ? linksAt(time) : null);
    this.drawMasts(view, vehicles, tree, shown);
    this.drawRanges(view, vehicles, tree, shown.ranges);
    this.drawEdges(view, shown.jamming);
    this.map.update(view, shown.coverage ? coverage.peek() : null);
  }

  label(overlay: Overlay, view: ViewState): void {
    const [tree, shown] = [radio.peek(), layers.peek()];
    if (tree === null) return;
    const names = new Set<string>();
    for (const { name, position } of shown.stations ? tree.stations : []) {
      if (names.has(name)) continue;
      names.add(name);
      words(overlay, view, name, position, cssOf(view.skin.accent));
    }
    for (const { place, emitter, colour } of this.jammers) {
      const status = statusOf(emitter, planOf(emitter));
      words(overlay, view, status === "transmits" ? emitter.name : `${emitter.name} (${status})`, place, cssOf(colour));
    }
  }

  dispose(): void {
    for (const stop of this.stops) stop();
    for (const layer of [this.links, this.masts, this.ranges, this.edges]) layer.dispose();
    this.area.dispose();
    this.map.dispose();
  }

  private drawLinks(view: ViewState, { blend, roster }: VehicleLayer, tree: RadioTree, newest: LinkSet | null): void {
    const ribbons = this.links;
    ribbons.clear();
    this.drawnColours = [];
    const set = newest?.roster === roster ? newest : null;
    const [width, opacity] = linkLook(set?.count ?? 0);
    for (let k = 0; set && k < set.count; k++) {
      const [a, to] = [set.from[k] as number, set.to[k] as number];
      const end = to >= 0 ? blend.position(to) : tree.stations[-2 - to]?.position;
      const begin = blend.position(a);
      if (!end || !begin) continue;
      const colour = linkColour(set.margin[k] as number, view.skin, opacity);
      ribbons.add(begin, end, width, colour);
      if (this.drawnColours.length < 400) this.drawnColours.push([...colour]);
    }
    const ring = (set?.jammed.length ?? 0) > FEW ? 6 : 9; // px
    for (const row of set?.jammed ?? []) {
      const place = blend.position(row);
      if (place) circle(ribbons, place, pixels(view, place, ring), ring / 6, bytes(view.skin.red, 230), 16);
    }
    ribbons.view(view);
    ribbons.show();
  }

  private drawMasts(view: ViewState, vehicles: VehicleLayer, tree: RadioTree, shown: Layers): void {
    const { masts } = this;
    masts.clear();
    for (const { position } of shown.stations ? tree.stations : []) {
      const colour = bytes(view.skin.accent, 255);
      const [x, y, z] = position;
      masts.add([x, y, Math.min(groundAt(x, y), z)], position, 3, colour);
      for (const px of [5, 9]) circle(masts, position, pixels(view, position, px), 1.8, colour, 20);
    }
    this.jammers = [];
    for (const emitter of shown.jamming ? [...tree.jammers, ...tree.spoofers] : []) {
      const row = emitter.vehicle === null ? undefined : vehicles.roster?.rowOfName(emitter.vehicle);
      const place = row === undefined ? emitter.position : vehicles.blend.position(row);
      if (!place) continue;
      const strong = "captured" in emitter ? SPOOFER[view.skin.theme] : view.skin.red;
      const skin = Number(emitter.active) > 0 ? strong : view.skin.faint;
      this.jammers.push({ place, emitter, colour: skin });
      const colour = bytes(skin, 255);
      const r = pixels(view, place, 11);
      const [x, y, z] = place;
      if (emitter.vehicle === null) masts.add([x, y, Math.min(groundAt(x, y), z)], place, 2, colour);
      const corners: Place[] = [
        [x - r, y - r, z],
        [x + r, y - r, z],
        [x, y + 1.2 * r, z],
      ];
      corners.forEach((corner, k) => masts.add(corner, corners[(k + 1) % 3] as Place, 2.4, colour));
      masts.add([x, y + 0.5 * r, z], [x, y - 0.5 * r, z], 2.4, colour);
    }
    masts.view(view);
    masts.show();
  }

  /** Of the selected vehicles; without a selection, of the stations, or of some vehicles where there are none. */
  private drawRanges(view: ViewState, { blend, roster }: VehicleLayer, tree: RadioTree, shown: boolean): void {
    const { ranges } = this;
    ranges.clear();
    const chosen = selection.peek();
    if (shown && roster) {
      const strength = chosen.size > 0 ? 200 : 110;
      const all = tree.stations.length > 0 ? 0 : MOST_RANGES / tree.fleets.length; // of each fleet
      for (const { name, radios } of tree.fleets) {
        const fleet = roster.fleet(name);
        const range = Math.max(...radios.map((radio) => radio.range));
        for (let row = fleet?.first ?? 0; fleet && row < fleet.first + fleet.count; row++) {
          const id = roster.idAt(row);
          if (chosen.size > 0 ? !chosen.has(id ?? -1) : row - fleet.first >= all) continue;
          const place = blend.position(row);
          if (place) dome(ranges, place, range, chosen.size > 0, bytes(view.skin.accent, strength));
        }
      }
      for (const { position, radio: own } of chosen.size > 0 ? [] : tree.stations) {
        dome(ranges, position, own.range, true, bytes(view.skin.accent, 200));
      }
    }
    ranges.view(view);
    ranges.show();
  }

  /** Where jammers are above the noise (amber) and the strongest signal (red), as means of nearby cells. */
  private drawEdges(view: ViewState, shown: boolean): void {
    const { edges } = this;
    const tree = shown ? coverage.peek() : null;
    const basis = [tree, view.skin, scenery.peek()];
    edges.view(view);
    this.area.view(view);
    if (basis.every((item, k) => item === this.edged[k])) return;
    this.edged = basis;
    edges.clear();
    this.area.hide();
    if (tree) {
      const { side, power, jamming, noise } = tree;
      const grid = { ...tree, cell: tree.cell / FINER, side: FINER * (side - 1) + 1 };
      const fine = (values: readonly number[]) => refined(smoothed(values, side), side, FINER);
      const above = fine(jamming.map((level) => level - noise));
      const ahead = fine(jamming.map((level, k) => level - Math.max(power[k] as number, noise)));
      for (const [values, width, colour] of [
        [above, 1.6, bytes(view.skin.amber, 230)],
        [ahead, 2, bytes(view.skin.red, 240)],
      ] as const) {
        const lines = zeroLines(grid, (k) => values[k] as number);
        drape(edges, lines, width, colour, tree.cell);
      }
      this.area.rebuild(grid, above, ahead, LIFT + 0.04 * tree.cell, view.skin);
    }
    edges.show();
  }
}

function words(overlay: Overlay, view: ViewState, text: string, [x, y, z]: Place, colour: string): void {
  const screen = [0, 0, 0];
  if (!toScreen(view.matrix, x, y, z, view.size, screen)) return;
  const [px = 0, py = 0] = screen;
  overlay.words(text, px, py - 17 * view.unit, 12 * view.unit, colour, cssOf(view.skin.background, 0.8));
}

/** Metres of a number of px at a place. */
function pixels({ eye, focal, unit }: ViewState, [x, y, z]: Place, px: number): number {
  return (px * unit * Math.hypot(x - eye[0], y - eye[1], z - eye[2])) / focal;
}

function circle(ribbons: Ribbons, [x, y, z]: Place, radius: number, width: number, colour: Rgba, sides = SIDES): void {
  let before: Place = [x + radius, y, z];
  for (let k = 1; k <= sides; k++) {
    const angle = (2 * Math.PI * k) / sides;
    const next: Place = [x + radius * Math.cos(angle), y + radius * Math.sin(angle), z];
    ribbons.add(before, next, width, colour);
    before = next;
  }
}

/** A circle, and two arcs above it. */
function dome(ribbons: Ribbons, place: Place, radius: number, arcs: boolean, colour: Rgba): void {
  circle(ribbons, place, radius, 1.4, colour);
  const [x, y, z] = place;
  for (const [ux, uy] of arcs ? [[1, 0] as const, [0, 1] as const] : []) {
    for (let k = 0; k < SIDES / 2; k++) {
      const [a, b] = [(2 * Math.PI * k) / SIDES, (2 * Math.PI * (k + 1)) / SIDES];
      const at = (angle: number): Place => [
        x + radius * ux * Math.cos(angle),
        y + radius * uy * Math.cos(angle),
        z + radius * Math.sin(angle),
      ];
      ribbons.add(at(a), at(b), 1, [colour[0], colour[1], colour[2], colour[3] / 2]);
    }
  }
}

/** Lines that follow the ground. */
function drape(ribbons: Ribbons, lines: readonly number[], width: number, colour: Rgba, cell: number): void {
  const lift = LIFT + 0.05 * cell;
  for (let k = 0; k + 3 < lines.length; k += 4) {
    const [ax = 0, ay = 0, bx = 0, by = 0] = lines.slice(k, k + 4);
    ribbons.add([ax, ay, groundAt(ax, ay) + lift], [bx, by, groundAt(bx, by) + lift], width, colour);
  }
}

// coverage -----------------------------------------------------------------------------------------------------------

const VERTEX = /* glsl */ `precision highp float;
in vec3 place;
in float level;
uniform mat4 viewMatrix, projectionMatrix;
out float value;
void main() {
  value = level;
  gl_Position = projectionMatrix * viewMatrix * vec4(place, 1.0);
  gl_Position.z -= 2e-4 * gl_Position.w;
}`;

const FRAGMENT = /* glsl */ `precision highp float;
in float value;
uniform vec3 colours[17];
uniform float opacity, low;
out vec4 shown;
void main() {
  float along = clamp(value, 0.0, 1.0) * 16.0;
  int k = int(min(floor(along), 15.0));
  vec3 colour = mix(colours[k], colours[k + 1], along - float(k));
  shown = vec4(colour, opacity * max(low, smoothstep(-0.12, 0.06, value)));
}`;

/** A surface that follows the ground, coloured by value. Power below the colours is not drawn; low SINR and lost packets are. */
class HeatMap {
  readonly object: Mesh<BufferGeometry, RawShaderMaterial>;
  cells = 0;
  private drawn: unknown[] = [];
  private side = 0;

  constructor() {
    const material = new RawShaderMaterial({
      glslVersion: GLSL3,
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: { colours: { value: [] as number[] }, opacity: { value: 0.62 }, low: { value: 0 } },
      ...UNDERNEATH,
      depthWrite: false,
      side: 2,
    });
    this.object = new Mesh(new BufferGeometry(), material);
    this.object.frustumCulled = false;
    this.object.renderOrder = 2;
    this.object.visible = false;
  }

  update({ skin }: ViewState, tree: CoverageGrid | null): void {
    this.object.visible = tree !== null;
    const { quantity } = coverageChoice.peek();
    const basis = [tree, skin.theme, quantity, scenery.peek()];
    if (tree === null || basis.every((item, k) => item === this.drawn[k])) return;
    this.drawn = basis;
    const table = rampTable(skin.theme);
    const colours = Array.from({ length: 17 }, (_, k) =>
      [0, 1, 2].map((i) => (table[3 * Math.round((255 * k) / 16) + i] as number) / 255),
    );
    (this.object.material.uniforms["colours"] as { value: number[] }).value = colours.flat();
    (this.object.material.uniforms["low"] as { value: number }).value = quantity === "power" ? 0 : 1;
    this.fill(tree, tree[quantity], coverageSpan(tree, quantity));
  }

  dispose(): void {
    this.object.geometry.dispose();
    this.object.material.dispose();
  }

  private fill({ x, y, cell, side, height }: CoverageGrid, values: readonly number[], span: [number, number]): void {
    const { geometry } = this.object;
    if (side !== this.side) this.shape(side);
    const place = geometry.getAttribute("place") as BufferAttribute;
    const level = geometry.getAttribute("level") as BufferAttribute;
    for (let k = 0; k < side * side; k++) {
      const [px, py] = [x + cell * (k % side), y + cell * Math.floor(k / side)];
      place.setXYZ(k, px, py, groundAt(px, py) + Math.max(height, LIFT));
      level.setX(k, ((values[k] ?? NO_POWER) - span[0]) / (span[1] - span[0]));
    }
    place.needsUpdate = true;
    level.needsUpdate = true;
    this.cells = (side - 1) ** 2;
  }

  private shape(side: number): void {
    this.side = side;
    const { geometry } = this.object;
    geometry.dispose();
    geometry.setAttribute(
      "place",
      new BufferAttribute(new Float32Array(3 * side * side), 3).setUsage(DynamicDrawUsage),
    );
    geometry.setAttribute("level", new BufferAttribute(new Float32Array(side * side), 1).setUsage(DynamicDrawUsage));
    const index: number[] = [];
    for (let j = 0; j + 1 < side; j++) {
      for (let i = 0; i + 1 < side; i++) {
        const k = j * side + i;
        index.push(k, k + 1, k + side + 1, k, k + side + 1, k + side);
      }
    }
    geometry.setIndex(index);
  }
}
