// Flying a quadrotor with sticks (mode 2: left throttle and yaw, right pitch and roll) or with equivalent keys.

import type { Bar, Driver, Inputs, VehicleInfo, VehicleMotion } from "./driver";
import {
  axisOf,
  BACKWARD,
  buttonOf,
  clamp,
  FORWARD,
  type InputState,
  LEFT,
  opposed,
  RIGHT,
  ramp,
  stronger,
} from "./driver";

const MODES = ["altitude", "position", "angle", "acro"] as const;
type QuadMode = (typeof MODES)[number];

const RISE = 3;
const FALL = 6;
const THROTTLE_RATE = 0.5; // per s, where the throttle setting stays
const AIRBORNE = 0.3; // m above the ground
const GRAVITY = 9.81;
const START = 9; // buttons of the standard mapping
const UPPER = 3;
const OTHERS = ["KeyQ", "KeyE", "KeyR", "KeyF", "KeyX", "KeyM", "Space", "ShiftLeft", "ShiftRight"];
const STICKS = { yaw: 0, throttle: 1, roll: 2, pitch: 3 } as const;

export class QuadDriver implements Driver {
  readonly codes = new Set<string>([...FORWARD, ...BACKWARD, ...LEFT, ...RIGHT, ...OTHERS]);
  readonly help = [
    ["tilt", "W A S D"],
    ["turn", "Q E"],
    ["up, down", "R F"],
    ["arm", "X"],
    ["mode", "M"],
  ] as const;
  mode: QuadMode = "altitude";
  armed: boolean;
  private readonly hover: number; // hover throttle
  private keys = { roll: 0, pitch: 0, yaw: 0, lift: 0 };
  private sticks = { roll: 0, pitch: 0, yaw: 0 };
  private throttle = 0.5;
  private pressed = { start: false, upper: false };

  constructor(known: VehicleInfo) {
    this.armed = known.height > AIRBORNE || (known.command.get("armed") ?? 0) > 0.5;
    const weight = (known.parameters.get("mass") ?? 0.65) * GRAVITY;
    this.hover = clamp(weight / (4 * (known.parameters.get("thrust_max") ?? 11.77)), 0, 1);
    // on the ground the sticks start at idle
    this.throttle = this.springs ? 0.5 : 0;
  }

  /** Whether the throttle stick returns to its centre, which holds the height. */
  get springs(): boolean {
    return this.mode === "altitude" || this.mode === "position";
  }

  step(input: InputState, _seen: VehicleMotion, dt: number): Inputs {
    this.buttons(input);
    const { keys } = this;
    keys.pitch = ramp(keys.pitch, opposed(input.held("KeyW"), input.held("KeyS")), RISE, FALL, dt);
    keys.roll = ramp(keys.roll, opposed(input.held("KeyD"), input.held("KeyA")), RISE, FALL, dt);
    const left = input.held("KeyQ", "ArrowLeft");
    keys.yaw = ramp(keys.yaw, opposed(left, input.held("KeyE", "ArrowRight")), RISE, FALL, dt);
    this.sticks.pitch = clamp(stronger(keys.pitch, -axisOf(input, STICKS.pitch)), -1, 1);
    this.sticks.roll = clamp(stronger(keys.roll, axisOf(input, STICKS.roll)), -1, 1);
    this.sticks.yaw = clamp(stronger(keys.yaw, -axisOf(input, STICKS.yaw)), -1, 1);
    this.lift(input, dt);
    return this.inputs();
  }

  /** Without inputs: hold height and position, in any mode. */
  safe(): Inputs {
    this.keys = { roll: 0, pitch: 0, yaw: 0, lift: 0 };
    this.sticks = { roll: 0, pitch: 0, yaw: 0 };
    this.throttle = this.springs ? 0.5 : this.hover;
    return { ...this.inputs(), mode: "position", throttle: 0.5 };
  }

  press(code: string): boolean {
    if (code === "KeyX") this.arm();
    else if (code === "KeyM") this.nextMode();
    else return false;
    return true;
  }

  get status(): readonly string[] {
    return [this.mode, this.armed ? "armed" : "disarmed"];
  }

  get bars(): readonly Bar[] {
    const { roll, pitch, yaw } = this.sticks;
    const both = { low: -1, high: 1 };
    return [
      { name: "throttle", value: this.throttle, low: 0, high: 1 },
      { name: "pitch", value: pitch, ...both },
      { name: "roll", value: roll, ...both },
      { name: "yaw", value: -yaw, ...both },
    ];
  }

  private arm(): void {
    this.armed = !this.armed;
    this.throttle = this.springs ? 0.5 : 0;
  }

  private nextMode(): void {
    this.mode = MODES[(MODES.indexOf(this.mode) + 1) % MODES.length] ?? "altitude";
    this.throttle = this.springs ? 0.5 : this.hover; // keep the present throttle
  }

  private buttons(input: InputState): void {
    const now = { start: buttonOf(input, START) > 0.5, upper: buttonOf(input, UPPER) > 0.5 };
    if (now.start && !this.pressed.start) this.arm();
    if (now.upper && !this.pressed.upper) this.nextMode();
    this.pressed = now;
  }

  private lift(input: InputState, dt: number): void {
    const down = input.held("KeyF", "ShiftLeft", "ShiftRight", "ArrowDown");
    const wanted = opposed(input.held("KeyR", "Space", "ArrowUp"), down);
    const stick = -axisOf(input, STICKS.throttle);
    this.keys.lift = ramp(this.keys.lift, wanted, RISE, FALL, dt);
    if (this.springs || stick !== 0) this.throttle = clamp(0.5 + 0.5 * stronger(this.keys.lift, stick), 0, 1);
    else this.throttle = clamp(this.throttle + wanted * THROTTLE_RATE * dt, 0, 1);
  }

  private inputs(): Inputs {
    return { ...this.sticks, throttle: this.throttle, mode: this.mode, armed: Number(this.armed) };
  }
}
