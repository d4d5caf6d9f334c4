// The hands of the page: pointer, keyboard and gamepad on the world view. Everything begins with startControls.
import type { Stage } from "../scene/stage";
import { expose } from "../state/debug";
import { drive, driving, release, startDriving } from "./driving";
import { startFailsafe } from "./failsafe";
import { startKeyboard } from "./keyboard";
import { cameraHeading } from "./looking";
import { announcePads } from "./pads";
import { startPointer } from "./pointer";
import { RouteTool } from "./tools/route";

export { exportPng, filming, startFilm, stopFilm } from "./capture";
export { drive, driving, release } from "./driving";
export { DrivingHud } from "./hud";
export { removeSelected } from "./tools/remove";

/** Take the hands to a stage; the returned function takes them away again. */
export function startControls(stage: Stage): () => void {
  const route = new RouteTool(stage);
  const stops = [
    startPointer(stage, route),
    startKeyboard(route),
    startDriving(() => cameraHeading(stage)),
    startFailsafe(),
    announcePads(),
    () => route.stop(),
  ];
  expose({ drive, release, driving });
  return () => {
    for (const stop of stops) stop();
  };
}
