// What the person's hands do at one moment: keys held (by their place on the keyboard) and a gamepad's sticks.

export interface PadReading {
  name: string;
  axes: readonly number[]; // standard mapping: left x, left y, right x, right y; right and down positive
  buttons: readonly number[]; // 0 to 1
}

export interface Hands {
  held(...codes: string[]): boolean; // any of these KeyboardEvent.code
  readonly pad: PadReading | null;
}

export function axisOf(hands: Hands, index: number): number {
  return hands.pad?.axes[index] ?? 0;
}

export function buttonOf(hands: Hands, index: number): number {
  return hands.pad?.buttons[index] ?? 0;
}

/** The codes for the same direction on both key blocks. */
export const FORWARD = ["KeyW", "ArrowUp"] as const;
export const BACKWARD = ["KeyS", "ArrowDown"] as const;
export const LEFT = ["KeyA", "ArrowLeft"] as const;
export const RIGHT = ["KeyD", "ArrowRight"] as const;
