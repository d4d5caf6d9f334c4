// The contract of a way to drive one kind of vehicle: hands in, inputs out. Drivers know no events and no sockets.
import type { Hands } from "../input";

export type Inputs = Record<string, number | string>;

/** What a driver is told about the vehicle at each step. */
export interface Seen {
  speed: number; // m/s; NaN: not known yet
  heading: number; // rad, of the camera over the ground, counter-clockwise from east
}

export interface Bar {
  name: string;
  value: number;
  low: number;
  high: number;
}

export interface Driver {
  /** Inputs after dt seconds of these hands. */
  step(hands: Hands, seen: Seen, dt: number): Inputs;
  /** What a vehicle is to do when nobody has it in hand: it stops, or goes on safely. Forgets what was ramped. */
  safe(): Inputs;
  /** A key that does something once (arm, mode); whether it was one. */
  press(code: string): boolean;
  readonly bars: readonly Bar[];
  /** Words for the HUD: gear, mode, armed. */
  readonly words: readonly string[];
  /** Keys that it wants, for the HUD: what, and which. */
  readonly help: readonly (readonly [string, string])[];
  /** Codes that belong to the driver while driving. */
  readonly codes: ReadonlySet<string>;
}

/** What is known of a vehicle when driving begins: its parameters and its last command, by name. */
export interface Known {
  parameters: ReadonlyMap<string, number>;
  command: ReadonlyMap<string, number>;
  limits: ReadonlyMap<string, readonly [low: number, high: number]>; // of inputs
  height: number; // m over the ground
}

/** A parameter, or the input's own limit, or something sensible. */
export function limitOf(known: Known, parameter: string, input: string, otherwise: number): number {
  const high = known.parameters.get(parameter) ?? known.limits.get(input)?.[1];
  return high !== undefined && Number.isFinite(high) && high > 0 ? high : otherwise;
}
