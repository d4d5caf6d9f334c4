// Draws readings: the fan and the points of a lidar, clouds coloured by height, cone detections with covariances.
import {
  BufferAttribute,
  BufferGeometry,
  DynamicDrawUsage,
  GLSL3,
  Group,
  Mesh,
  type Object3D,
  Points,
  RawShaderMaterial,
} from "three";
import { groundAt } from "../state/scenery";
import { type ArraySensor, type BodyPose, freshness, type Reading } from "../state/sensing";
import type { Layers } from "../state/store";
import { rampTable } from "./colour-ramp";
import { bytes, type Rgba, Ribbons } from "./ribbons";
import { CONE_PAINTS } from "./shapes/cone";
import { raw } from "./skin";
import type { ViewState } from "./view";

// geometry -----------------------------------------------------------------------------------------------------------

const RAD = Math.PI / 180;
const COLOURS = ["blue", "yellow", "orange", "big_orange", "unknown"] as const;
const DEVIATIONS = 3; // of the ellipses
const SIDES = 20;

/** Unit vectors of the beams of a lidar in body axes, x, y, z of each, ring by ring from below, right to left. */
export function beamDirections({ options, arrays: [array] }: ArraySensor): Float32Array {
  const shape = array?.shape ?? [];
  const [rings, beams] = shape.length === 1 ? [1, shape[0] as number] : [shape[0] as number, shape[1] as number];
  const { fov_deg: fov = 360, vertical_fov_deg: tall = 0, yaw_deg = 0, pitch_deg = 0 } = options;
  const step = fov === 360 ? fov / beams : fov / Math.max(beams - 1, 1);
  const first = beams > 1 ? -fov / 2 : 0;
  const [sy, cy, sp, cp] = [yaw_deg, pitch_deg].flatMap((angle) => [
    Math.sin(angle * RAD),
    Math.cos(angle * RAD),
  ]) as Four;
  const directions = new Float32Array(3 * rings * beams);
  for (let ring = 0; ring < rings; ring++) {
    const rise = rings > 1 ? (-tall / 2 + (tall * ring) / (rings - 1)) * RAD : 0;
    for (let k = 0; k < beams; k++) {
      const azimuth = (first + k * step) * RAD;
      const [x, y, z] = [Math.cos(rise) * Math.cos(azimuth), Math.cos(rise) * Math.sin(azimuth), Math.sin(rise)];
      const [ahead, up] = [cp * x + sp * z, cp * z - sp * x]; // turned nose down, then left
      directions.set([cy * ahead - sy * y, sy * ahead + cy * y, up], 3 * (ring * beams + k));
    }
  }
  return directions;
}

type Four = [number, number, number, number];

/** Rotation matrix of an orientation, by rows. */
function matrixOf([, , , x, y, z, w]: BodyPose): number[] {
  return [
    ...[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
    ...[2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
    ...[2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
  ];
}

export interface Scan {
  origin: [number, number, number];
  ends: Float32Array; // x, y, z of the end of each beam
  hit: Uint8Array; // 1: a return
}

/** Ends of the beams in the world; without a return, at the longest range. */
export function scanOf({ pose, sensor, values: [ranges = []] }: Reading, directions: Float32Array): Scan {
  const { x = 0, y = 0, z = 0, range_max = 30 } = sensor.options;
  const m = matrixOf(pose) as [number, number, number, number, number, number, number, number, number];
  const [ox, oy, oz] = [
    pose[0] + m[0] * x + m[1] * y + m[2] * z,
    pose[1] + m[3] * x + m[4] * y + m[5] * z,
    pose[2] + m[6] * x + m[7] * y + m[8] * z,
  ];
  const count = ranges.length;
  const [ends, hit] = [new Float32Array(3 * count), new Uint8Array(count)];
  for (let k = 0; k < count; k++) {
    const range = ranges[k] as number;
    hit[k] = Number.isFinite(range) ? 1 : 0;
    const far = hit[k] ? range : range > 0 ? range_max : 0;
    const [u, v, w] = [directions[3 * k] as number, directions[3 * k + 1] as number, directions[3 * k + 2] as number];
    ends[3 * k] = ox + far * (m[0] * u + m[1] * v + m[2] * w);
    ends[3 * k + 1] = oy + far * (m[3] * u + m[4] * v + m[5] * w);
    ends[3 * k + 2] = oz + far * (m[6] * u + m[7] * v + m[8] * w);
  }
  return { origin: [ox, oy, oz], ends, hit };
}

export interface SeenCone {
  x: number; // m, world
  y: number;
  colour: (typeof COLOURS)[number];
  confidence: number;
  ellipse: { along: number; across: number; turn: number }; // standard deviations in m, rad from east
}

/** Detections or true cones in the world: rows are relative to the position and the heading of the vehicle. */
export function conesOf({ pose, sensor, values }: Reading, which: 0 | 1): SeenCone[] {
  const fields = sensor.arrays[which]?.fields.map(({ name }) => name) ?? [];
  const [data, wide] = [values[which] ?? [], fields.length];
  const place = (name: string): number => fields.indexOf(name);
  const [c, s, turn] = headingOf(pose);
  const seen: SeenCone[] = [];
  for (let k = 0; (k + 1) * wide <= data.length; k++) {
    const field = (name: string): number => data[k * wide + place(name)] ?? Number.NaN;
    const [x, y] = [field("x"), field("y")];
    if (!Number.isFinite(x + y)) continue;
    const ellipse = ellipseOf(field("xx"), field("xy"), field("yy"));
    seen.push({
      x: pose[0] + c * x - s * y,
      y: pose[1] + s * x + c * y,
      colour: COLOURS[field("colour")] ?? "unknown",
      confidence: which === 0 ? field("confidence") : 1,
      ellipse: { ...ellipse, turn: ellipse.turn + turn },
    });
  }
  return seen;
}

function headingOf([, , , x, y, z, w]: BodyPose): [number, number, number] {
  const turn = Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z));
  return [Math.cos(turn), Math.sin(turn), turn];
}

/** Standard deviations along the axes of a covariance, and the direction of the longer one. */
export function ellipseOf(xx: number, xy: number, yy: number): SeenCone["ellipse"] {
  if (!Number.isFinite(xx + xy + yy)) return { along: 0, across: 0, turn: 0 };
  const [middle, apart] = [(xx + yy) / 2, Math.hypot((xx - yy) / 2, xy)];
  const turn = apart > 0 ? 0.5 * Math.atan2(2 * xy, xx - yy) : 0;
  return { along: Math.sqrt(Math.max(middle + apart, 0)), across: Math.sqrt(Math.max(middle - apart, 0)), turn };
}

// materials ----------------------------------------------------------------------------------------------------------

const POINT_VERTEX = /* glsl */ `precision highp float;
in vec3 place;
in vec4 tint;
uniform mat4 viewMatrix, projectionMatrix;
uniform float focal, ratio, metres, least, most; // size in m, limits in px
out vec4 colour;
void main() {
  vec4 seen = viewMatrix * vec4(place, 1.0);
  gl_Position = projectionMatrix * seen;
  gl_PointSize = clamp(metres * focal / max(-seen.z, 0.01), least, most) * ratio;
  colour = tint;
}`;

const POINT_FRAGMENT = /* glsl */ `precision mediump float;
in vec4 colour;
uniform vec4 edge; // opacity 0: none
out vec4 shown;
void main() {
  float far = 2.0 * length(gl_PointCoord - 0.5);
  if (far > 1.0) discard;
  shown = far > 0.68 && edge.a > 0.0 ? vec4(edge.rgb, edge.a * colour.a) : colour;
}`;

const FAN_VERTEX = /* glsl */ `precision highp float;
in vec3 place;
in float strength;
uniform mat4 viewMatrix, projectionMatrix;
out float share;
void main() {
  share = strength;
  gl_Position = projectionMatrix * viewMatrix * vec4(place, 1.0);
}`;

const FAN_FRAGMENT = /* glsl */ `precision mediump float;
in float share;
uniform vec3 tint;
uniform float opacity;
out vec4 shown;
void main() { shown = vec4(tint, opacity * share); }`;

interface PointLook {
  metres: number;
  least: number; // px
  most: number;
  depthTest: boolean;
}

/** Points with a colour each. */
class PointSet {
  readonly object: Points<BufferGeometry, RawShaderMaterial>;
  count = 0;
  private places = new Float32Array(0);
  private tints = new Uint8Array(0);

  constructor(order: number, look: PointLook) {
    const material = new RawShaderMaterial({
      glslVersion: GLSL3,
      vertexShader: POINT_VERTEX,
      fragmentShader: POINT_FRAGMENT,
      uniforms: {
        ...Object.fromEntries((["metres", "least", "most"] as const).map((name) => [name, { value: look[name] }])),
        focal: { value: 1 },
        ratio: { value: 1 },
        edge: { value: [0, 0, 0, 0] },
      },
      transparent: true,
      depthWrite: false,
      depthTest: look.depthTest,
    });
    this.object = new Points(new BufferGeometry(), material);
    this.object.frustumCulled = false;
    this.object.renderOrder = order;
  }

  clear(): void {
    this.count = 0;
  }

  add(x: number, y: number, z: number, r: number, g: number, b: number, a: number): void {
    if (3 * (this.count + 1) > this.places.length) this.grow(Math.max(256, 2 * this.count));
    this.places.set([x, y, z], 3 * this.count);
    this.tints.set([r, g, b, a], 4 * this.count);
    this.count += 1;
  }

  show(): void {
    const { geometry } = this.object;
    geometry.setDrawRange(0, this.count);
    this.object.visible = this.count > 0;
    for (const attribute of Object.values(geometry.attributes)) (attribute as BufferAttribute).needsUpdate = true;
  }

  view({ focal, ratio, unit }: ViewState, edge: readonly number[] = [0, 0, 0, 0]): void {
    const { uniforms } = this.object.material;
    for (const [name, value] of [
      ["focal", focal / unit],
      ["ratio", ratio * unit],
      ["edge", edge],
    ] as const) {
      Object.assign(uniforms[name] as object, { value });
    }
  }

  private grow(count: number): void {
    const [places, tints] = [new Float32Array(3 * count), new Uint8Array(4 * count)];
    places.set(this.places);
    tints.set(this.tints);
    [this.places, this.tints] = [places, tints];
    this.object.geometry.dispose();
    this.object.geometry = new BufferGeometry();
    const attribute = (values: Float32Array | Uint8Array, wide: number, normalised: boolean): BufferAttribute =>
      new BufferAttribute(values, wide, normalised).setUsage(DynamicDrawUsage);
    this.object.geometry.setAttribute("place", attribute(places, 3, false));
    this.object.geometry.setAttribute("tint", attribute(tints, 4, true));
  }
}

/** The area that a scan has found free. */
class Fan {
  readonly object: Mesh<BufferGeometry, RawShaderMaterial>;

  constructor() {
    const material = new RawShaderMaterial({
      glslVersion: GLSL3,
      vertexShader: FAN_VERTEX,
      fragmentShader: FAN_FRAGMENT,
      uniforms: { tint: { value: null }, opacity: { value: 0 } },
      transparent: true,
      depthWrite: false,
      side: 2,
    });
    this.object = new Mesh(new BufferGeometry(), material);
    this.object.frustumCulled = false;
    this.object.renderOrder = 3;
  }

  fill({ origin, ends, hit }: Scan, closed: boolean): void {
    const count = hit.length;
    const [places, strengths] = [new Float32Array(3 * count + 3), new Float32Array(count + 1)];
    places.set(ends);
    places.set(origin, 3 * count);
    strengths.fill(0.15); // towards the ends
    strengths[count] = 1;
    const gaps = closed ? count : count - 1;
    const index = new Uint32Array(3 * Math.max(gaps, 0));
    for (let k = 0; k < gaps; k++) index.set([count, k, (k + 1) % count], 3 * k);
    this.object.geometry.dispose();
    const geometry = new BufferGeometry();
    geometry.setAttribute("place", new BufferAttribute(places, 3));
    geometry.setAttribute("strength", new BufferAttribute(strengths, 1));
    geometry.setIndex(new BufferAttribute(index, 1));
    this.object.geometry = geometry;
  }
}

// drawing ------------------------------------------------------------------------------------------------------------

const POINT: PointLook = { metres: 0.09, least: 2.6, most: 9, depthTest: true };
const CLOUD: PointLook = { metres: 0.05, least: 1.8, most: 7, depthTest: true };
const PIN: PointLook = { metres: 0.4, least: 8, most: 15, depthTest: false };
const TALL = 1.1; // m, height of the pins
const HIGH = 2; // m above the ground: end of the colours of clouds
const RING = 0.26; // m, radius of the rings around true cones
const FAN_OPACITY = { dark: 0.2, light: 0.15 } as const;

export class SensingDrawing {
  readonly group = new Group();
  private readonly hits = new PointSet(6, POINT);
  private readonly cloud = new PointSet(5, CLOUD);
  private readonly pins = new PointSet(9, PIN);
  private readonly lines = new Ribbons(8, true);
  private readonly fans: Fan[] = [];
  private readonly directions = new WeakMap<ArraySensor, Float32Array>();
  private basis: readonly unknown[] = [];
  private counts = { points: 0, detections: 0, truth: 0 };

  constructor() {
    this.group.add(this.cloud.object, this.hits.object, this.pins.object, this.lines.object as Object3D);
  }

  get shown(): { points: number; detections: number; truth: number } {
    return this.counts;
  }

  update(view: ViewState, readings: readonly Reading[], layers: Layers, time: number): void {
    const fresh = readings.map((reading) => Math.round(10 * freshness(reading, time)));
    const { scans, clouds, detections, truth } = layers;
    const basis = [view.skin, scans, clouds, detections, truth, ...readings, ...fresh];
    if (basis.length !== this.basis.length || basis.some((item, k) => item !== this.basis[k])) {
      this.basis = basis;
      this.rebuild(view, readings, layers, fresh);
    }
    const { r, g, b } = view.skin.background;
    for (const set of [this.hits, this.cloud]) set.view(view);
    this.pins.view(view, [r, g, b, 0.9]);
    this.lines.view(view);
  }

  dispose(): void {
    for (const { object } of [this.hits, this.cloud, this.pins, ...this.fans]) {
      object.geometry.dispose();
      object.material.dispose();
    }
    this.lines.dispose();
  }

  private rebuild(view: ViewState, readings: readonly Reading[], layers: Layers, fresh: readonly number[]): void {
    for (const layer of [this.hits, this.cloud, this.pins, this.lines]) layer.clear();
    this.counts = { points: 0, detections: 0, truth: 0 };
    let fans = 0;
    readings.forEach((reading, k) => {
      const opacity = (fresh[k] as number) / 10;
      const { kind } = reading.sensor;
      if (opacity === 0) return;
      if (kind === "scan" && layers.scans) this.addScan(view, reading, opacity, fans++);
      if (kind === "cloud" && layers.clouds) this.addCloud(view, reading, opacity);
      if (kind === "cones" && layers.truth) this.addTruth(view, reading, opacity);
      if (kind === "cones" && layers.detections) this.addDetections(reading, opacity);
    });
    this.fans.forEach((fan, k) => (fan.object.visible = k < fans));
    for (const layer of [this.hits, this.cloud, this.pins, this.lines]) layer.show();
    this.counts.points = this.hits.count + this.cloud.count;
  }

  private scan(reading: Reading): Scan {
    const directions = this.directions.get(reading.sensor) ?? beamDirections(reading.sensor);
    this.directions.set(reading.sensor, directions);
    return scanOf(reading, directions);
  }

  private addScan({ skin }: ViewState, reading: Reading, opacity: number, number: number): void {
    const scan = this.scan(reading);
    const { ends, hit } = scan;
    let fan = this.fans[number];
    if (fan === undefined) {
      fan = new Fan();
      this.fans.push(fan);
      this.group.add(fan.object);
    }
    fan.fill(scan, reading.sensor.options["fov_deg"] === 360);
    const { uniforms } = fan.object.material;
    Object.assign(uniforms["tint"] as object, { value: skin.accent });
    Object.assign(uniforms["opacity"] as object, { value: FAN_OPACITY[skin.theme] * opacity });
    const [r, g, b] = bytes(skin.accent);
    for (let k = 0; k < hit.length; k++) {
      if (hit[k]) this.hits.add(...at(ends, k), r, g, b, Math.round(255 * opacity));
    }
  }

  private addCloud({ skin }: ViewState, reading: Reading, opacity: number): void {
    const { ends, hit } = this.scan(reading);
    const table = rampTable(skin.theme);
    for (let k = 0; k < hit.length; k++) {
      if (!hit[k]) continue;
      const [x, y, z] = at(ends, k);
      const high = z - groundAt(x, y);
      const step = 3 * Math.min(Math.max(Math.round((255 * high) / HIGH), 0), 255);
      const strength = high < 0.05 ? 0.4 : 1; // the ground
      const [r, g, b] = [table[step] as number, table[step + 1] as number, table[step + 2] as number];
      this.cloud.add(x, y, z, r, g, b, Math.round(255 * opacity * strength));
    }
  }

  private addDetections(reading: Reading, opacity: number): void {
    for (const { x, y, colour, confidence, ellipse } of conesOf(reading, 0)) {
      const z = groundAt(x, y) + 0.02;
      const alpha = opacity * Math.min(Math.max(0.35 + 0.65 * confidence, 0.35), 1);
      const paint = bytes(raw(CONE_PAINTS[colour]?.body ?? "#9aa4ae"));
      const tint = (share: number): Rgba => [paint[0], paint[1], paint[2], Math.round(255 * alpha * share)];
      this.ring(x, y, z, DEVIATIONS * ellipse.along, DEVIATIONS * ellipse.across, ellipse.turn, 2, tint(1));
      this.lines.add([x, y, z], [x, y, z + TALL], 1.6, tint(0.15), tint(0.9));
      this.pins.add(x, y, z + TALL, ...tint(1));
      this.counts.detections += 1;
    }
  }

  private addTruth({ skin }: ViewState, reading: Reading, opacity: number): void {
    for (const { x, y } of conesOf(reading, 1)) {
      this.ring(x, y, groundAt(x, y) + 0.02, RING, RING, 0, 1.5, bytes(skin.text, Math.round(200 * opacity)));
      this.counts.truth += 1;
    }
  }

  private ring(x: number, y: number, z: number, a: number, b: number, turn: number, wide: number, ink: Rgba): void {
    const [c, s] = [Math.cos(turn), Math.sin(turn)];
    const point = (k: number): [number, number, number] => {
      const [u, v] = [a * Math.cos((2 * Math.PI * k) / SIDES), b * Math.sin((2 * Math.PI * k) / SIDES)];
      return [x + c * u - s * v, y + s * u + c * v, z];
    };
    for (let k = 0; k < SIDES; k++) this.lines.add(point(k), point(k + 1), wide, ink);
  }
}

function at(places: Float32Array, k: number): [number, number, number] {
  return [places[3 * k] as number, places[3 * k + 1] as number, places[3 * k + 2] as number];
}
