// Files that are no recordings, or damaged: one notice, and the page continues.
import { McapWriter } from "@mcap/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { closeRecording, type GhostSource, openRecording, RecordingSource, removeGhost } from "../../src/replay/open";
import { ghosts, notices, source } from "../../src/state/store";
import { fileOf, smallBytes, smallExpected } from "./files";

const whole = smallBytes();
const expected = smallExpected();
const words = () => notices.value.map(({ kind, text }) => `${kind}: ${text}`);

beforeEach(() => {
  notices.value = [];
});

afterEach(() => {
  closeRecording();
  for (const ghost of ghosts.value) removeGhost(ghost as GhostSource);
});

async function opened(bytes: Uint8Array<ArrayBuffer>, name = "a.mcap"): Promise<RecordingSource> {
  await openRecording(fileOf(bytes, name));
  expect(source.value).toBeInstanceOf(RecordingSource);
  return source.value as RecordingSource;
}

/** An MCAP file of another program. */
async function foreign(): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const writer = new McapWriter({
    writable: {
      position: () => BigInt(size),
      write: async (bytes) => {
        parts.push(bytes.slice());
        size += bytes.length;
      },
    },
  });
  await writer.start({ profile: "", library: "another" });
  const channel = { topic: "/a", messageEncoding: "json", schemaId: 0, metadata: new Map<string, string>() };
  const channelId = await writer.registerChannel(channel);
  await writer.addMessage({ channelId, sequence: 0, logTime: 1n, publishTime: 1n, data: new Uint8Array([123, 125]) });
  await writer.end();
  return new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer());
}

describe("invalid files", () => {
  it.each([
    ["an empty file", async () => new Uint8Array(0), "a.mcap is empty"],
    ["text", async () => Uint8Array.from(new TextEncoder().encode("plain text")), "a.mcap is not an MCAP file"],
    ["one byte", async () => Uint8Array.of(0x89), "a.mcap is not an MCAP file"],
    ["only the magic", async () => whole.slice(0, 8), "a.mcap is truncated before the first chunk"],
    ["another program's file", foreign, "a.mcap is an MCAP file, but not a Paddock recording"],
  ])("%s", async (_, make, wanted) => {
    const before = source.value;
    await openRecording(fileOf(await make(), "a.mcap"));
    expect(words()).toEqual([`error: ${wanted}`]);
    expect(source.value).toBe(before);
  });
});

describe("a truncated recording", () => {
  it("is shown as far as it is readable, wherever it was cut", async () => {
    const counts = new Set<number>();
    for (let size = 8; size < whole.length; size += 1499) {
      notices.value = [];
      await openRecording(fileOf(whole.slice(0, size)));
      expect(words()).toHaveLength(1);
      if (!(source.value instanceof RecordingSource)) continue;
      expect(words()[0]).toBe("warning: small.mcap is truncated; showing the readable part");
      const { recording } = source.value;
      expect([...recording.times]).toEqual(expected.times.slice(0, recording.times.length));
      const last = await source.value.seekToSample(recording.times.length - 1);
      expect(last?.tick).toBe(expected.ticks[recording.times.length - 1]);
      counts.add(recording.times.length);
    }
    expect(Math.max(...counts)).toBe(expected.times.length); // only the summary is missing
    expect(counts.size).toBeGreaterThan(3);
  }, 30_000);
});

describe("a damaged recording", () => {
  it("never stops the page, and never shows wrong data", async () => {
    let shown = 0;
    for (let k = 0; k < 80; k++) {
      const bytes = whole.slice();
      const at = (k * 7919) % bytes.length;
      bytes[at] = (bytes[at] as number) ^ (1 << (k % 8));
      notices.value = [];
      await openRecording(fileOf(bytes));
      for (const text of words()) expect(text).not.toContain("\n");
      if (!(source.value instanceof RecordingSource)) continue;
      const { recording } = source.value;
      for (const sample of [0, 7, recording.times.length - 1]) {
        const frame = await source.value.seekToSample(sample);
        if (frame === null) continue;
        expect(expected.ticks).toContain(frame.tick);
        shown += 1;
      }
      closeRecording();
    }
    expect(shown).toBeGreaterThan(150);
  }, 30_000);

  it("reports missing parts once, and shows the rest", async () => {
    const from = await opened(whole.slice());
    const places = (from.recording as unknown as { places: { chunks: { start: number; length: number }[] } }).places;
    const hurt = places.chunks[from.recording.chunkOf(expected.times.length - 1)];
    const { start, length } = hurt ?? { start: 0, length: 0 };
    const bytes = whole.slice();
    bytes.fill(0x55, start + 60, start + length - 10);
    const damaged = await opened(bytes, "b.mcap");
    expect((await damaged.seekToSample(3))?.tick).toBe(30);
    const last = await damaged.seekToSample(expected.times.length - 1);
    const before = places.chunks.findLastIndex((chunk, k) => chunk.start < start && from.recording.holds(k, "state"));
    const nearest = from.recording.firstSample(before + 1) - 1; // the last readable one
    expect([last?.tick, last?.run]).toEqual([expected.ticks[nearest], 1]);
    const reports = words().filter((text) => text.includes("damaged"));
    expect(reports).toHaveLength(1);
    expect(reports[0]).toMatch(/^warning: b.mcap is damaged: at least [\d.]+ s to 2\.6 s cannot be shown$/);
  });
});

describe("main and ghost", () => {
  it("shows the recording, and the server's run after closing it", async () => {
    const from = await opened(whole.slice(), "race.mcap");
    expect([from.label, from.kind]).toEqual(["race.mcap", "recording"]);
    closeRecording();
    expect(source.value?.kind).toBe("live");
  });

  it("does not replace the shown source with a ghost", async () => {
    const from = await opened(whole.slice());
    await openRecording(fileOf(whole.slice(), "ghost.mcap"), "ghost");
    expect(source.value).toBe(from);
    expect(ghosts.value.map(({ label }) => label)).toEqual(["ghost.mcap"]);
    removeGhost(ghosts.value[0] as GhostSource);
    expect(ghosts.value).toEqual([]);
  });
});
