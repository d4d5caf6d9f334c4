// The plot buffer, grouping and CSV export.
import { signal } from "@preact/signals";
import { describe, expect, it } from "vitest";
import {
  feedPlots,
  keptLines,
  latest,
  PlotBuffer,
  plotBuffer,
  shownRange,
  valueIn,
  wantedOf,
} from "../../src/panels/plot-data";
import { groupByUnit, keyOf, plotted, type Series } from "../../src/panels/plot-list";
import { csvOf } from "../../src/panels/plots";
import { listColumnRequests, requestColumns } from "../../src/state/columns";
import { rosters } from "../../src/state/run";
import { type FrameSource, Playback } from "../../src/state/source";
import { roster, source } from "../../src/state/store";
import { fakeServer } from "../fake-server";
import { made } from "../state/frames";
import { makeWorld } from "./world";

const series = (id: number, column: string, unit: string): Series => {
  return { id, name: `v${id}`, column, unit, colour: 0, recorded: false };
};

describe("plot buffer", () => {
  it("keeps values in order, with gaps for unknown ones", () => {
    const memory = new PlotBuffer(8);
    memory.keep(["a"]);
    memory.add(1, 0.5, () => 10);
    memory.keep(["a", "b"]);
    memory.add(1, 1.0, (key) => (key === "a" ? 11 : 20));
    expect(memory.between(0, 2, ["a", "b"])).toEqual([
      [0.5, 1],
      [10, 11],
      [null, 20],
    ]);
  });

  it("drops the oldest half when full, and everything when time goes back or a run starts", () => {
    const memory = new PlotBuffer(4);
    memory.keep(["a"]);
    for (const time of [1, 2, 3, 4, 5]) memory.add(1, time, () => time);
    expect(memory.between(0, 9, ["a"])).toEqual([
      [3, 4, 5],
      [3, 4, 5],
    ]);
    memory.add(1, 2, () => 7);
    expect(memory.between(0, 9, ["a"])).toEqual([[2], [7]]);
    memory.add(2, 3, () => 8);
    expect(memory.between(0, 9, ["a"])).toEqual([[3], [8]]);
  });

  it("replaces values at the same time, and includes one before the window", () => {
    const memory = new PlotBuffer(16);
    memory.keep(["a"]);
    for (const time of [1, 2, 3, 3]) memory.add(1, time, () => 10 * time);
    expect(memory.size).toBe(3);
    expect(memory.between(2.5, 9, ["a"])).toEqual([
      [2, 3],
      [20, 30],
    ]);
  });
});

describe("new lines", () => {
  it("start with the buffer's older times, and fill in values at known ones", () => {
    const memory = new PlotBuffer(8);
    memory.keep(["old"]);
    for (const time of [3, 4]) memory.add(0, time, () => 10 * time);
    const frames = [1, 2, 3, 4].map((time) => made(time, time));
    expect(memory.keep(["old", "new"])).toEqual(["new"]);
    memory.backfill(["new"], frames, (frame, key) => (key === "new" ? 100 * frame.time : Number.NaN));
    memory.add(0, 5, () => 7);
    expect(memory.between(0, 9, ["old", "new"])).toEqual([
      [1, 2, 3, 4, 5],
      [null, null, 30, 40, 7],
      [100, 200, 300, 400, 7],
    ]);
  });

  it("start in an empty buffer with the newest frames that fit, of the present run alone", () => {
    const memory = new PlotBuffer(3);
    memory.keep(["a"]);
    const frames = [made(8, 0, { run: 1 }), ...[1, 2, 3, 4].map((time) => made(time, 0, { run: 2 }))];
    memory.backfill(["a"], frames, (frame) => frame.time);
    expect(memory.between(0, 9, ["a"])).toEqual([
      [2, 3, 4],
      [2, 3, 4],
    ]);
  });

  it("take position, attitude and speed from poses where no column was requested", () => {
    const ids = { ids: [[7, 1]] as [number, number][], members: [[0, 1]] as [number, number][] };
    rosters.put({ roster: 1, fleets: [{ name: "red", kind: "car", model: "car", single: true, columns: [], ...ids }] });
    const [before, frame] = [made(1, 5), made(1.5, 11)];
    const value = (column: string, past = before) => valueIn(frame, { id: 7, name: "red", column }, past);
    expect(["x", "speed", "vx", "vz", "yaw"].map((column) => value(column))).toEqual([11, 12, 12, 0, 0]);
    expect(value("load_fl")).toBeNaN();
    expect(valueIn(frame, { id: 7, name: "red", column: "speed" }, undefined)).toBeNaN();
    expect(valueIn(frame, { id: 8, name: "blue", column: "x" }, before)).toBeNaN();
  });
});

describe("plots of a recording", () => {
  it("are filled completely, and removed when the run is back", () => {
    const memory = new PlotBuffer(2);
    memory.fill(Float64Array.of(0, 1, 2, 3), new Map([["a", Float64Array.of(5, Number.NaN, 7, 8)]]));
    expect(memory.between(0, 9, ["a", "b"])).toEqual([
      [0, 1, 2, 3],
      [5, null, 7, 8],
      [null, null, null, null],
    ]);
    memory.keep(["c"]);
    memory.add(1, 9, () => 4);
    expect(memory.between(0, 99, ["c", "a"])).toEqual([[9], [4], [null]]);
  });
});

describe("plots of a recording that the server plays", () => {
  it("show the whole recording while it is paused", async () => {
    makeWorld();
    fakeServer((method, params) => {
      expect([method, params]).toEqual(["series", { vehicle: "v1", columns: ["x"], start: 2, end: null }]);
      return { times: [2, 2.5, 3], values: [[1, null, 4]] };
    });
    const timeline = new Playback(signal(2), signal(12)); // starts at 2 s of the run
    timeline.seek(3);
    source.value = { ...source.value, kind: "recording", timeline } as FrameSource;
    plotted.value = [series(1, "x", "m")];
    feedPlots();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(plotBuffer.between(0, 9, [keyOf({ id: 1, column: "x" })])).toEqual([
      [2, 2.5, 3],
      [1, null, 4],
    ]);
    expect(latest()).toBe(3);
    expect(shownRange()).toEqual([0, 10]); // the length of the recording
    plotted.value = [];
  });
});

describe("plots", () => {
  it("requests once per vehicle and groups by unit", () => {
    const all = [series(1, "x", "m"), series(2, "speed", "m/s"), series(1, "y", "m")];
    expect(wantedOf(all)).toEqual([
      { of: 1, columns: ["x", "y"] },
      { of: 2, columns: ["speed"] },
    ]);
    expect([...groupByUnit(all)].map(([unit, some]) => [unit, some.length])).toEqual([
      ["m", 2],
      ["m/s", 1],
    ]);
  });

  it("writes CSV for spreadsheets", () => {
    const named = { ...series(1, "x", "m"), name: 'a,"b' };
    expect(
      csvOf(
        [named],
        [
          [0.5, 1],
          [2, null],
        ],
      ),
    ).toBe('time [s],"a,""b x [m]"\n0.5,2\n1,\n');
    expect(csvOf([{ ...named, name: "=cmd" }], [[], []])).toBe("time [s],'=cmd x [m]\n");
  });
});

describe("lines of another scenario", () => {
  it("follow the names of vehicles, and disappear with them", () => {
    makeWorld();
    const red = { ...series(99, "speed", "m/s"), name: "red" };
    const old = series(3, "speed", "m/s");
    const kept = keptLines([red, old, { ...old, recorded: true }], roster.value);
    expect(kept.map(({ id, recorded }) => [id, recorded])).toEqual([
      [7, false],
      [3, true],
    ]);
  });
});

it("columns of radio have gaps where a vehicle has no link", () => {
  const columns = ["radio.sinr", "radio.links"];
  const request = requestColumns("test", [{ of: 7, columns }]);
  const wanted = listColumnRequests();
  const start = wanted.starts.get(request) ?? 0;
  const at = (sinr: number) => {
    const values = Float64Array.from([sinr, 0]);
    return made(1, 5, { wanted: wanted.number, columns: [{ request: start, vehicles: 1, columns: 2, values }] });
  };
  const value = (sinr: number, column: string) => valueIn(at(sinr), { id: 7, name: "red", column }, undefined);
  expect([value(-100, "radio.sinr"), value(-3, "radio.sinr"), value(-100, "radio.links")]).toEqual([Number.NaN, -3, 0]);
  request.release();
});
