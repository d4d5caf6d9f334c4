// Readings of sensors with arrays (lidars, cone detections) of the selected vehicles, for the layers that show them.
import { computed, effect } from "@preact/signals";
import type { Frame } from "../wire/frame";
import type { ArrayTree, WantedColumns } from "../wire/schema";
import { type ColumnRequest, listOf, onColumns, requestColumns, valuesOf } from "./columns";
import { history } from "./run";
import { clock, focus, type Layers, layers, metadata, roster, selection, source } from "./store";

export type SensorKind = "scan" | "cloud" | "cones";

/** A sensor of a fleet whose readings are arrays. */
export interface ArraySensor {
  name: string; // as in the columns, e.g. "lidar"
  kind: SensorKind;
  arrays: readonly ArrayTree[]; // a lidar: ranges; cones: detections, truth
  posed: boolean; // whether its readings have their pose; not in recordings of earlier versions
  options: Readonly<Record<string, number>>;
}

/** Position (m) and orientation (x, y, z, w). */
export type BodyPose = readonly [number, number, number, number, number, number, number];

export interface Reading {
  vehicle: number; // id
  sensor: ArraySensor;
  time: number; // simulated s at which it was measured
  arrived: number; // simulated s at which it was known
  pose: BodyPose; // of the vehicle at that time
  values: readonly ArrayLike<number>[]; // of each array, in C order
}

const MOST = 4; // vehicles whose readings are shown
const RATES: Readonly<Record<SensorKind, number>> = { scan: 20, cloud: 10, cones: 20 }; // per s
const KEPT = 12; // readings of a sensor
const LONGEST = 1; // s: older readings of the buffer are not shown
const POSE = ["x", "y", "z", "qx", "qy", "qz", "qw"] as const;
const TICK = ".sample_tick";
const SAMPLE_POSE = ".sample_pose"; // pose at which a sensor measured

/** The layers that show a kind of sensor. */
const LAYERS: Readonly<Record<SensorKind, readonly (keyof Layers)[]>> = {
  scan: ["scans"],
  cloud: ["clouds"],
  cones: ["detections", "truth"],
};

/** Group the arrays of a fleet by sensor; arrays of unknown shape are left out. */
export function sensorsIn(arrays: readonly ArrayTree[] | undefined): ArraySensor[] {
  const groups = new Map<string, ArrayTree[]>();
  for (const array of arrays ?? []) {
    const [name = ""] = array.name.split(".");
    groups.set(name, [...(groups.get(name) ?? []), array]);
  }
  return [...groups].flatMap(([name, own]) => {
    const measured = own.filter((array) => array.name !== name + SAMPLE_POSE);
    const kind = kindOf(name, measured);
    const posed = measured.length < own.length;
    return kind === null ? [] : [{ name, kind, arrays: measured, posed, options: own[0]?.options ?? {} }];
  });
}

function kindOf(name: string, arrays: readonly ArrayTree[]): SensorKind | null {
  const [first] = arrays;
  if (first?.name === `${name}.ranges` && "fov_deg" in first.options)
    return first.shape.length === 1 ? "scan" : "cloud";
  const fields = (k: number): string => arrays[k]?.fields.map((field) => field.name).join() ?? "";
  const cones = fields(0).startsWith("x,y,colour") && fields(1).startsWith("x,y,colour");
  return cones ? "cones" : null;
}

/** The arrays of each fleet of the shown source. */
export const fleetArrays = computed<ReadonlyMap<string, readonly ArrayTree[]>>(() => {
  const shown = source.value;
  if (shown?.routes !== undefined) return shown.arrays ?? new Map(); // a recording opened in the page
  return new Map((metadata.value?.fleets ?? []).map(({ name, arrays }) => [name, arrays ?? []]));
});

/** The sensors of each fleet of the shown source. */
export const sensors = computed<ReadonlyMap<string, readonly ArraySensor[]>>(() => {
  const sensed = [...fleetArrays.value].map(([name, arrays]) => [name, sensorsIn(arrays)] as const);
  return new Map(sensed.filter(([, own]) => own.length > 0));
});

/** Whether any vehicle has a sensor of this kind. */
export function hasSensor(kind: SensorKind): boolean {
  return [...sensors.value.values()].some((own) => own.some((sensor) => sensor.kind === kind));
}

/** Values of an array per vehicle. */
export function sizeOf({ shape }: ArrayTree): number {
  return shape.reduce((product, side) => product * side, 1);
}

// requests -----------------------------------------------------------------------------------------------------------

/** Vehicle and sensor of each request, with null for the pose. */
type Wanted = readonly [vehicle: number, sensor: ArraySensor | null];

const recent = new Map<string, Reading[]>(); // of each sensor, oldest first
let wanted: readonly Wanted[] = [];

/** Request what the layers show of the selected vehicles; return a stop function. */
export function startSensing(): () => void {
  let request: ColumnRequest | null = null;
  let before = "";
  const stop = effect(() => {
    wanted = chosenSensors();
    const columns = wanted.map(([vehicle, sensor]) => requestOf(vehicle, sensor));
    const key = JSON.stringify(columns);
    if (key === before) return;
    before = key;
    request?.release();
    request = columns.length === 0 ? null : requestColumns("sensors", columns);
    recent.clear();
    if (request === null) return;
    const asked = wanted;
    onColumns(request, (frame, blocks) => {
      for (const { request: at, vehicles, values } of blocks) {
        const [vehicle, sensor] = asked[at] ?? [0, null];
        const reading = sensor && vehicles === 1 ? readingOf(frame, vehicle, sensor, values) : null;
        if (reading) keep(`${vehicle}/${reading.sensor.name}`, reading);
      }
    });
  });
  return () => {
    stop();
    request?.release();
  };
}

function chosenSensors(): Wanted[] {
  const [shown, known, fleets] = [layers.value, roster.value, sensors.value];
  if (fleets.size === 0) return [];
  const ids = [...new Set([focus.value, ...selection.value])];
  const requests: Wanted[] = [];
  let count = 0;
  for (const id of ids) {
    const row = id === null ? undefined : known.rowOfId(id);
    if (id === null || row === undefined || count === MOST) continue;
    const own = fleets.get(known.fleetAt(row)?.name ?? "") ?? [];
    const visible = own.filter(({ kind }) => LAYERS[kind].some((layer) => shown[layer]));
    if (visible.length === 0) continue;
    count += 1;
    if (!visible.every(({ posed }) => posed)) requests.push([id, null]);
    requests.push(...visible.map((sensor): Wanted => [id, sensor]));
  }
  return requests;
}

/** The tick comes first: an array takes many values. */
function requestOf(of: number, sensor: ArraySensor | null): WantedColumns {
  if (sensor === null) return { of, columns: POSE };
  const pose = sensor.posed ? [sensor.name + SAMPLE_POSE] : [];
  const columns = [sensor.name + TICK, ...sensor.arrays.map(({ name }) => name), ...pose];
  return { of, columns, rate: RATES[sensor.kind] };
}

// readings -----------------------------------------------------------------------------------------------------------

function keep(key: string, reading: Reading): void {
  const others = recent.get(key) ?? [];
  const last = others.at(-1);
  if (last && last.time === reading.time && last.arrived <= reading.arrived) return; // no new sample
  const before = others.filter(({ arrived }) => arrived < reading.arrived); // time may have been reset
  recent.set(key, [...before, reading].slice(-KEPT));
}

/** The newest readings at a time, s: the view is a little behind the newest frame. */
export function shownReadings(time: number): readonly Reading[] {
  if (wanted.length === 0) return [];
  if (source.peek()?.kind !== "buffer") {
    return [...recent.values()].flatMap((own) => own.findLast(({ arrived }) => arrived <= time + 1e-6) ?? []);
  }
  const readings = new Map<string, Reading>();
  for (const frame of history.between(time - LONGEST, time)) {
    for (const { request, vehicles, values } of frame.columns) {
      const asked = listOf(frame)?.columns[request];
      const name = asked?.columns[0]?.endsWith(TICK) ? asked.columns[0].slice(0, -TICK.length) : undefined;
      const sensor = wanted.find(([id, array]) => id === asked?.of && array !== null && array.name === name)?.[1];
      const reading = sensor && vehicles === 1 ? readingOf(frame, Number(asked?.of), sensor, values) : null;
      if (reading) readings.set(`${reading.vehicle}/${sensor?.name}`, reading);
    }
  }
  return [...readings.values()];
}

/** Null before the first sample. */
function readingOf(frame: Frame, vehicle: number, sensor: ArraySensor, data: ArrayLike<number>): Reading | null {
  const time = (data[0] ?? Number.NaN) / (source.peek()?.rate ?? clock.peek().rate);
  const sizes = sensor.arrays.map(sizeOf);
  const end = 1 + sizes.reduce((sum, size) => sum + size, 0);
  if (!(time >= 0) || data.length !== end + (sensor.posed ? POSE.length : 0)) return null;
  const pose = sensor.posed
    ? (Array.from({ length: POSE.length }, (_, k) => data[end + k]) as unknown as BodyPose)
    : poseAt(frame, vehicle, time);
  if (pose === null) return null;
  const starts = sizes.map((_, k) => sizes.slice(0, k).reduce((sum, size) => sum + size, 1));
  const values = starts.map((start, k) => (data as Float32Array).subarray(start, start + (sizes[k] as number)));
  return { vehicle, sensor, time, arrived: frame.time, pose, values };
}

/** The pose at the time of the measurement, which may be earlier than the frame, between the frames that arrived. */
function poseAt(frame: Frame, vehicle: number, time: number): BodyPose | null {
  const shown = source.peek();
  const [from, to] = (shown?.around ? shown.around(time) : history.around(time)) ?? [frame, frame];
  const [a, b] = [poseIn(from, vehicle), poseIn(to, vehicle)];
  if (!a || !b) return a ?? b ?? poseIn(frame, vehicle);
  const share = to.time > from.time ? Math.min(Math.max((time - from.time) / (to.time - from.time), 0), 1) : 1;
  const sign = a[3] * b[3] + a[4] * b[4] + a[5] * b[5] + a[6] * b[6] < 0 ? -1 : 1; // the shorter way
  const mixed = a.map((component, k) => (1 - share) * component + share * (k < 3 ? 1 : sign) * (b[k] as number));
  const length = Math.hypot(...mixed.slice(3));
  return mixed.map((component, k) => (k < 3 ? component : component / length)) as unknown as BodyPose;
}

function poseIn(frame: Frame, vehicle: number): BodyPose | null {
  const recorded = source.peek()?.columnValues?.(frame, vehicle, POSE);
  const values = recorded ? null : valuesOf(frame, vehicle);
  const pose = POSE.map((name, k) => recorded?.[k] ?? values?.get(name) ?? Number.NaN);
  return pose.every(Number.isFinite) ? (pose as unknown as BodyPose) : null;
}

/** Opacity of a reading: full until the next one is overdue, then it fades. */
export function freshness({ time, sensor }: Reading, now: number): number {
  const { rate = 10, delay = 0, delay_max = 0 } = sensor.options;
  const expected = Math.max(delay, delay_max) + 1 / rate + 0.2;
  return Math.min(Math.max(1 - (now - time - expected) / 0.6, 0), 1);
}
