// Arrays of sensors in a recording: read as Python reads them, and shown as readings with the pose of their time.
import { afterEach, beforeEach, expect, it } from "vitest";
import { Recording } from "../../src/replay/recording";
import { RecordingSource } from "../../src/replay/source";
import { onColumns, requestColumns } from "../../src/state/columns";
import { hasSensor, sensors, shownReadings, startSensing } from "../../src/state/sensing";
import * as store from "../../src/state/store";
import type { ColumnBlock, Frame } from "../../src/wire/frame";
import { fileOf, type SensedSample, sensedBytes, sensedExpected, smallBytes } from "./files";

const { arrays, samples } = sensedExpected();
const numbers = (values: readonly (number | string)[]): number[] =>
  values.map((one) => (one === "inf" ? Number.POSITIVE_INFINITY : Number(one)));
let shown: RecordingSource;
let stop = (): void => undefined;
let car: number; // id of cars[1]

beforeEach(async () => {
  shown = new RecordingSource("a", await Recording.open(fileOf(sensedBytes())));
  shown.answerColumnRequests();
  await shown.seekToSample(0);
  store.source.value = shown;
  car = shown.roster.value.idAt(shown.roster.value.rowOfName("cars[1]") as number) as number;
  store.select([car]);
  stop = startSensing();
});

afterEach(() => {
  stop();
  store.source.value = null;
  shown.close();
});

it("describes the arrays as the live run does", () => {
  expect(Object.fromEntries(shown.arrays)).toEqual(arrays);
  expect(sensors.value.get("cars")?.map(({ name, kind }) => [name, kind])).toEqual([
    ["cones", "cones"],
    ["lidar", "scan"],
  ]);
  expect([hasSensor("scan"), hasSensor("cloud")]).toEqual([true, false]);
});

it("answers requests with the values that Python reads, of one vehicle and of a fleet", async () => {
  const wish = requestColumns("test", [
    { of: car, columns: ["lidar.sample_tick", "lidar.ranges"] },
    { of: "cars", columns: ["lidar.ranges", "x"] },
  ]);
  let got: [Frame, readonly ColumnBlock[]] | null = null;
  const end = onColumns(wish, (frame, blocks) => (got = [frame, blocks]));
  for (const k of [3, 5, 2]) {
    await shown.seekToSample(k);
    const { tick, ticks, pose, "lidar.ranges": ranges } = samples[k] as SensedSample;
    const [frame, [one, all]] = got as unknown as [Frame, [ColumnBlock, ColumnBlock]];
    expect(frame.tick).toBe(tick);
    expect([...one.values]).toEqual([ticks.lidar, ...numbers(ranges)]);
    expect([all.vehicles, all.columns]).toEqual([2, ranges.length + 1]);
    const second = [...all.values].filter((_, at) => at % 2 === 1);
    expect(second).toEqual([...numbers(ranges), pose[0]]);
    expect(frame.columns.every(({ values }) => values.length <= 20)).toBe(true); // arrays are not kept with frames
  }
  end();
  wish.release();
});

it("shows readings at the pose of the time at which they were measured, also after seeking back", async () => {
  for (const k of [4, 6, 2]) {
    const { time, ticks, ...sample } = samples[k] as SensedSample;
    await shown.seekToSample(k);
    const readings = shownReadings(time);
    expect(readings.map(({ sensor }) => sensor.name).sort()).toEqual(["cones", "lidar"]);
    for (const { sensor, time: at, pose, values } of readings) {
      const tick = ticks[sensor.name as "cones" | "lidar"];
      expect(at).toBeCloseTo(tick / 100, 12);
      const then = samples.find((one) => one.tick === tick) as SensedSample; // ticks of this file are sampled
      pose.forEach((one, j) => expect(one).toBeCloseTo(then.pose[j] as number, 9));
      const name = sensor.name === "cones" ? "cones.detections" : "lidar.ranges";
      expect([...(values[0] as Float32Array)]).toEqual(numbers(sample[name]));
    }
  }
});

it("has no sensors in a recording of an earlier version", async () => {
  const old = new RecordingSource("old", await Recording.open(fileOf(smallBytes())));
  store.source.value = old;
  expect(sensors.value.size).toBe(0);
  old.close();
});
