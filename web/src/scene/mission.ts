// The mission in the world view; its drawing code is loaded when a mission exists.
import { signal } from "@preact/signals";
import type { Scene } from "three";
import { mission } from "../state/mission";
import { groundAt } from "../state/scenery";
import type { MissionDrawing } from "./mission-drawing";
import type { Overlay } from "./overlay";
import type { Matrix, Size, ViewState } from "./view";

/** Incremented when the drawing code has been loaded. */
export const missionLoaded = signal(0);

export class MissionLayer {
  private drawing: MissionDrawing | null = null;
  private requested = false;

  constructor(private readonly scene: Scene) {}

  draw(view: ViewState, shown: boolean): void {
    if (!this.drawing && !this.requested && mission.peek() !== null) void this.load();
    this.drawing?.update(view, shown);
  }

  label(overlay: Overlay, view: ViewState): void {
    this.drawing?.label(overlay, view);
  }

  /** The task at a screen position; only changeable ones unless `all`. */
  taskAt(matrix: Matrix, size: Size, x: number, y: number, all: boolean): string | null {
    return this.drawing?.taskAt(matrix, size, x, y, all) ?? null;
  }

  dispose(): void {
    this.drawing?.dispose();
  }

  private async load(): Promise<void> {
    this.requested = true;
    const { MissionDrawing } = await import("./mission-drawing");
    this.drawing = new MissionDrawing();
    this.scene.add(this.drawing.group);
    missionLoaded.value += 1;
  }
}

/** All points of the mission, x, y, z of each, for framing. */
export function missionPoints(): number[] {
  const tree = mission.peek();
  const outlines = [...(tree?.tasks ?? []), ...(tree?.zones ?? [])].flatMap(({ outline }) => outline);
  return outlines.flatMap(([x, y]) => (Number.isFinite(x + y) ? [x, y, groundAt(x, y)] : []));
}
