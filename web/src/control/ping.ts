// A ring on the ground where something was just ordered; it fades by itself.
import type { Stage } from "../scene/stage";

const SHOWN = 900; // ms

export function ping(stage: Stage, point: readonly [number, number, number]): void {
  const ring = document.createElement("div");
  ring.className = "ping";
  ring.setAttribute("aria-hidden", "true");
  const place = (): void => {
    const at = stage.projectPoint(point[0], point[1], point[2]);
    ring.hidden = at === null;
    if (at) ring.style.translate = `${at[0]}px ${at[1]}px`;
  };
  place();
  (stage.canvas.parentElement ?? document.body).append(ring);
  const stop = stage.onDrawn(place);
  setTimeout(() => {
    stop();
    ring.remove();
  }, SHOWN);
}
