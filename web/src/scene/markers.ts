// Markers in the world view; their drawing code is loaded when there are any.
import { Group } from "three";
import type { MarkerBoard } from "../state/markers";
import type { Roster } from "../state/roster";
import type { Sample } from "../state/source";
import type { MarkerDrawing } from "./marker-drawing";
import type { MarkerLabel } from "./marker-geometry";
import { drawingLoaded, type ViewState } from "./view";

export class MarkerLayer {
  readonly group = new Group();
  private drawing: MarkerDrawing | null = null;
  private requested = false;

  /** Draw the board's markers at a sample. */
  update(board: MarkerBoard, sample: Sample, roster: Roster, view: ViewState): void {
    if (!this.requested && !board.visible()[Symbol.iterator]().next().done) void this.load();
    this.drawing?.update(board, sample, roster, view);
  }

  /** Marker labels in world coordinates. */
  words(sample: Sample, roster: Roster): Iterable<MarkerLabel> {
    return this.drawing?.words(sample, roster) ?? [];
  }

  dispose(): void {
    this.drawing?.dispose();
  }

  private async load(): Promise<void> {
    this.requested = true;
    const { MarkerDrawing } = await import("./marker-drawing");
    this.drawing = new MarkerDrawing(this.group);
    drawingLoaded.value += 1;
  }
}
