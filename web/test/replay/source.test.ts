// A recording in the page matches what Python reads: samples, rosters, events, markers, columns.
import { afterEach, describe, expect, it } from "vitest";
import { Recording } from "../../src/replay/recording";
import { RecordingSource } from "../../src/replay/source";
import { type Frame, positionOf } from "../../src/wire/frame";
import { type Expected, fileOf, type RecordedFleet, smallBytes, smallExpected } from "./files";

const expected: Expected = smallExpected();
let source: RecordingSource | null = null;

async function opened(): Promise<RecordingSource> {
  source = new RecordingSource("small.mcap", await Recording.open(fileOf(smallBytes())));
  return source;
}

afterEach(() => source?.close());

type About = Pick<RecordedFleet, "name" | "kind" | "model" | "single"> & { columns: readonly string[] };

function about({ name, kind, model, single, columns }: About): About {
  return { name, kind, model, single, columns };
}

/** All numbers of a sample, compared with Python's. */
function compare(from: RecordingSource, frame: Frame, wanted: Expected["samples"][string]): void {
  const roster = from.recording.roster(frame.roster);
  expect([frame.tick, frame.time, frame.run]).toEqual([wanted.tick, wanted.time, wanted.run]);
  expect(roster?.fleets.map(about)).toEqual(wanted.fleets.map(about));
  let row = 0;
  for (const { ids, members, columns, block, name, single } of wanted.fleets) {
    ids.forEach((id, k) => {
      expect(roster?.idAt(row)).toBe(id);
      expect(roster?.nameAt(row)).toBe(single ? name : `${name}[${members[k]}]`);
      const values = columns.map((_, c) => block[c * ids.length + k] as number);
      expect([...from.columnValues(frame, id, columns)]).toEqual(values);
      expect(positionOf(frame, row)).toEqual(values.slice(0, 3).map(Math.fround));
      row += 1;
    });
  }
  expect(frame.count).toBe(row);
}

describe("a recording", () => {
  it("has Python's times, sections and rate", async () => {
    const { recording } = await opened();
    expect([...recording.times]).toEqual(expected.times);
    expect(recording.starts).toEqual(expected.starts);
    expect([recording.rate, recording.duration, recording.complete]).toEqual([100, expected.duration, true]);
    expect(recording.chunks).toBeGreaterThan(3);
  });

  it.each(Object.entries(expected.samples))("has every number of sample %s", async (number, wanted) => {
    const from = await opened();
    const frame = await from.seekToSample(Number(number));
    compare(from, frame as Frame, wanted);
    expect(from.roster.value.size).toBe(frame?.count);
    expect(from.timeline.position.value).toBe(expected.times[Number(number)]);
  });

  it("has the ticks", async () => {
    const from = await opened();
    const ticks: number[] = [];
    for (let k = 0; k < expected.times.length; k++) ticks.push((await from.seekToSample(k))?.tick ?? -1);
    expect(ticks).toEqual(expected.ticks);
  });

  it("has the events, with their positions on the timeline", async () => {
    const from = await opened();
    await from.seekToSample(expected.times.length - 1);
    const found = from.events.value.map(({ tick, kind, subject, detail, time }) => [tick, kind, subject, detail, time]);
    expect(found).toEqual(expected.events);
  });

  it("gives a column over the whole recording, NaN where the vehicle did not exist", async () => {
    const { recording } = await opened();
    expect([...recording.times]).toEqual(expected.times);
    const requests = [
      { vehicle: "red", columns: ["x", "speed"] },
      { vehicle: "late[1]", columns: ["z"] },
    ];
    const [x, speed, z] = (await recording.series(requests)) as [Float64Array, Float64Array, Float64Array];
    expect([...x]).toEqual(expected.red_x);
    speed.forEach((value, k) => expect(value).toBeCloseTo(expected.red_speed[k] as number, 12));
    expect([...z].map((value) => (Number.isNaN(value) ? null : value))).toEqual(expected.late_1_z);
  });

  it("reads the values around a position first, and stops when the rest is not needed", async () => {
    const { recording } = await opened();
    const parts: [known: number[], share: number][] = [];
    const note = ([x]: Float64Array[], share: number) => {
      parts.push([[...(x as Float64Array)].flatMap((value, k) => (Number.isNaN(value) ? [] : [k])), share]);
      return parts.length < 2;
    };
    const last = recording.times.length - 1;
    await recording.series([{ vehicle: "red", columns: ["x"] }], recording.duration, note);
    expect(parts.length).toBe(2);
    const [[known, share]] = parts as [(typeof parts)[number]];
    expect(known).toContain(last);
    expect(known).not.toContain(0);
    expect(share).toBeGreaterThan(0);
    expect(share).toBeLessThan(1);
  });

  it("seeks to a tick of either run", async () => {
    const from = await opened();
    expect((await from.seekTo(140))?.tick).toBe(140);
    expect((await from.seekTo(70, 1))?.run).toBe(1);
    expect(from.shown.value?.tick).toBe(70);
    expect((await from.seekTo(33))?.tick).toBe(30); // now in the second run
    expect(from.timeline.position.value).toBe(2.11);
    expect((await from.seekTo(1000))?.tick).toBe(80); // the last one
  });

  it("interpolates two samples, but not over a reset or a spawn", async () => {
    const from = await opened();
    await from.seekToSample(3);
    const between = from.at(0.325);
    expect([between?.from.tick, between?.to.tick]).toEqual([30, 40]);
    expect(between?.mix).toBeCloseTo(0.25, 9);
    await from.seekToSample(6);
    await from.seekToSample(5);
    expect(from.at(0.55)?.mix).toBe(0); // two vehicles are spawned at 0.5 s
    await from.seekToSample(19);
    const reset = from.at(1.805);
    expect([reset?.from.tick, reset?.to.tick]).toEqual([180, 180]);
  });

  it("plays at a speed, stops at the end, and plays backwards", async () => {
    const from = await opened();
    await from.seekToSample(0);
    from.timeline.setSpeed(2);
    from.timeline.play();
    from.sample(1000);
    from.sample(1250);
    expect(from.timeline.position.value).toBeCloseTo(0.5, 9);
    from.sample(9000);
    expect([from.timeline.position.value, from.timeline.playing.value]).toEqual([expected.duration, false]);
    from.timeline.setSpeed(-1);
    from.timeline.play();
    from.sample(9100);
    from.sample(9200);
    expect(from.timeline.position.value).toBeCloseTo(expected.duration - 0.1, 9);
  });

  it("steps from sample to sample", async () => {
    const from = await opened();
    from.step(1);
    expect(from.timeline.position.value).toBe(0.1);
    from.step(18);
    expect(from.timeline.position.value).toBe(1.81); // the first one after the reset
    from.step(-1);
    expect(from.timeline.position.value).toBe(1.8);
    from.step(-100);
    expect(from.timeline.position.value).toBe(0);
  });
});

describe("markers of a recording", () => {
  async function names(from: RecordingSource, sample: number): Promise<string[]> {
    await from.seekToSample(sample);
    return [...from.markers.visible()].map(({ namespace, id }) => `${namespace} ${id}`).sort();
  }

  // as in the fixture's program: goal 1 for 0.5 s, plan 7 and 8, frames 1 at 1 s, plan 7 deleted and plan hidden at 1.5
  // s, reset after 1.8 s, goal 2 for 0.1 s at 0.4 s of the second run
  const BY_SAMPLE: [number, string[]][] = [
    [0, ["goal 1", "plan 7", "plan 8"]],
    [4, ["goal 1", "plan 7", "plan 8"]],
    [5, ["plan 7", "plan 8"]],
    [10, ["frames 1", "plan 7", "plan 8"]],
    [15, ["frames 1"]],
    [17, ["frames 1"]],
    [20, []],
    [23, ["goal 2"]],
    [24, []],
  ];

  it("are right forwards, backwards, and after seeking", async () => {
    const from = await opened();
    for (const [sample, wanted] of BY_SAMPLE) expect(await names(from, sample)).toEqual(wanted);
    for (const [sample, wanted] of [...BY_SAMPLE].reverse()) expect(await names(from, sample)).toEqual(wanted);
    for (const k of [3, 0, 7, 2, 5, 1, 8, 4, 6]) {
      const [sample, wanted] = BY_SAMPLE[k] as [number, string[]];
      expect(await names(from, sample)).toEqual(wanted);
    }
  });

  it("are as put", async () => {
    const from = await opened();
    await from.seekToSample(2);
    const found = new Map([...from.markers.visible()].map((marker) => [`${marker.namespace} ${marker.id}`, marker]));
    const goal = { kind: "circle", color: [255, 128, 0, 255], position: [40, 0, 0], expires: 0.5 };
    expect(found.get("goal 1")).toMatchObject(goal);
    expect(found.get("goal 1")?.scale[0]).toBe(2);
    expect([...(found.get("plan 7")?.points ?? [])]).toEqual([0, 0, 0, 1, 2, 3]);
    expect(found.get("plan 8")).toMatchObject({ kind: "text", text: "hello", position: [1, 2, 3], frame: "" });
    expect(found.get("plan 8")?.expires).toBe(Number.POSITIVE_INFINITY);
    await from.seekToSample(12);
    expect([...from.markers.visible()].find(({ kind }) => kind === "axes")?.frame).toBe("red");
  });

  it("expire at the second run's time", async () => {
    const from = await opened();
    await from.seekToSample(23);
    expect([...from.markers.visible()][0]?.expires).toBeCloseTo(0.5, 9);
  });
});
