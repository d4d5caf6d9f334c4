// The recording made by fixtures/make.py, and its contents as read by Python.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import type { RecordedRace } from "../../src/state/source";
import type { StandingsTree } from "../../src/wire/schema";

export interface RecordedFleet {
  name: string;
  kind: string;
  model: string;
  single: boolean;
  columns: string[];
  ids: number[];
  members: number[];
  block: number[]; // (columns, vehicles)
}

export interface Expected {
  rate: number;
  duration: number;
  times: number[];
  ticks: number[];
  starts: number[];
  events: [tick: number, kind: string, subject: string, detail: string, time: number][];
  samples: Record<string, { tick: number; time: number; run: number; fleets: RecordedFleet[] }>;
  red_x: number[];
  red_speed: number[];
  late_1_z: (number | null)[];
}

const folder = join(dirname(fileURLToPath(import.meta.url)), "fixtures");

export function smallBytes(): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(gunzipSync(readFileSync(join(folder, "small.mcap.gz"))));
}

export function smallExpected(): Expected {
  return JSON.parse(gunzipSync(readFileSync(join(folder, "small.json.gz"))).toString()) as Expected;
}

/** A file as the page receives it. */
export function fileOf(bytes: Uint8Array<ArrayBuffer>, name = "small.mcap"): File {
  return new File([bytes], name);
}

/** A sample of sensed.mcap as Python reads it; numbers that are not finite are text. */
export interface SensedSample {
  tick: number;
  time: number;
  pose: [number, number, number, number, number, number, number];
  ticks: { cones: number; lidar: number };
  "cones.detections": (number | "nan")[];
  "lidar.ranges": (number | "inf")[];
}

export function sensedBytes(): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(gunzipSync(readFileSync(join(folder, "sensed.mcap.gz"))));
}

export function sensedExpected(): { arrays: Record<string, unknown>; samples: SensedSample[] } {
  return JSON.parse(gunzipSync(readFileSync(join(folder, "sensed.json.gz"))).toString()) as never;
}

export function racedBytes(): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(gunzipSync(readFileSync(join(folder, "raced.mcap.gz"))));
}

/** The standings of raced.mcap as Python computes them, at some samples. */
export function racedExpected(): { race: RecordedRace; samples: { sample: number; standings: StandingsTree }[] } {
  return JSON.parse(gunzipSync(readFileSync(join(folder, "raced.json.gz"))).toString()) as never;
}
