// The same bytes as words and as floats, without making a view anew for each vehicle.
const views = new WeakMap<Uint32Array, Float32Array>();

/** The floats in an array of words. */
export function floatsOf(words: Uint32Array): Float32Array {
  let floats = views.get(words);
  if (floats === undefined) {
    floats = new Float32Array(words.buffer, words.byteOffset, words.length);
    views.set(words, floats);
  }
  return floats;
}
