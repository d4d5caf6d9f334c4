// A list of numbers in one typed array that grows: markers may have a million points.
export class Growing {
  values = new Float32Array(256);
  length = 0;

  push(...numbers: number[]): void {
    if (this.length + numbers.length > this.values.length) this.grow(this.length + numbers.length);
    for (const one of numbers) this.values[this.length++] = one;
  }

  /** What is there, without a copy. */
  get view(): Float32Array {
    return this.values.subarray(0, this.length);
  }

  private grow(least: number): void {
    const larger = new Float32Array(Math.max(least, 2 * this.values.length));
    larger.set(this.values);
    this.values = larger;
  }
}
