// The world view as the panels reach it; null until it exists, and where there is no WebGL2.
import { signal } from "@preact/signals";
import type { Stage } from "../scene/stage";

export const stage = signal<Stage | null>(null);
export const stageFailure = signal("");
