// Decoding matches the generated offsets.
import { describe, expect, it } from "vitest";
import { decodeMessage } from "../../src/wire/decode";
import { COLUMNS, COLUMNS_BLOCK, FrameType, HEADER, POSES, TICK } from "../../src/wire/schema";

function frame(type: number, length: number, write: (view: DataView) => void): Uint8Array {
  const bytes = new Uint8Array(HEADER.size + length);
  const head = new DataView(bytes.buffer);
  head.setUint8(HEADER.type, type);
  head.setUint32(HEADER.payload_length, length, true);
  write(new DataView(bytes.buffer, HEADER.size));
  return bytes;
}

function message(...frames: Uint8Array[]): ArrayBuffer {
  const bytes = new Uint8Array(frames.reduce((sum, one) => sum + one.length, 0));
  let at = 0;
  for (const one of frames) {
    bytes.set(one, at);
    at += one.length;
  }
  return bytes.buffer;
}

const tick = frame(FrameType.TICK, TICK.size, (view) => {
  view.setBigUint64(TICK.tick, 4321n, true);
  view.setFloat64(TICK.sim_time, 4.321, true);
  view.setFloat64(TICK.wall_time, 1.7e9, true);
  view.setUint32(TICK.run, 3, true);
  view.setUint32(TICK.roster, 5, true);
});
const poses = frame(FrameType.POSES, 4 + 2 * POSES.size, (view) => {
  view.setUint32(0, 2, true);
  [7, 8, 9].forEach((value, k) => view.setFloat32(4 + POSES.size + POSES.position + 4 * k, value, true));
  view.setUint32(4 + POSES.size + POSES.orientation, 0xc1234567, true);
});
const columns = frame(FrameType.COLUMNS, COLUMNS.size + COLUMNS_BLOCK.size + 16, (view) => {
  view.setUint32(COLUMNS.wanted, 6, true);
  view.setUint32(COLUMNS.blocks, 1, true);
  view.setUint32(COLUMNS.size + COLUMNS_BLOCK.request, 2, true);
  view.setUint32(COLUMNS.size + COLUMNS_BLOCK.vehicles, 1, true);
  view.setUint32(COLUMNS.size + COLUMNS_BLOCK.columns, 2, true);
  view.setUint32(COLUMNS.size + COLUMNS_BLOCK.width, 8, true);
  view.setFloat64(COLUMNS.size + COLUMNS_BLOCK.size, 0.25, true);
  view.setFloat64(COLUMNS.size + COLUMNS_BLOCK.size + 8, -1e300, true);
});

describe("the generated layouts", () => {
  it("match the decoder", () => {
    const { frame: group } = decodeMessage(message(tick, poses, columns));
    expect(group).toMatchObject({ tick: 4321, time: 4.321, wall: 1.7e9, run: 3, roster: 5, count: 2, wanted: 6 });
    const floats = new Float32Array(group?.poses.slice().buffer ?? new ArrayBuffer(0));
    expect([...floats.slice(4, 7)]).toEqual([7, 8, 9]);
    expect(group?.poses[7]).toBe(0xc1234567);
    const [block] = group?.columns ?? [];
    expect(block).toMatchObject({ request: 2, vehicles: 1, columns: 2 });
    expect([...(block?.values ?? [])]).toEqual([0.25, -1e300]);
  });
});
