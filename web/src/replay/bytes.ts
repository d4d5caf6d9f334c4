// Reading parts of a file: nothing is read that nobody asked for.
export class FileBytes {
  constructor(private readonly blob: Blob) {}

  get size(): number {
    return this.blob.size;
  }

  /** Some bytes; fewer at the end of the file. */
  async read(start: number, length: number): Promise<Uint8Array> {
    const part = this.blob.slice(start, Math.min(start + length, this.blob.size));
    return new Uint8Array(await part.arrayBuffer());
  }
}

/** The same as @mcap/core wants it. */
export function readable(bytes: FileBytes): {
  size(): Promise<bigint>;
  read(offset: bigint, size: bigint): Promise<Uint8Array>;
} {
  return {
    size: async () => BigInt(bytes.size),
    read: async (offset, size) => {
      const data = await bytes.read(Number(offset), Number(size));
      if (data.length < Number(size)) throw new Error("the file ends too early");
      return data;
    },
  };
}
