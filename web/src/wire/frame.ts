// A frame: the poses of all vehicles at one tick, 16 bytes each in roster order as on the wire.
const views = new WeakMap<Uint32Array, Float32Array>();

/** The same memory as floats; views are cached per array. */
export function floatsOf(words: Uint32Array): Float32Array {
  let floats = views.get(words);
  if (floats === undefined) {
    floats = new Float32Array(words.buffer, words.byteOffset, words.length);
    views.set(words, floats);
  }
  return floats;
}

export type Vector = [number, number, number];
export type Quaternion = [number, number, number, number]; // x, y, z, w

/** Values of some columns of some vehicles; `values[column * vehicles + vehicle]`. */
export interface ColumnBlock {
  request: number; // index of the requested columns
  vehicles: number;
  columns: number;
  values: Float32Array | Float64Array;
}

export interface Frame {
  run: number;
  tick: number;
  time: number; // simulated s
  wall: number; // publication time, s since 1970
  roster: number;
  count: number; // vehicles
  poses: Uint32Array; // 4 words per vehicle: x, y, z as float32 bits, orientation packed in 32 bits
  columns: ColumnBlock[];
  wanted: number; // number of the column request list that `columns` responds to
}

export const WORDS = 4;
const ROOT = Math.SQRT1_2;
const MASK = 1023;
const STEPS = 1022; // even, so that 0 is representable

/** Position of a vehicle in m (ENU); NaN if it has none. */
export function positionOf(frame: Frame, row: number, into: Vector = [0, 0, 0]): Vector {
  const floats = floatsOf(frame.poses);
  for (let k = 0; k < 3; k++) into[k] = floats[WORDS * row + k] ?? Number.NaN;
  return into;
}

/** Orientation of a vehicle: body (forward, left, up) to world. */
export function orientationOf(frame: Frame, row: number, into: Quaternion = [0, 0, 0, 1]): Quaternion {
  return unpackOrientation(frame.poses[WORDS * row + 3] ?? 0, into);
}

/** Bits 31-30: index of the largest of x, y, z, w; then the three others, 10 bits each, over -0.7071 to 0.7071. */
export function unpackOrientation(word: number, into: Quaternion): Quaternion {
  const largest = word >>> 30;
  let rest = 1;
  let shift = 20;
  for (let k = 0; k < 4; k++) {
    if (k === largest) continue;
    const value = ((((word >>> shift) & MASK) / STEPS) * 2 - 1) * ROOT;
    into[k] = value;
    rest -= value * value;
    shift -= 10;
  }
  into[largest] = Math.sqrt(Math.max(rest, 0));
  return into;
}
