// The hands of the page: pointer, keyboard and gamepad on the world view. Everything begins with startControls.
import { effect } from "@preact/signals";
import type { Stage } from "../scene/stage";
import { expose } from "../state/debug";
import { mission } from "../state/mission";
import { deaf, tool } from "../state/store";
import { drive, driving, release, startDriving } from "./driving";
import { startFailsafe } from "./failsafe";
import { startKeyboard } from "./keyboard";
import { cameraHeading } from "./looking";
import { announcePads } from "./pads";
import { startPointer } from "./pointer";
import { RouteTool } from "./tools/route";

export { download, exportPng, filming, startFilm, stopFilm } from "./capture";
export { drive, driving, release } from "./driving";
export { DrivingHud } from "./hud";
export { robotsAt } from "./robots";
export { giveOrder } from "./orders";
export { removeIds } from "./tools/remove";

const NORTH = Math.PI / 2;

/** Take the hands to a stage (null: there is no view, but keys and pads drive all the same); the returned function
 * takes them away again. */
export function startControls(stage: Stage | null): () => void {
  const route = stage && new RouteTool(stage);
  const stops = [
    startKeyboard(route),
    startDriving(() => (stage ? cameraHeading(stage) : NORTH)),
    startFailsafe(),
    announcePads(),
    layDownTool(),
  ];
  if (stage && route) stops.push(startPointer(stage, route), () => route.stop());
  expose({ drive, release, driving });
  return () => {
    for (const stop of stops) stop();
  };
}

/** What takes no orders leaves nothing to do for the tools that give them. */
function layDownTool(): () => void {
  return effect(() => {
    const idle = deaf.value !== "" && !["select", "box"].includes(tool.peek());
    if (idle || (mission.value === null && tool.peek() === "task")) tool.value = "select";
  });
}
