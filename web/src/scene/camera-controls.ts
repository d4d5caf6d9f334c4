// Camera control with the pointer: left drag orbits, right, middle or shift drag pans, the wheel zooms to the cursor,
// two fingers do both.
import { tool } from "../state/store";
import type { CameraRig } from "./camera-rig";

interface CameraInput {
  rig: CameraRig;
  groundAt(x: number, y: number): readonly number[] | null;
  /** The user moved the camera; `target`: whether the target moved. */
  moved(target: boolean): void;
}

interface Finger {
  x: number;
  y: number;
  pans: boolean;
}

export function controlCamera(canvas: HTMLCanvasElement, input: CameraInput): () => void {
  const over = new AbortController();
  const { signal } = over;
  const drags = new Drags(canvas, input);
  canvas.style.touchAction = "none";
  canvas.addEventListener("pointerdown", (event) => drags.down(event), { signal });
  canvas.addEventListener("pointermove", (event) => drags.move(event), { signal });
  for (const name of ["pointerup", "pointercancel", "lostpointercapture"] as const) {
    canvas.addEventListener(name, (event) => drags.up(event), { signal });
  }
  canvas.addEventListener("contextmenu", (event) => event.preventDefault(), { signal });
  canvas.addEventListener("wheel", (event) => wheel(event, canvas, input), { signal, passive: false });
  return () => over.abort();
}

const LINE = 30; // px per line of a line-based wheel
const STEP = 0.0013; // fraction of the distance per px

function wheel(event: WheelEvent, canvas: HTMLCanvasElement, input: CameraInput): void {
  event.preventDefault();
  const px = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY : LINE * event.deltaY;
  const box = canvas.getBoundingClientRect();
  const around = input.groundAt(event.clientX - box.left, event.clientY - box.top);
  input.rig.zoom(Math.exp(STEP * Math.max(-400, Math.min(400, px))), around);
  input.moved(false);
}

class Drags {
  private readonly fingers = new Map<number, Finger>();

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly input: CameraInput,
  ) {}

  down(event: PointerEvent): void {
    if (event.defaultPrevented || (tool.value === "box" && event.button === 0)) return;
    const pans = event.button !== 0 || event.shiftKey;
    this.fingers.set(event.pointerId, { x: event.clientX, y: event.clientY, pans });
    this.canvas.setPointerCapture(event.pointerId);
  }

  move(event: PointerEvent): void {
    const finger = this.fingers.get(event.pointerId);
    if (finger === undefined) return;
    const [dx, dy] = [event.clientX - finger.x, event.clientY - finger.y];
    if (this.fingers.size >= 2) this.pinch(event, finger, dx, dy);
    else if (finger.pans || this.input.rig.shown === "top") this.pan(dx, dy);
    else {
      this.input.rig.turn(dx, dy);
      this.input.moved(false);
    }
    finger.x = event.clientX;
    finger.y = event.clientY;
  }

  up(event: PointerEvent): void {
    this.fingers.delete(event.pointerId);
  }

  private pan(dx: number, dy: number): void {
    if (dx === 0 && dy === 0) return;
    this.input.rig.pan(dx, dy, this.canvas.clientHeight);
    this.input.moved(true);
  }

  /** Two fingers: their distance zooms, their midpoint pans. */
  private pinch(event: PointerEvent, finger: Finger, dx: number, dy: number): void {
    const other = [...this.fingers.values()].find((pointer) => pointer !== finger);
    if (other === undefined) return;
    const before = Math.hypot(finger.x - other.x, finger.y - other.y);
    const after = Math.hypot(event.clientX - other.x, event.clientY - other.y);
    if (before > 1 && after > 1) this.input.rig.zoom(before / after, null);
    this.pan(dx / 2, dy / 2);
  }
}
