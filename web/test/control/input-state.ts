// Input states for tests: pressed keys and optional gamepad sticks.
import type { Driver, InputState, Inputs, VehicleInfo, VehicleMotion } from "../../src/control/kinds/driver";

export function holding(...codes: string[]): InputState {
  return { held: (...wanted) => wanted.some((code) => codes.includes(code)), pad: null };
}

export function pad(axes: readonly number[], buttons: Readonly<Record<number, number>> = {}): InputState {
  const all = Array.from({ length: 17 }, (_, k) => buttons[k] ?? 0);
  return { held: () => false, pad: { name: "pad", axes, buttons: all } };
}

export const NOTHING = holding();

export function known(parameters: Record<string, number> = {}, more: Partial<VehicleInfo> = {}): VehicleInfo {
  const empty = { command: new Map(), limits: new Map(), height: 0 };
  return { ...empty, parameters: new Map(Object.entries(parameters)), ...more };
}

/** Drive for some seconds at 50 Hz; return the last commands. */
export function drive(driver: Driver, input: InputState, seconds: number, seen: Partial<VehicleMotion> = {}): Inputs {
  let inputs: Inputs = {};
  const steps = Math.round(50 * seconds);
  for (let k = 0; k < steps; k++) inputs = driver.step(input, { speed: 0, heading: Math.PI / 2, ...seen }, 0.02);
  return inputs;
}
