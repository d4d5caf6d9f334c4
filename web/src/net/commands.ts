// Frame 0x20: inputs of vehicles, applied as a whole from the next tick on.
import { FrameType, HEADER } from "./schema";

export type Inputs = Readonly<Record<string, number | readonly number[]>>;

const MOST_INPUTS = 255;

export function encodeCommands(ids: readonly number[], inputs: Inputs): ArrayBuffer {
  const names = Object.keys(inputs).map((name) => new TextEncoder().encode(name));
  if (names.length < 1 || names.length > MOST_INPUTS) {
    throw new Error(`1 to ${MOST_INPUTS} inputs, not ${names.length}`);
  }
  const lists = Object.entries(inputs).map(([name, given]) => listOf(name, given, ids.length));
  const namesBytes = names.reduce((sum, name) => sum + 1 + name.length, 0);
  const length = 5 + namesBytes + ids.length * (4 + 8 * names.length);
  const view = new DataView(new ArrayBuffer(HEADER.size + length));
  view.setUint8(0, FrameType.COMMANDS);
  view.setUint32(1, length, true);
  view.setUint32(5, ids.length, true);
  view.setUint8(9, names.length);
  writeValues(view, writeNames(view, 10, names), ids, lists);
  return view.buffer;
}

function listOf(name: string, given: number | readonly number[], count: number): readonly number[] {
  const list = typeof given === "number" ? new Array<number>(count).fill(given) : given;
  if (list.length !== count) throw new Error(`${name}: ${list.length} values for ${count} vehicles`);
  return list;
}

function writeNames(view: DataView, at: number, names: readonly Uint8Array[]): number {
  for (const name of names) {
    view.setUint8(at, name.length);
    new Uint8Array(view.buffer, at + 1).set(name);
    at += 1 + name.length;
  }
  return at;
}

function writeValues(view: DataView, at: number, ids: readonly number[], lists: readonly (readonly number[])[]): void {
  ids.forEach((id, k) => {
    view.setInt32(at, id, true);
    at += 4;
    for (const list of lists) {
      view.setFloat64(at, list[k] ?? Number.NaN, true);
      at += 8;
    }
  });
}
