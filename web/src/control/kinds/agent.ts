// Moving a point agent: up on the keyboard is away from the camera.
import { axisOf, BACKWARD, clamp, FORWARD, type Hands, LEFT, opposed, RIGHT, ramp, stronger } from "../input";
import { type Bar, type Driver, type Inputs, type Known, limitOf, type Seen } from "./driver";

const RISE = 4;
const FALL = 6;

export class AgentDriver implements Driver {
  readonly codes = new Set<string>([...FORWARD, ...BACKWARD, ...LEFT, ...RIGHT, "KeyR", "KeyF"]);
  readonly help = [
    ["move", "W A S D"],
    ["up, down", "R F"],
  ] as const;
  readonly words: readonly string[] = [];
  private ahead = 0; // -1 to 1
  private left = 0;
  private up = 0;
  private velocity: [number, number, number] = [0, 0, 0];
  private readonly most: number;

  constructor(known: Known) {
    this.most = limitOf(known, "speed_max", "vx", 5);
  }

  step(hands: Hands, seen: Seen, dt: number): Inputs {
    this.ahead = ramp(this.ahead, opposed(hands.held(...FORWARD), hands.held(...BACKWARD)), RISE, FALL, dt);
    this.left = ramp(this.left, opposed(hands.held(...LEFT), hands.held(...RIGHT)), RISE, FALL, dt);
    this.up = ramp(this.up, opposed(hands.held("KeyR"), hands.held("KeyF")), RISE, FALL, dt);
    const ahead = stronger(this.ahead, -axisOf(hands, 1));
    const left = stronger(this.left, -axisOf(hands, 0));
    const up = clamp(stronger(this.up, -axisOf(hands, 3)), -1, 1);
    const over = Math.max(1, Math.hypot(ahead, left)); // two keys at once are no faster than one
    const heading = Number.isFinite(seen.heading) ? seen.heading : Math.PI / 2;
    const [c, s] = [Math.cos(heading), Math.sin(heading)];
    const scale = this.most / over;
    this.velocity = [scale * (c * ahead - s * left), scale * (s * ahead + c * left), up * this.most];
    return this.inputs();
  }

  safe(): Inputs {
    this.ahead = this.left = this.up = 0;
    this.velocity = [0, 0, 0];
    return this.inputs();
  }

  press(): boolean {
    return false;
  }

  get bars(): readonly Bar[] {
    const names = ["east", "north", "up"];
    return this.velocity.map((value, k) => ({ name: names[k] ?? "", value, low: -this.most, high: this.most }));
  }

  private inputs(): Inputs {
    const [vx, vy, vz] = this.velocity;
    return { vx, vy, vz };
  }
}
