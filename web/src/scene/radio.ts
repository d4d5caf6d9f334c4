// Links, stations, ranges, jammers and coverage in the world view; their drawing code is loaded when there is radio.
import type { Scene } from "three";
import { hasRadio } from "../state/radio";
import type { Overlay } from "./overlay";
import type { RadioDrawing } from "./radio-drawing";
import type { VehicleLayer } from "./vehicles";
import { drawingLoaded, type ViewState } from "./view";

export class RadioLayer {
  private drawing: RadioDrawing | null = null;
  private requested = false;

  constructor(private readonly scene: Scene) {}

  /** Draw the radio at a time, simulated s. */
  draw(view: ViewState, vehicles: VehicleLayer, time: number): void {
    if (!this.requested && hasRadio.peek()) void this.load();
    this.drawing?.update(view, vehicles, time);
  }

  label(overlay: Overlay, view: ViewState): void {
    this.drawing?.label(overlay, view);
  }

  /** What is drawn, for tests. */
  get shown(): RadioDrawing["shown"] | null {
    return this.drawing?.shown ?? null;
  }

  dispose(): void {
    this.drawing?.dispose();
  }

  private async load(): Promise<void> {
    this.requested = true;
    const { RadioDrawing } = await import("./radio-drawing");
    this.drawing = new RadioDrawing();
    this.scene.add(this.drawing.group);
    drawingLoaded.value += 1;
  }
}
