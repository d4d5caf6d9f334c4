// The stage that is there, for parts of the page that show the same world in another way (the minimap).
import { signal } from "@preact/signals";
import type { World } from "./world";
import type { Stage } from "./stage";

export interface Current {
  stage: Stage;
  world: World;
}

export const current = signal<Current | null>(null);
