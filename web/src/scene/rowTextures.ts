// Textures with one texel per vehicle: poses just as they came on the wire, and colour with size.
import {
  DataTexture,
  NearestFilter,
  RGBAFormat,
  RGBAIntegerFormat,
  type TextureDataType,
  UnsignedByteType,
  UnsignedIntType,
} from "three";
import type { Frame } from "../state/frame";
import { ROW_WIDTH } from "./glsl";

/** A texture and the frame that it holds. */
interface Slot {
  texture: DataTexture;
  frame: Frame | null;
}

/** Two frames on the graphics card; a frame that is there already is not sent again. */
export class PoseTextures {
  private slots: [Slot, Slot] = [slot(1), slot(1)];
  private lines = 1;

  /** The textures of two frames, which may be the same. */
  show(from: Frame, to: Frame): [DataTexture, DataTexture] {
    this.resize(Math.max(from.count, to.count));
    const last = this.holding(to) ?? this.take(to, from);
    const first = this.holding(from) ?? this.take(from, to);
    return [first.texture, last.texture];
  }

  private holding(frame: Frame): Slot | undefined {
    return this.slots.find((one) => one.frame === frame);
  }

  /** Put a frame where the one that is still needed is not. */
  private take(frame: Frame, needed: Frame): Slot {
    const [a, b] = this.slots;
    const free = a.frame === needed ? b : a;
    fill(free.texture, frame);
    free.frame = frame;
    return free;
  }

  private resize(count: number): void {
    const lines = Math.max(1, Math.ceil(count / ROW_WIDTH));
    if (lines <= this.lines && lines > this.lines / 4) return;
    this.dispose();
    this.lines = lines;
    this.slots = [slot(lines), slot(lines)];
  }

  dispose(): void {
    for (const one of this.slots) one.texture.dispose();
  }
}

function slot(lines: number): Slot {
  return { texture: texture(new Uint32Array(4 * ROW_WIDTH * lines), lines, UnsignedIntType), frame: null };
}

function fill(into: DataTexture, frame: Frame): void {
  const data = into.image.data as Uint32Array;
  data.set(frame.poses.length > data.length ? frame.poses.subarray(0, data.length) : frame.poses);
  into.needsUpdate = true;
}

/** Red, green, blue of each row, and its size in decimetres (0: drawn as a shape, so no point). */
export class TintTexture {
  texture: DataTexture;
  private lines = 1;

  constructor() {
    this.texture = texture(new Uint8Array(4 * ROW_WIDTH), 1, UnsignedByteType);
  }

  get bytes(): Uint8Array {
    return this.texture.image.data as Uint8Array;
  }

  resize(count: number): void {
    const lines = Math.max(1, Math.ceil(count / ROW_WIDTH));
    if (lines === this.lines) return;
    this.texture.dispose();
    this.lines = lines;
    this.texture = texture(new Uint8Array(4 * ROW_WIDTH * lines), lines, UnsignedByteType);
  }

  changed(): void {
    this.texture.needsUpdate = true;
  }

  dispose(): void {
    this.texture.dispose();
  }
}

function texture(data: Uint32Array | Uint8Array, lines: number, type: TextureDataType): DataTexture {
  const words = type === UnsignedIntType;
  const made = new DataTexture(data as Uint8Array<ArrayBuffer>, ROW_WIDTH, lines, words
    ? RGBAIntegerFormat : RGBAFormat, type);
  if (words) made.internalFormat = "RGBA32UI";
  made.minFilter = NearestFilter;
  made.magFilter = NearestFilter;
  made.generateMipmaps = false;
  made.unpackAlignment = 1;
  made.needsUpdate = true;
  return made;
}
