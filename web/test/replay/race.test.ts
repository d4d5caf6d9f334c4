// Standings of a recording opened in the page are those of Python, at every position, also after a reset.
import { afterEach, expect, it } from "vitest";
import { raceEntries } from "../../src/replay/race";
import { Recording } from "../../src/replay/recording";
import { RecordingSource } from "../../src/replay/source";
import { standings } from "../../src/state/race";
import { source } from "../../src/state/store";
import type { StandingsTree } from "../../src/wire/schema";
import { fileOf, racedBytes, racedExpected } from "./files";

const { race, samples } = racedExpected();
let opened: RecordingSource | null = null;

afterEach(() => {
  source.value = null;
  opened?.close();
});

it("are those of Python at each sample", async () => {
  opened = new RecordingSource("raced.mcap", await Recording.open(fileOf(racedBytes())));
  source.value = opened;
  expect(opened.recording.surroundings.race).toEqual(race);
  await opened.seekToSample(opened.recording.times.length - 1); // all events are read
  for (const { sample, standings: expected } of samples) {
    await opened.seekToSample(sample);
    const { rows, ...whole } = standings.value as StandingsTree;
    const { rows: wanted, ...rest } = expected;
    expect(whole).toEqual(rest);
    rows.forEach((row, k) => {
      const { progress, gap, penalty, time, result, ...exact } = row;
      const other = wanted[k] as typeof row;
      expect(other).toMatchObject(exact);
      expect([progress, gap, penalty]).toEqual(
        [other.progress, other.gap, other.penalty].map((x) => expect.closeTo(x, 4)),
      );
      expect([time ?? -1, result ?? -1]).toEqual(
        [other.time ?? -1, other.result ?? -1].map((x) => expect.closeTo(x, 6)),
      );
    });
    expect(rows.length).toBe(wanted.length);
  }
});

it("include laps, sectors, a penalty and a car that was removed", () => {
  const rows = samples.flatMap(({ standings: { rows } }) => rows);
  expect(rows.some(({ lap_times, sector_times }) => lap_times.length === 2 && sector_times.length === 2)).toBe(true);
  expect(rows.some(({ penalty }) => penalty > 0)).toBe(true);
  expect(rows.some(({ id, reason }) => id === -1 && reason === "removed")).toBe(true);
});

it("ignore events of other kinds and other texts", () => {
  const event = {
    number: 1,
    tick: 1,
    time: 0,
    subject: "red",
    kind: "lap",
    detail: "lap 1 in 20.500000000 s at 26.000000000 s",
  };
  const odd = [
    { ...event, detail: "a lap" },
    { ...event, kind: "link_up" },
    { ...event, kind: "toString" },
  ];
  expect(raceEntries([event, ...odd])).toMatchObject([{ kind: "lap", car: "red", lap: 1, value: 20.5 }]);
});
