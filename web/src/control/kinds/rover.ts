// Driving a rover: how fast, and how fast it turns, within what its model can.
import { axisOf, BACKWARD, clamp, FORWARD, type Hands, LEFT, opposed, RIGHT, ramp, stronger } from "../input";
import { type Bar, type Driver, type Inputs, type Known, limitOf, type Seen } from "./driver";

const RISE = 2;
const FALL = 5;

export class RoverDriver implements Driver {
  readonly codes = new Set<string>([...FORWARD, ...BACKWARD, ...LEFT, ...RIGHT]);
  readonly help = [
    ["drive", "W S"],
    ["turn", "A D"],
  ] as const;
  readonly words: readonly string[] = [];
  private ahead = 0; // -1 to 1
  private turn = 0;
  private speed = 0; // m/s
  private rate = 0; // rad/s
  private readonly speedMax: number;
  private readonly rateMax: number;

  constructor(known: Known) {
    this.speedMax = limitOf(known, "speed_max", "speed", 1);
    this.rateMax = limitOf(known, "turn_rate_max", "turn_rate", 1);
  }

  step(hands: Hands, _seen: Seen, dt: number): Inputs {
    this.ahead = ramp(this.ahead, opposed(hands.held(...FORWARD), hands.held(...BACKWARD)), RISE, FALL, dt);
    this.turn = ramp(this.turn, opposed(hands.held(...LEFT), hands.held(...RIGHT)), RISE, FALL, dt);
    const across = stronger(axisOf(hands, 0), axisOf(hands, 2));
    this.speed = clamp(stronger(this.ahead, -axisOf(hands, 1)), -1, 1) * this.speedMax;
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
