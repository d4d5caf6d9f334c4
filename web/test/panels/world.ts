// A small world for panel tests: two fleets, figures, and a fake server.
import { signal } from "@preact/signals";
import { options } from "preact";
import { connection } from "../../src/net/connection";
import { MarkerBoard } from "../../src/state/markers";
import { Roster } from "../../src/state/roster";
import type { FrameSource } from "../../src/state/source";
import { clock, figures, metadata, notices, select, source } from "../../src/state/store";
import type { FiguresTree, InspectedTree, MetadataTree, ValueTree } from "../../src/wire/schema";
import { fakeServer } from "../fake-server";

const value = (name: string, unit: string, now: number): ValueTree => ({
  name,
  unit,
  meaning: `meaning of ${name}`,
  low: -1,
  high: 1,
  choices: [],
  value: now,
});

export const inspectedRed: InspectedTree = {
  id: 7,
  name: "red",
  fleet: "red",
  kind: "car",
  model: "car.bicycle",
  preset: "sports",
  driven_by: null,
  substeps: 4,
  tick: 10,
  time: 0.1,
  state: [value("x", "m", 12.5), value("slip", "", 0.25)],
  columns: [value("x", "m", 12.5), value("speed", "m/s", 3), value("yaw", "rad", 1)],
  command: [value("steer", "rad", 0.5), { ...value("gear", "", 1), choices: ["reverse", "drive"] }],
  parameters: [value("mass", "kg", 1200)],
  sensors: { imu: [value("ax", "m/s2", 9.75)] },
};

export const someFigures: FiguresTree = {
  tick: 1000,
  time: 1,
  wall: 0,
  rate: 1000,
  pace: 1,
  paused: false,
  running: true,
  run: 1,
  vehicles: 4,
  slips: 3,
  lag_seconds: 0,
  tick_seconds: 0.0004,
  events: 2,
  commands: 5,
  refused: 1,
  owner: "",
  drivers: {},
  visualization: null,
  stages: { move: { calls: 1000, seconds: 0.25 }, publish: { calls: 30, seconds: 0.1 } },
  subscribers: [{ name: "page 1", endpoint: "web", rate: 30, skipped: 2 }],
  counts: { dropped_groups: 17 },
};

const about = {
  name: "race",
  description: "two cars",
  seed: 7,
  rate: 1000,
  pace: 1,
  paused: false,
  run: 1,
  version: "1.2.3",
  client: "web client 1",
  owner: null,
  locked: false,
  can_load: true,
  scenario: {},
  fleets: [],
  recording: null,
  web: null,
} satisfies MetadataTree;

options.requestAnimationFrame = queueMicrotask; // effects run immediately, not after the next frame

/** Calls to the server, in order. */
export const calls: [string, unknown][] = [];

export function makeWorld(): void {
  calls.length = 0;
  notices.value = [];
  const answers: Record<string, unknown> = {
    inspect: inspectedRed,
    list_models: { models: [{ model: "car.bicycle", kind: "car", summary: "a car", presets: ["sports"], inputs: [] }] },
    spawn_robots: { names: ["red2"], ids: [8] },
  };
  fakeServer((method, params) => {
    calls.push([method, params]);
    return Promise.resolve(answers[method] ?? { tick: 1, time: 1 });
  });
  connection.value = { state: "open" };
  metadata.value = about;
  figures.value = someFigures;
  clock.value = { tick: 1000, time: 83.456, run: 1, rate: 1000, pace: 1, paused: false, owner: "", factor: 0.5 };
  source.value = liveSource();
  select([]);
}

function liveSource(): FrameSource {
  const roster = new Roster({
    roster: 1,
    fleets: [
      {
        name: "red",
        kind: "car",
        model: "car.bicycle",
        single: true,
        ids: [[7, 1]],
        members: [[0, 1]],
        columns: ["x", "command.steer"],
      },
      { name: "scouts", kind: "quad", model: "quad", single: false, ids: [[20, 3]], members: [[0, 3]], columns: ["x"] },
    ],
  });
  const events = [
    { number: 1, tick: 500, kind: "lap", subject: "red", detail: "12.3 s" },
    { number: 2, tick: 900, kind: "contact", subject: "scouts[1]", detail: "with red" },
  ];
  return {
    label: "live",
    kind: "live",
    roster: signal(roster),
    markers: new MarkerBoard(),
    events: signal(events),
    timeline: null,
    sample: () => null,
    close: () => undefined,
  };
}
