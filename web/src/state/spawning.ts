// What the next click with the spawn tool brings into the world; the spawn panel fills it in.
import { signal } from "@preact/signals";

export interface Spawning {
  model: string; // "": nothing chosen yet
  preset: string; // "": the model's own
  name: string; // "": made from the model
  count: number;
  heading: number; // rad, counter-clockwise from east
  height: number | null; // m; null: on the ground
}

export const spawning = signal<Spawning>({ model: "", preset: "", name: "", count: 1, heading: 0, height: null });
