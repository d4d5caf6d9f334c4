// The place of the mission in the world view: what draws it is loaded when there is a mission.
import { signal } from "@preact/signals";
import type { Scene } from "three";
import { groundHeight, mission } from "../state/mission";
import type { MissionDrawing } from "./mission-drawing";
import type { Overlay } from "./overlay";
import type { Matrix, Size, ViewState } from "./view";

/** +1 when something has been loaded that is to be drawn. */
export const missionLoaded = signal(0);

export class MissionSlot {
  private drawing: MissionDrawing | null = null;
  private asked = false;

  constructor(private readonly scene: Scene) {}

  draw(view: ViewState, shown: boolean): void {
    if (!this.drawing && !this.asked && mission.peek() !== null) void this.load();
    this.drawing?.update(view, shown);
  }

  label(overlay: Overlay, view: ViewState): void {
    this.drawing?.label(overlay, view);
  }

  /** The task at a place of the screen; unless `all` are wanted, one that can still be changed. */
  taskAt(matrix: Matrix, size: Size, x: number, y: number, all: boolean): string | null {
    return this.drawing?.taskAt(matrix, size, x, y, all) ?? null;
  }

  dispose(): void {
    this.drawing?.dispose();
  }

  private async load(): Promise<void> {
    this.asked = true;
    const { MissionDrawing } = await import("./mission-drawing");
    this.drawing = new MissionDrawing();
    this.scene.add(this.drawing.group);
    missionLoaded.value += 1;
  }
}

/** All places of the mission, x, y, z of each: what is to be seen of it. */
export function missionPoints(): number[] {
  const told = mission.peek();
  const height = groundHeight();
  const outlines = [...(told?.tasks ?? []), ...(told?.zones ?? [])].flatMap(({ outline }) => outline);
  return outlines.flatMap(([x, y]) => (Number.isFinite(x + y) ? [x, y, height] : []));
}
