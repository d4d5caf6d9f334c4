// The rectangle that selects many vehicles: drawn while it is dragged, in the canvas' CSS px.
import type { Stage } from "../scene/stage";
import { select } from "../state/store";

export class BoxDrag {
  private readonly frame = document.createElement("div");
  private to: [number, number];

  constructor(
    private readonly stage: Stage,
    private readonly from: readonly [number, number],
    private readonly add: boolean,
  ) {
    this.to = [...from];
    this.frame.className = "selection-box";
    this.frame.setAttribute("aria-hidden", "true");
    (stage.canvas.parentElement ?? document.body).append(this.frame);
  }

  move(x: number, y: number): void {
    this.to = [x, y];
    const [left, top, right, bottom] = corners(this.from, this.to);
    Object.assign(this.frame.style, {
      left: `${left}px`,
      top: `${top}px`,
      width: `${right - left}px`,
      height: `${bottom - top}px`,
    });
  }

  drop(): void {
    this.frame.remove();
    select(this.stage.pickBox(...corners(this.from, this.to)), this.add);
  }

  cancel(): void {
    this.frame.remove();
  }
}

/** Left, top, right, bottom of any two opposite corners. */
export function corners(a: readonly [number, number], b: readonly [number, number]): [number, number, number, number] {
  return [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[0], b[0]), Math.max(a[1], b[1])];
}
