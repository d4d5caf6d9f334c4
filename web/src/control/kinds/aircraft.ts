// Flying an aircraft: the speed setting stays; bank and climb return to neutral. Without inputs it circles.
import {
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

const RISE = 1.5;
const FALL = 2.5;
const SPEED_TIME = 4; // s from the slowest to the fastest
const LOITER = 0.3; // rad, maximum bank without inputs

export class AircraftDriver implements Driver {
  readonly codes = new Set<string>([...FORWARD, ...BACKWARD, ...LEFT, ...RIGHT, "KeyR", "KeyF", "KeyQ", "KeyE"]);
  readonly help = [
    ["bank", "A D"],
    ["climb, sink", "S W"],
    ["faster, slower", "R F"],
  ] as const;
  readonly status: readonly string[] = [];
  private bank = 0; // -1 to 1
  private climb = 0;
  private speed: number; // m/s
  private wanted = { bank: 0, climb: 0 }; // rad, m/s
  private readonly slowest: number;
  private readonly fastest: number;
  private readonly bankMax: number;
  private readonly climbMax: number;

  constructor(known: VehicleInfo) {
    this.slowest = known.parameters.get("speed_min") ?? 10;
    this.fastest = limitOf(known, "speed_max", "speed", 30);
    this.bankMax = limitOf(known, "bank_max", "bank", 0.5);
    this.climbMax = limitOf(known, "climb_max", "climb", 3);
    const cruise = known.command.get("speed") ?? known.parameters.get("speed") ?? this.fastest;
    this.speed = clamp(cruise, this.slowest, this.fastest);
  }

  step(input: InputState, _seen: VehicleMotion, dt: number): Inputs {
    this.bank = ramp(this.bank, opposed(input.held(...RIGHT), input.held(...LEFT)), RISE, FALL, dt);
    // as with a stick: back is up
    this.climb = ramp(this.climb, opposed(input.held(...BACKWARD), input.held(...FORWARD)), RISE, FALL, dt);
    const keys = opposed(input.held("KeyR", "KeyE"), input.held("KeyF", "KeyQ"));
    const faster = stronger(keys, buttonOf(input, 7) - buttonOf(input, 6));
    const range = this.fastest - this.slowest;
    this.speed = clamp(this.speed + (faster * range * dt) / SPEED_TIME, this.slowest, this.fastest);
    const across = stronger(axisOf(input, 2), axisOf(input, 0));
    const along = stronger(axisOf(input, 3), axisOf(input, 1));
    this.wanted.bank = clamp(stronger(this.bank, across), -1, 1) * this.bankMax;
    this.wanted.climb = clamp(stronger(this.climb, along), -1, 1) * this.climbMax;
    return { speed: this.speed, ...this.wanted };
  }

  safe(): Inputs {
    this.bank = this.climb = 0;
    this.wanted = { bank: 0, climb: 0 };
    return { speed: this.speed, bank: Math.min(LOITER, this.bankMax), climb: 0 };
  }

  press(): boolean {
    return false;
  }

  get bars(): readonly Bar[] {
    return [
      { name: "bank", value: this.wanted.bank, low: -this.bankMax, high: this.bankMax },
      { name: "climb", value: this.wanted.climb, low: -this.climbMax, high: this.climbMax },
      { name: "speed", value: this.speed, low: this.slowest, high: this.fastest },
    ];
  }
}
