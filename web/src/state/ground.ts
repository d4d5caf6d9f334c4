// Where the flat ground is.
import { metadata } from "./store";

/** Its height, m. */
export function groundHeight(): number {
  const world = metadata.value?.scenario["world"];
  const height = typeof world === "object" && world !== null ? (world as Record<string, unknown>)["ground_z"] : 0;
  return typeof height === "number" ? height : 0;
}
