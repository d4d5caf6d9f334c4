// Keys of the world view: driving first, then the tools. Runs before other listeners, so that W is not two things.
import { focus, selection, tell, tool } from "../state/store";
import { cancelDragged } from "./dragged";
import { currentSeat, drive, keys, release, takeUp } from "./driving";
import { isShortcut, isTyping } from "./keys";
import { removeSelected } from "./tools/remove";
import type { RouteTool } from "./tools/route";

export function startKeyboard(route: RouteTool | null): () => void {
  const over = new AbortController();
  const options = { capture: true, signal: over.signal };
  window.addEventListener("keydown", (event) => onDown(event, route), options);
  window.addEventListener("keyup", (event) => keys.lift(event.code), options); // wherever it is let go: it is up
  return () => over.abort();
}

function onDown(event: KeyboardEvent, route: RouteTool | null): void {
  if (isTyping(event.target) || isShortcut(event)) return;
  const takesBack = event.code === "Escape" && cancelDragged();
  if (!takesBack && !onDrivingKey(event) && !onToolKey(event, route)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

function onDrivingKey(event: KeyboardEvent): boolean {
  const seat = currentSeat();
  if (event.code === "KeyG" && !event.shiftKey) return event.repeat || toggle();
  if (!seat) return false;
  if (event.code === "Escape") {
    void release();
    return true;
  }
  if (!seat.driver.codes.has(event.code)) return false;
  takeUp();
  if (!event.repeat && !seat.driver.press(event.code)) keys.press(event.code);
  return true;
}

function toggle(): boolean {
  const id = focus.value;
  if (currentSeat()) void release();
  else if (id !== null) void drive(id);
  else tell("info", "Choose a vehicle to drive first.");
  return true;
}

function onToolKey(event: KeyboardEvent, route: RouteTool | null): boolean {
  if (event.code === "Delete" && selection.value.size > 0) {
    void removeSelected();
    return true;
  }
  if (event.code === "Enter" && tool.value === "route" && route?.drawing) {
    void route.finish(event.shiftKey);
    return true;
  }
  if (event.code !== "Escape" || tool.value === "select") return false;
  if (route?.drawing) route.cancel();
  else tool.value = "select";
  return true;
}
