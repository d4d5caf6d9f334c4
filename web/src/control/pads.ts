// Tells the person which gamepad is in use when one comes or goes.
import { tell } from "../state/store";
import { shortName } from "./gamepad";

export function announcePads(): () => void {
  const over = new AbortController();
  const { signal } = over;
  const came = "can drive the vehicle in focus (G)";
  window.addEventListener("gamepadconnected", ({ gamepad }) => told(gamepad, came), { signal });
  window.addEventListener("gamepaddisconnected", ({ gamepad }) => told(gamepad, "is unplugged"), { signal });
  return () => over.abort();
}

function told(pad: Gamepad, what: string): void {
  tell("info", `Gamepad: ${shortName(pad.id)} ${what}.`);
}
