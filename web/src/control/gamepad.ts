// The first gamepad that is connected, read when asked: browsers tell of no change of a stick by events.
import { deadZone } from "./axis";
import type { PadReading } from "./hands";

const STICKS = 4;

/** The first connected pad of a standard layout, else the first connected one. */
export function firstPad(pads: readonly (Gamepad | null)[]): Gamepad | null {
  const connected = pads.filter((pad): pad is Gamepad => pad?.connected === true);
  return connected.find((pad) => pad.mapping === "standard") ?? connected[0] ?? null;
}

export function readingOf(pad: Gamepad): PadReading {
  const axes = pad.axes.slice(0, STICKS).map((value) => deadZone(value));
  const buttons = pad.buttons.map((button) => deadZone(button.value, 0.03));
  return { name: shortName(pad.id), axes, buttons };
}

export function readPad(): PadReading | null {
  const pad = typeof navigator.getGamepads === "function" ? firstPad(navigator.getGamepads()) : null;
  return pad && readingOf(pad);
}

/** "Xbox Controller" of "Xbox Controller (STANDARD GAMEPAD Vendor: 045e Product: 028e)". */
export function shortName(id: string): string {
  return id.replace(/\s*\(.*$/, "").trim() || "gamepad";
}
