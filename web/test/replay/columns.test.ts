// Column requests are answered from a recording as by the server for the live run.
import { afterEach, describe, expect, it } from "vitest";
import { Recording } from "../../src/replay/recording";
import { RecordingSource } from "../../src/replay/source";
import { onColumns, requestColumns, wholeColumn } from "../../src/state/columns";
import type { ColumnBlock, Frame } from "../../src/wire/frame";
import { fileOf, smallBytes, smallExpected } from "./files";

const expected = smallExpected();
let source: RecordingSource | null = null;

afterEach(() => source?.close());

describe("requests", () => {
  it("are answered for vehicles, fleets and all, with NaN for unknown values", async () => {
    source = new RecordingSource("a", await Recording.open(fileOf(smallBytes())));
    source.answerColumnRequests();
    const wish = requestColumns("test", [
      { of: "red", columns: ["x", "speed", "nonsense"] },
      { of: "scouts", columns: ["z"] },
      { of: null, columns: ["x"] },
      { of: "late[1]", columns: ["z"] },
      { of: "unknown", columns: ["z"] },
    ]);
    const got: { frame: Frame; blocks: readonly ColumnBlock[] }[] = [];
    const end = onColumns(wish, (frame, blocks) => got.push({ frame, blocks }));
    await source.seekToSample(10);
    const last = got.at(-1);
    expect(last?.frame.tick).toBe(100);
    const values = last?.blocks.map((block) => [...block.values]) ?? [];
    expect(values[0]?.[0]).toBe(expected.red_x[10]);
    expect(values[0]?.[1]).toBeCloseTo(expected.red_speed[10] as number, 12);
    expect(values[0]?.[2]).toBeNaN();
    expect(values[1]).toEqual([5, 5, 5]); // the fixture's grid is at 5 m; one of the three is removed after this sample
    expect(values[2]).toHaveLength(6);
    expect(values[3]).toEqual([1.5]);
    expect(last?.blocks[4]?.vehicles).toBe(0);
    expect([...(wholeColumn(last?.frame as Frame, "x") ?? [])]).toEqual(values[2]);
    end();
    wish.release();
  });

  it("are answered while a recording is paused", async () => {
    source = new RecordingSource("a", await Recording.open(fileOf(smallBytes())));
    source.answerColumnRequests();
    await source.seekToSample(3);
    const wish = requestColumns("late", [{ of: "red", columns: ["x"] }]);
    let x = Number.NaN;
    const end = onColumns(wish, (_, blocks) => (x = blocks[0]?.values[0] ?? Number.NaN));
    source.sample(5000);
    expect(x).toBe(expected.red_x[3]);
    end();
    wish.release();
  });
});
