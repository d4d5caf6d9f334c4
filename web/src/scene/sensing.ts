// Sensor readings in the world view; their drawing code is loaded when there are any.
import type { Scene } from "three";
import { shownReadings } from "../state/sensing";
import { layers } from "../state/store";
import type { SensingDrawing } from "./sensing-drawing";
import { drawingLoaded, type ViewState } from "./view";

export class SensingLayer {
  private drawing: SensingDrawing | null = null;
  private requested = false;

  constructor(private readonly scene: Scene) {}

  /** Draw the readings at a time, simulated s. */
  draw(view: ViewState, time: number): void {
    const readings = shownReadings(time);
    if (readings.length > 0 && !this.requested) void this.load();
    this.drawing?.update(view, readings, layers.peek(), time);
  }

  /** Numbers of drawn points and detections, for tests. */
  get shown(): { points: number; detections: number; truth: number } {
    return this.drawing?.shown ?? { points: 0, detections: 0, truth: 0 };
  }

  dispose(): void {
    this.drawing?.dispose();
  }

  private async load(): Promise<void> {
    this.requested = true;
    const { SensingDrawing } = await import("./sensing-drawing");
    this.drawing = new SensingDrawing();
    this.scene.add(this.drawing.group);
    drawingLoaded.value += 1;
  }
}
