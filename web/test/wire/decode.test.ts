// Decoding hand-packed bytes, and rejections.
import { describe, expect, it } from "vitest";
import { measureDecode } from "../../src/net/worker";
import { applyMarkers, MarkerBoard } from "../../src/state/markers";
import { decodeMessage, InvalidMessage, splitFrames } from "../../src/wire/decode";
import { positionOf } from "../../src/wire/frame";
import { bytes, event, f32, f64, frame, poses, text, tick, u8, u16, u32 } from "./pack";

describe("groups", () => {
  it("decodes tick and poses", () => {
    const message = bytes(
      tick({ tick: 2n ** 33n + 5n, time: 12.25, wall: 1.7e9, run: 3, roster: 9 }),
      poses([1.5, -2.5, 3.25, 0xc0000000], [Number.NaN, 0, 0, 7]),
    );
    const { frame: decoded } = decodeMessage(message);
    expect(decoded).toMatchObject({ tick: 8589934597, time: 12.25, wall: 1.7e9, run: 3, roster: 9, count: 2 });
    expect(decoded && positionOf(decoded, 0)).toEqual([1.5, -2.5, 3.25]);
    expect(decoded?.poses[3]).toBe(0xc0000000);
    expect(decoded && positionOf(decoded, 1)[0]).toBeNaN();
  });

  it("decodes columns of both widths without alignment", () => {
    const wide = [...u32(0), ...u32(2), ...u32(1), ...u32(8), ...f64(0.1), ...f64(-7)];
    const narrow = [...u32(1), ...u32(1), ...u32(3), ...u32(4), ...f32(1), ...f32(2), ...f32(Number.NaN)];
    const gone = [...u32(2), ...u32(0), ...u32(1), ...u32(8)];
    const columns = frame(0x15, [...u32(4), ...u32(3), ...wide, ...narrow, ...gone]);
    const { frame: decoded } = decodeMessage(bytes(tick({ tick: 1n, time: 0 }), poses(), columns));
    expect(decoded?.wanted).toBe(4);
    expect(decoded?.columns.map(({ request, vehicles }) => [request, vehicles])).toEqual([
      [0, 2],
      [1, 1],
      [2, 0],
    ]);
    expect([...(decoded?.columns[0]?.values ?? [])]).toEqual([0.1, -7]);
    expect([...(decoded?.columns[1]?.values ?? [])]).toEqual([1, 2, Number.NaN]);
  });

  it("has no vehicles when there are none", () => {
    const { frame: decoded } = decodeMessage(bytes(tick({ tick: 1n, time: 0.5 }), poses()));
    expect(decoded?.count).toBe(0);
    expect(decoded?.poses.length).toBe(0);
  });

  it("keeps poses in the message's memory without damaging the columns after them", () => {
    const columns = frame(0x15, [...u32(1), ...u32(1), ...u32(0), ...u32(1), ...u32(1), ...u32(8), ...f64(0.3)]);
    for (const more of [0, 1, 2, 3]) {
      const before = frame(0x01, new Array<number>(more).fill(255)); // shifts what follows by any number of bytes
      const message = bytes(before, tick({ tick: 1n, time: 0 }), poses([1, 2, 3, 4], [5, 6, 7, 0xffffffff]), columns);
      const { frame: decoded } = decodeMessage(message);
      expect(decoded?.poses.buffer).toBe(message);
      expect(decoded && positionOf(decoded, 0)).toEqual([1, 2, 3]);
      expect(decoded && positionOf(decoded, 1)).toEqual([5, 6, 7]);
      expect([decoded?.poses[3], decoded?.poses[7]]).toEqual([4, 0xffffffff]);
      expect([...(decoded?.columns[0]?.values ?? [])]).toEqual([0.3]);
    }
  });
});

describe("markers and events", () => {
  const marker = (flags: number, namespace: string, id: number, words: string, points: number[][]): number[] => [
    ...u32(id),
    ...u8(1),
    ...u8(flags),
    ...u8(text(namespace).length),
    ...u8(3),
    255,
    128,
    0,
    200,
    ...[1, 2, 3].flatMap(f32),
    ...[10, 20, Number.NaN].flatMap(f64),
    ...[0, 0, 0, 1].flatMap(f32),
    ...f64(Number.POSITIVE_INFINITY),
    ...u32(text(words).length),
    ...u32(points.length),
    ...text(namespace),
    ...text("red"),
    ...text(words),
    ...points.flat().flatMap(f32),
  ];

  it("decodes a complete marker", () => {
    const one = marker(0, "wärme", 7, "größer", [
      [1, 2, 3],
      [4, 5, 6],
    ]);
    const { markers } = decodeMessage(bytes(frame(0x12, [...u32(1), ...one])));
    expect(markers[0]?.marker).toMatchObject({
      namespace: "wärme",
      id: 7,
      kind: "line_strip",
      frame: "red",
      text: "größer",
      color: [255, 128, 0, 200],
      scale: [1, 2, 3],
      position: [10, 20, Number.NaN],
      expires: Number.POSITIVE_INFINITY,
    });
    expect([...(markers[0]?.marker.points ?? [])]).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("adds, hides and removes", () => {
    const board = new MarkerBoard();
    const apply = (flags: number, namespace: string, id: number) => {
      const { markers } = decodeMessage(bytes(frame(0x12, [...u32(1), ...marker(flags, namespace, id, "", [])])));
      applyMarkers(board, markers);
    };
    for (const id of [1, 2]) apply(0, "a", id);
    apply(4, "b", 1);
    expect([...board.visible()].map(({ namespace, id }) => `${namespace}${id}`)).toEqual(["a1", "a2"]);
    expect(board.namespaces.value.get("b")).toEqual({ count: 1, hidden: true });
    apply(1, "a", 1);
    expect([...board.visible()].map(({ id }) => id)).toEqual([2]);
    apply(2, "a", 0);
    expect(board.namespaces.value.has("a")).toBe(false);
    apply(8, "", 0);
    expect(board.namespaces.value.size).toBe(0);
  });

  it("decodes events", () => {
    const two = [...event(1n, 60n, "spawned", "red", "by a page"), ...event(2n, 61n, "", "", "")];
    const { events } = decodeMessage(bytes(frame(0x13, [...u32(2), ...two])));
    expect(events).toEqual([
      { number: 1, tick: 60, kind: "spawned", subject: "red", detail: "by a page" },
      { number: 2, tick: 61, kind: "", subject: "", detail: "" },
    ]);
  });
});

describe("garbage", () => {
  const parts = [
    tick({ tick: 7n, time: 1, roster: 2 }),
    poses([1, 2, 3, 4], [5, 6, 7, 8]),
    frame(0x13, [...u32(1), ...event(1n, 2n, "kind", "subject", "detail")]),
  ];
  const whole = new Uint8Array(bytes(...parts));
  const ends = parts.map((_, k) => parts.slice(0, k + 1).flat().length);

  it("rejects every truncation within a frame, and accepts those between frames", () => {
    for (let cut = 0; cut <= whole.length; cut++) {
      const message = whole.slice(0, cut).buffer;
      if (cut === 0 || ends.includes(cut)) expect(() => splitFrames(message)).not.toThrow();
      else expect(() => splitFrames(message)).toThrow(InvalidMessage);
    }
    expect(splitFrames(whole.buffer).map(({ type }) => type)).toEqual([0x10, 0x14, 0x13]);
  });

  it("throws only InvalidMessage, whichever byte is wrong", () => {
    for (let at = 0; at < whole.length; at++) {
      for (const value of [0, 1, 127, 255]) {
        const broken = whole.slice();
        broken[at] = value;
        try {
          decodeMessage(broken.buffer);
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidMessage);
        }
      }
    }
  });

  it.each([
    ["poses without a tick", bytes(poses([1, 2, 3, 4]))],
    ["more vehicles than bytes", bytes(tick({ tick: 1n, time: 0 }), frame(0x14, [...u32(1000), ...f32(1)]))],
    ["a tick with a non-finite time", bytes(tick({ tick: 1n, time: Number.NaN }), poses())],
    [
      "an invalid width",
      bytes(frame(0x15, [...u32(1), ...u32(1), ...u32(0), ...u32(1), ...u32(1), ...u32(2), ...u16(1)])),
    ],
    ["too many bytes", bytes(frame(0x10, new Array<number>(33).fill(0)))],
    [
      "an enormous block",
      bytes(frame(0x15, [...u32(1), ...u32(1), ...u32(0), ...u32(2 ** 31), ...u32(2 ** 31), ...u32(8)])),
    ],
    ["an unknown type", bytes(frame(0x77, []))],
  ])("rejects %s", (_, message) => {
    expect(() => decodeMessage(message)).toThrow(InvalidMessage);
  });
});

it("measures the decoding of 100,000 poses", () => {
  const { median, p95, slowest, bytes: size } = measureDecode(100_000);
  expect(size).toBe(1_600_046); // 5 + 32, 5 + 4 + 16 each
  expect([median, p95, slowest]).toEqual([median, p95, slowest].toSorted((a, b) => a - b));
});
