// Driving a car: pedals, a steering wheel that allows less at speed, reverse by holding "back" at a standstill.
import {
  approach,
  axisOf,
  BACKWARD,
  buttonOf,
  clamp,
  FORWARD,
  type Hands,
  LEFT,
  opposed,
  RIGHT,
  ramp,
  stronger,
} from "../input";
import { type Bar, type Driver, type Inputs, type Known, limitOf, type Seen } from "./driver";

const STEER_RISE = 2.5; // full lock in 0.4 s
const STEER_FALL = 5;
const THROTTLE_RISE = 2.5;
const BRAKE_RISE = 4;
const PEDAL_FALL = 8;
const SIDEWAYS = 7; // m/s2 that a person may ask for by keys
const STANDSTILL = 0.5; // m/s below which the gear may change
const REVERSE_AFTER = 0.3; // s that "back" is held at a standstill, so that braking alone ends in standing
const SAFE_BRAKE = 0.3; // as the car's own failsafe
const TRIGGER_BACK = 6;
const TRIGGER_FORWARD = 7;

/** The largest road-wheel angle (rad) that asks for no more than SIDEWAYS at a speed. */
export function steerLimit(speed: number, wheelbase: number, most: number): number {
  if (!(Math.abs(speed) > 1)) return most;
  return Math.min(most, Math.atan((wheelbase * SIDEWAYS) / (speed * speed)));
}

export class CarDriver implements Driver {
  readonly codes = new Set<string>([...FORWARD, ...BACKWARD, ...LEFT, ...RIGHT, "Space"]);
  readonly help = [
    ["drive", "W S"],
    ["steer", "A D"],
    ["handbrake", "Space"],
  ] as const;
  private steer = 0; // -1 to 1 of what the speed allows
  private throttle = 0;
  private brake = 0;
  private handbrake = 0;
  private gear = 1;
  private waited = 0; // s of "back" at a standstill
  private angle = 0; // rad
  private readonly most: number;
  private readonly wheelbase: number;

  constructor(known: Known) {
    this.most = limitOf(known, "steer_max", "steer", 0.5);
    const front = known.parameters.get("cg_to_front") ?? 1.2;
    this.wheelbase = front + (known.parameters.get("cg_to_rear") ?? 1.5);
  }

  step(hands: Hands, seen: Seen, dt: number): Inputs {
    const speed = Math.abs(seen.speed); // NaN: not known, so it is not said to stand
    const forward = Math.max(Number(hands.held(...FORWARD)), buttonOf(hands, TRIGGER_FORWARD));
    const back = Math.max(Number(hands.held(...BACKWARD)), buttonOf(hands, TRIGGER_BACK));
    this.shift(forward, back, speed, dt);
    const [go, stop] = this.gear > 0 ? [forward, back] : [back, forward];
    this.throttle = ramp(this.throttle, stop > 0 ? 0 : go, THROTTLE_RISE, PEDAL_FALL, dt);
    this.brake = ramp(this.brake, stop, BRAKE_RISE, PEDAL_FALL, dt);
    this.handbrake = Number(hands.held("Space") || buttonOf(hands, 0) > 0.5);
    this.turn(hands, speed, dt);
    return this.inputs();
  }

  safe(): Inputs {
    this.steer = this.throttle = this.angle = this.handbrake = this.waited = 0;
    this.brake = SAFE_BRAKE;
    const inputs = this.inputs();
    this.brake = 0;
    return inputs;
  }

  press(): boolean {
    return false;
  }

  get words(): readonly string[] {
    return [this.gear < 0 ? "reverse" : "forward", ...(this.handbrake ? ["handbrake"] : [])];
  }

  get bars(): readonly Bar[] {
    return [
      { name: "steer", value: -this.angle, low: -this.most, high: this.most },
      { name: "throttle", value: this.throttle, low: 0, high: 1 },
      { name: "brake", value: this.brake, low: 0, high: 1 },
    ];
  }

  /** Holding the other direction at a standstill changes the gear; before that it brakes. */
  private shift(forward: number, back: number, speed: number, dt: number): void {
    const stands = speed <= STANDSTILL;
    this.waited = stands && back > 0 && forward === 0 ? this.waited + dt : 0;
    if (this.waited > REVERSE_AFTER) this.gear = -1;
    if (stands && forward > 0 && back === 0) this.gear = 1;
  }

  private turn(hands: Hands, speed: number, dt: number): void {
    const wanted = opposed(hands.held(...LEFT), hands.held(...RIGHT));
    this.steer = ramp(this.steer, wanted, STEER_RISE, STEER_FALL, dt);
    const stick = -axisOf(hands, 0);
    const share = clamp(stronger(this.steer, stick * Math.abs(stick)), -1, 1); // gentle around the middle
    // the limit falls with speed: let the wheel come back no faster than a hand would turn it
    this.angle = approach(this.angle, share * steerLimit(speed, this.wheelbase, this.most), 4 * this.most, dt);
  }

  private inputs(): Inputs {
    const { angle: steer, throttle, brake, gear, handbrake } = this;
    return { steer, throttle, brake, gear, handbrake };
  }
}
