// The interface of a driver for one vehicle kind: inputs of the user to commands. No events, no sockets.

export type Inputs = Record<string, number | string>;

/** Motion of the vehicle at each step. */
export interface VehicleMotion {
  speed: number; // m/s; NaN: unknown
  heading: number; // rad, of the camera over the ground, counter-clockwise from east
  slip?: number; // rad from the nose to the direction of motion, + left; NaN: unknown
  columns?: ReadonlyMap<string, number>; // newest values of the driver's `columns`, as far as the vehicle has them
}

export interface Bar {
  name: string;
  value: number;
  low: number;
  high: number;
  warns?: boolean; // shown as a warning
}

export interface Driver {
  /** Commands after dt seconds of these inputs. */
  step(input: InputState, seen: VehicleMotion, dt: number): Inputs;
  /** Safe commands without inputs: stop, or continue safely. Resets all ramps. */
  safe(): Inputs;
  /** Handle a one-shot key (arm, mode); return whether it was one. */
  press(code: string): boolean;
  readonly bars: readonly Bar[];
  /** Columns that it reads, where the vehicle has them. */
  readonly columns?: readonly string[];
  /** Readings for the HUD beside the speed. */
  readonly figures?: readonly string[];
  /** Status words for the HUD: gear, mode, armed. */
  readonly status: readonly string[];
  /** Key hints for the HUD: action and keys. */
  readonly help: readonly (readonly [string, string])[];
  /** Key codes reserved while driving. */
  readonly codes: ReadonlySet<string>;
}

/** Parameters and last command of a vehicle, by name, when driving starts. */
export interface VehicleInfo {
  parameters: ReadonlyMap<string, number>;
  command: ReadonlyMap<string, number>;
  limits: ReadonlyMap<string, readonly [low: number, high: number]>; // of inputs
  height: number; // m above the ground
}

/** A parameter, otherwise the input's limit, otherwise a default. */
export function limitOf(known: VehicleInfo, parameter: string, input: string, otherwise: number): number {
  const high = known.parameters.get(parameter) ?? known.limits.get(input)?.[1];
  return high !== undefined && Number.isFinite(high) && high > 0 ? high : otherwise;
}

// axes ---------------------------------------------------------------------------------------------------------------

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

export function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

/** The larger of two inputs on one axis. */
export function stronger(first: number, second: number): number {
  return Math.abs(first) >= Math.abs(second) ? first : second;
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
