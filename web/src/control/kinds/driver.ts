// The interface of a driver for one vehicle kind: inputs of the user to commands. No events, no sockets.
import type { InputState } from "../input";

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
