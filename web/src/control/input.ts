// Input devices: pressed keys, gamepad sticks, and smoothed axes.
/** Move towards a target by at most `rate` per second. */
export function approach(value: number, target: number, rate: number, dt: number): number {
  const step = rate * dt;
  return Math.abs(target - value) <= step ? target : value + Math.sign(target - value) * step;
}

/** A key's axis: rises at one rate while held, returns to 0 at another; reverses at the faster one. */
export function ramp(value: number, target: number, rise: number, fall: number, dt: number): number {
  const away = Math.abs(target) > Math.abs(value) && target * value >= 0;
  return approach(value, target, away ? rise : Math.max(rise, fall), dt);
}

/** A stick with a dead zone: 0 inside, then linear from 0 to 1. */
export function deadZone(value: number, zone = 0.1): number {
  const size = Math.abs(value);
  if (!(size > zone)) return 0; // also NaN
  return Math.sign(value) * Math.min(1, (size - zone) / (1 - zone));
}

export function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

/** The larger of two inputs on one axis. */
export function stronger(one: number, other: number): number {
  return Math.abs(one) >= Math.abs(other) ? one : other;
}

/** -1, 0 or 1 from two opposite keys. */
export function opposed(positive: boolean, negative: boolean): number {
  return Number(positive) - Number(negative);
}

// inputs at one moment -----------------------------------------------------------------------------------------------

export interface GamepadState {
  name: string;
  axes: readonly number[]; // standard mapping: left x, left y, right x, right y; right and down positive
  buttons: readonly number[]; // 0 to 1
}

export interface InputState {
  held(...codes: string[]): boolean; // any of these KeyboardEvent.code
  readonly pad: GamepadState | null;
}

export function axisOf(input: InputState, index: number): number {
  return input.pad?.axes[index] ?? 0;
}

export function buttonOf(input: InputState, index: number): number {
  return input.pad?.buttons[index] ?? 0;
}

/** Codes of the same direction on both key blocks. */
export const FORWARD = ["KeyW", "ArrowUp"] as const;
export const BACKWARD = ["KeyS", "ArrowDown"] as const;
export const LEFT = ["KeyA", "ArrowLeft"] as const;
export const RIGHT = ["KeyD", "ArrowRight"] as const;

// keyboard -----------------------------------------------------------------------------------------------------------

export class KeysHeld {
  private readonly down = new Set<string>();

  press(code: string): void {
    this.down.add(code);
  }

  lift(code: string): void {
    this.down.delete(code);
  }

  clear(): void {
    this.down.clear();
  }

  readonly held = (...codes: string[]): boolean => codes.some((code) => this.down.has(code));
}

const WITHOUT_TEXT = new Set(["button", "checkbox", "radio", "range", "color", "file", "submit", "reset", "image"]);

/** Whether typing goes to a field instead of the page. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !WITHOUT_TEXT.has(target.type);
  if (target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  return target.isContentEditable || target.closest("[contenteditable=true], dialog[open], [role=dialog]") !== null;
}

/** Whether the event is a browser or system shortcut. */
export function isShortcut(event: KeyboardEvent): boolean {
  return event.ctrlKey || event.metaKey || event.altKey;
}

// gamepad ------------------------------------------------------------------------------------------------------------

const STICKS = 4;

/** The first connected gamepad with the standard mapping, otherwise the first connected one. */
export function firstPad(pads: readonly (Gamepad | null)[]): Gamepad | null {
  const connected = pads.filter((pad): pad is Gamepad => pad?.connected === true);
  return connected.find((pad) => pad.mapping === "standard") ?? connected[0] ?? null;
}

export function readingOf(pad: Gamepad): GamepadState {
  const axes = pad.axes.slice(0, STICKS).map((value) => deadZone(value));
  const buttons = pad.buttons.map((button) => deadZone(button.value, 0.03));
  return { name: shortName(pad.id), axes, buttons };
}

export function readPad(): GamepadState | null {
  const pad = typeof navigator.getGamepads === "function" ? firstPad(navigator.getGamepads()) : null;
  return pad && readingOf(pad);
}

/** "Xbox Controller (STANDARD GAMEPAD Vendor: 045e Product: 028e)" -> "Xbox Controller" */
export function shortName(id: string): string {
  return id.replace(/\s*\(.*$/, "").trim() || "gamepad";
}
