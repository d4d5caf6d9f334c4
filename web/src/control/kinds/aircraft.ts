// Flying an aircraft: a speed that stays as set, bank and climb that spring back. Left alone it circles.
import { axisOf, BACKWARD, buttonOf, clamp, FORWARD, type Hands, LEFT, opposed, RIGHT, ramp, stronger } from "../input";
import { type Bar, type Driver, type Inputs, type Known, limitOf, type Seen } from "./driver";

const RISE = 1.5;
const FALL = 2.5;
const SPEED_TIME = 4; // s from the slowest to the fastest
const LOITER = 0.3; // rad, at most, when nobody flies

export class AircraftDriver implements Driver {
  readonly codes = new Set<string>([...FORWARD, ...BACKWARD, ...LEFT, ...RIGHT, "KeyR", "KeyF", "KeyQ", "KeyE"]);
  readonly help = [
    ["bank", "A D"],
    ["climb, sink", "S W"],
    ["faster, slower", "R F"],
  ] as const;
  readonly words: readonly string[] = [];
  private bank = 0; // -1 to 1
  private climb = 0;
  private speed: number; // m/s
  private wanted = { bank: 0, climb: 0 }; // rad, m/s
  private readonly slowest: number;
  private readonly fastest: number;
  private readonly bankMax: number;
  private readonly climbMax: number;

  constructor(known: Known) {
    this.slowest = known.parameters.get("speed_min") ?? 10;
    this.fastest = limitOf(known, "speed_max", "speed", 30);
    this.bankMax = limitOf(known, "bank_max", "bank", 0.5);
    this.climbMax = limitOf(known, "climb_max", "climb", 3);
    const cruise = known.command.get("speed") ?? known.parameters.get("speed") ?? this.fastest;
    this.speed = clamp(cruise, this.slowest, this.fastest);
  }

  step(hands: Hands, _seen: Seen, dt: number): Inputs {
    this.bank = ramp(this.bank, opposed(hands.held(...RIGHT), hands.held(...LEFT)), RISE, FALL, dt);
    // as with a stick: back is up
    this.climb = ramp(this.climb, opposed(hands.held(...BACKWARD), hands.held(...FORWARD)), RISE, FALL, dt);
    const keys = opposed(hands.held("KeyR", "KeyE"), hands.held("KeyF", "KeyQ"));
    const faster = stronger(keys, buttonOf(hands, 7) - buttonOf(hands, 6));
    const range = this.fastest - this.slowest;
    this.speed = clamp(this.speed + (faster * range * dt) / SPEED_TIME, this.slowest, this.fastest);
    const across = stronger(axisOf(hands, 2), axisOf(hands, 0));
    const along = stronger(axisOf(hands, 3), axisOf(hands, 1));
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
