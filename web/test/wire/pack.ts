// Packs frames by hand from the documented format, independent of the code under test.
export function bytes(...parts: (number[] | Uint8Array)[]): ArrayBuffer {
  const all = Uint8Array.from(parts.flatMap((part) => [...part]));
  return all.buffer;
}

function number(size: number, write: (view: DataView) => void): number[] {
  const view = new DataView(new ArrayBuffer(size));
  write(view);
  return [...new Uint8Array(view.buffer)];
}

export const u8 = (value: number): number[] => [value & 255];
export const u16 = (value: number): number[] => number(2, (view) => view.setUint16(0, value, true));
export const u32 = (value: number): number[] => number(4, (view) => view.setUint32(0, value, true));
export const u64 = (value: bigint): number[] => number(8, (view) => view.setBigUint64(0, value, true));
export const f32 = (value: number): number[] => number(4, (view) => view.setFloat32(0, value, true));
export const f64 = (value: number): number[] => number(8, (view) => view.setFloat64(0, value, true));
export const text = (value: string): number[] => [...Buffer.from(value, "utf8")];

export function frame(type: number, payload: number[]): number[] {
  return [type, ...u32(payload.length), ...payload];
}

export function tick(values: { tick: bigint; time: number; wall?: number; run?: number; roster?: number }): number[] {
  const { tick: count, time, wall = 0, run = 0, roster = 0 } = values;
  return frame(0x10, [...u64(count), ...f64(time), ...f64(wall), ...u32(run), ...u32(roster)]);
}

export function poses(...rows: [x: number, y: number, z: number, word: number][]): number[] {
  const packed = rows.flatMap(([x, y, z, word]) => [...f32(x), ...f32(y), ...f32(z), ...u32(word)]);
  return frame(0x14, [...u32(rows.length), ...packed]);
}

export function event(count: bigint, at: bigint, kind: string, subject: string, detail: string): number[] {
  const lengths = [...u8(text(kind).length), ...u8(text(subject).length), ...u16(text(detail).length)];
  return [...u64(count), ...u64(at), ...lengths, ...text(kind), ...text(subject), ...text(detail)];
}
