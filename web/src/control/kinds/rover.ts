// Driving a rover: speed and yaw rate within the model's limits.
import {
  axisOf,
  BACKWARD,
  type Bar,
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

const RISE = 2;
const FALL = 5;

export class RoverDriver implements Driver {
  readonly codes = new Set<string>([...FORWARD, ...BACKWARD, ...LEFT, ...RIGHT]);
  readonly help = [
    ["drive", "W S"],
    ["turn", "A D"],
  ] as const;
  readonly status: readonly string[] = [];
  private ahead = 0; // -1 to 1
  private turn = 0;
  private speed = 0; // m/s
  private rate = 0; // rad/s
  private readonly speedMax: number;
  private readonly rateMax: number;

  constructor(known: VehicleInfo) {
    this.speedMax = limitOf(known, "speed_max", "speed", 1);
    this.rateMax = limitOf(known, "turn_rate_max", "turn_rate", 1);
  }

  step(input: InputState, _seen: VehicleMotion, dt: number): Inputs {
    this.ahead = ramp(this.ahead, opposed(input.held(...FORWARD), input.held(...BACKWARD)), RISE, FALL, dt);
    this.turn = ramp(this.turn, opposed(input.held(...LEFT), input.held(...RIGHT)), RISE, FALL, dt);
    const across = stronger(axisOf(input, 0), axisOf(input, 2));
    this.speed = clamp(stronger(this.ahead, -axisOf(input, 1)), -1, 1) * this.speedMax;
    this.rate = clamp(stronger(this.turn, -across), -1, 1) * this.rateMax;
    return { speed: this.speed, turn_rate: this.rate };
  }

  safe(): Inputs {
    this.ahead = this.turn = this.speed = this.rate = 0;
    return { speed: 0, turn_rate: 0 };
  }

  press(): boolean {
    return false;
  }

  get bars(): readonly Bar[] {
    return [
      { name: "speed", value: this.speed, low: -this.speedMax, high: this.speedMax },
      { name: "turn", value: -this.rate, low: -this.rateMax, high: this.rateMax },
    ];
  }
}
