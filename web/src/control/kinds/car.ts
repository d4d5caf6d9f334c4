// Driving a car: pedals, steering limited by speed, reverse by holding "back" at standstill.
import {
  approach,
  axisOf,
  BACKWARD,
  type Bar,
  buttonOf,
  clamp,
  type Driver,
  FORWARD,
  type InputState,
  type Inputs,
  LEFT,
  limitOf,
  opposed,
  RIGHT,
  ramp,
  stronger,
  type VehicleInfo,
  type VehicleMotion,
} from "./driver";

const STEER_RISE = 2.5; // full lock in 0.4 s
const STEER_FALL = 5;
const THROTTLE_RISE = 2.5;
const BRAKE_RISE = 4;
const PEDAL_FALL = 8;
const SIDEWAYS = 7; // m/s2, lateral limit for keyboard steering
const STANDSTILL = 0.5; // m/s below which the gear may change
const REVERSE_AFTER = 0.3; // s that "back" must be held at standstill, so that braking ends at rest
const REVERSE_SPEED = 10; // m/s
const REVERSE_PEDAL = 0.4; // the most throttle or brake: the speed that the page knows may be a second old
const SAFE_BRAKE = 0.3; // same as the car's own failsafe
const MOST_GRIP = 1.5;
const NOTHING: ReadonlyMap<string, number> = new Map();
const TRIGGER_BACK = 6;
const TRIGGER_FORWARD = 7;

/** The largest road-wheel angle (rad) that stays within SIDEWAYS at a speed. */
export function steerLimit(speed: number, wheelbase: number, most: number): number {
  if (!(Math.abs(speed) > 1)) return most;
  return Math.min(most, Math.atan((wheelbase * SIDEWAYS) / (speed * speed)));
}

const WHEELS = ["fl", "fr", "rl", "rr"] as const;
const PER_WHEEL = ["slip_angle", "alpha_peak", "slip_ratio", "kappa_peak"] as const;
const HOLDS = 0.07; // rad
const SLOW = 3; // m/s below which slips say nothing

/** How far the rear axle slides (rad, + left) beyond the slip of a tyre that holds, from its slip. */
function slideOf(slip: number): number {
  return Math.abs(slip) > HOLDS ? slip - Math.sign(slip) * HOLDS : 0;
}

/** Share of the grip that the most loaded tyre uses, from slips over those of the largest force; above 1 it slides. */
export function gripUsed(columns: ReadonlyMap<string, number>): number {
  const shares = WHEELS.map((wheel) => {
    const [angle, anglePeak, ratio, ratioPeak] = PER_WHEEL.map((name) => columns.get(`${name}_${wheel}`) ?? Number.NaN);
    return Math.hypot((angle as number) / (anglePeak as number), (ratio as number) / (ratioPeak as number));
  });
  return shares.reduce((most, share) => (share > most || Number.isNaN(most) ? share : most), Number.NaN);
}

/** The most throttle in reverse at a speed (m/s), which fades out towards the limit, and the least brake above it. */
function reverseLimits(speed: number): [throttle: number, brake: number] {
  const left = Number.isNaN(speed) ? 1 : 1 - speed / REVERSE_SPEED;
  return [clamp(left, 0, REVERSE_PEDAL), clamp(-left / 2, 0, REVERSE_PEDAL)];
}

export class CarDriver implements Driver {
  readonly codes = new Set<string>([...FORWARD, ...BACKWARD, ...LEFT, ...RIGHT, "Space"]);
  readonly help = [
    ["drive", "W S"],
    ["steer", "A D"],
    ["handbrake", "Space"],
  ] as const;
  readonly columns = ["gear", ...PER_WHEEL.flatMap((name) => WHEELS.map((wheel) => `${name}_${wheel}`))];
  private steer = 0; // -1 to 1 of the limit at this speed
  private throttle = 0;
  private brake = 0;
  private handbrake = 0;
  private gear = 1;
  private waited = 0; // s of "back" at standstill
  private angle = 0; // rad
  private slip = Number.NaN; // rad
  private slide = 0; // rad, of the rear axle
  private grip = Number.NaN; // share
  private hasGrip = false;
  private engaged = Number.NaN; // gear of the gearbox
  private readonly most: number;
  private readonly wheelbase: number;
  private readonly rear: number; // m from the centre of mass to the rear axle

  constructor(known: VehicleInfo) {
    this.most = limitOf(known, "steer_max", "steer", 0.5);
    const front = known.parameters.get("cg_to_front") ?? 1.2;
    this.rear = known.parameters.get("cg_to_rear") ?? 1.5;
    this.wheelbase = front + this.rear;
  }

  step(input: InputState, seen: VehicleMotion, dt: number): Inputs {
    const speed = Math.abs(seen.speed); // NaN: unknown, so not at standstill
    const forward = Math.max(Number(input.held(...FORWARD)), buttonOf(input, TRIGGER_FORWARD));
    const back = Math.max(Number(input.held(...BACKWARD)), buttonOf(input, TRIGGER_BACK));
    this.shift(forward, back, speed, dt);
    const [go, stop] = this.gear > 0 ? [forward, back] : [back, forward];
    const [most, least] = this.gear > 0 ? [1, 0] : reverseLimits(speed);
    this.throttle = ramp(this.throttle, stop > 0 ? 0 : Math.min(go, most), THROTTLE_RISE, PEDAL_FALL, dt);
    this.brake = ramp(this.brake, Math.max(stop, least), BRAKE_RISE, PEDAL_FALL, dt);
    this.handbrake = Number(input.held("Space") || buttonOf(input, 0) > 0.5);
    const moves = speed > SLOW;
    this.slip = moves ? (seen.slip ?? Number.NaN) : Number.NaN;
    this.slide = moves ? slideOf(this.slip - (this.rear * (seen.columns?.get("yaw_rate") ?? 0)) / seen.speed) : 0;
    this.hasGrip = seen.columns?.has("alpha_peak_fl") ?? false;
    this.grip = moves ? gripUsed(seen.columns ?? NOTHING) : Number.NaN;
    this.engaged = seen.columns?.get("gear") ?? Number.NaN;
    this.turn(input, speed, dt);
    return this.inputs();
  }

  safe(): Inputs {
    this.steer = this.throttle = this.angle = this.handbrake = this.waited = 0;
    this.brake = SAFE_BRAKE;
    this.slip = this.grip = Number.NaN;
    this.slide = 0;
    const inputs = this.inputs();
    this.brake = 0;
    return inputs;
  }

  press(): boolean {
    return false;
  }

  get status(): readonly string[] {
    return [this.gear < 0 ? "reverse" : "forward", ...(this.handbrake ? ["handbrake"] : [])];
  }

  get figures(): readonly string[] {
    const gear = this.gear > 0 && this.engaged >= 1 ? [`gear ${Math.round(this.engaged)}`] : [];
    const degrees = Math.abs((this.slip * 180) / Math.PI);
    return degrees >= 1 ? [...gear, `slip ${degrees.toFixed(0)}°`] : gear;
  }

  get bars(): readonly Bar[] {
    const value = Math.min(this.grip || 0, MOST_GRIP); // 0: unknown at walking pace
    const grip = { name: "grip", value, low: 0, high: MOST_GRIP, warns: this.grip > 1 };
    return [
      { name: "steer", value: -this.angle, low: -this.most, high: this.most },
      { name: "throttle", value: this.throttle, low: 0, high: 1 },
      { name: "brake", value: this.brake, low: 0, high: 1 },
      ...(this.hasGrip ? [grip] : []),
    ];
  }

  /** Holding the other direction at standstill changes the gear; before that it brakes. */
  private shift(forward: number, back: number, speed: number, dt: number): void {
    const stands = speed <= STANDSTILL;
    this.waited = stands && back > 0 && forward === 0 ? this.waited + dt : 0;
    if (this.waited > REVERSE_AFTER) this.gear = -1;
    if (stands && forward > 0 && back === 0) this.gear = 1;
  }

  private turn(input: InputState, speed: number, dt: number): void {
    const wanted = opposed(input.held(...LEFT), input.held(...RIGHT));
    this.steer = ramp(this.steer, wanted, STEER_RISE, STEER_FALL, dt);
    const stick = -axisOf(input, 0);
    const share = clamp(stronger(this.steer, stick * Math.abs(stick)), -1, 1); // finer around the centre
    // the limit falls with speed: return no faster than the steering rate; into a slide there is more, to catch it
    const slide = this.slide * share > 0 ? Math.abs(this.slide) : 0;
    const limit = Math.min(steerLimit(speed, this.wheelbase, this.most) + slide, this.most);
    this.angle = approach(this.angle, share * limit, 4 * this.most, dt);
  }

  private inputs(): Inputs {
    const { angle: steer, throttle, brake, gear, handbrake } = this;
    return { steer, throttle, brake, gear, handbrake };
  }
}
