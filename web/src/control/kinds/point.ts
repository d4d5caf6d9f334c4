// Driving a point mass: the up key moves away from the camera.
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

const RISE = 4;
const FALL = 6;

export class PointDriver implements Driver {
  readonly codes = new Set<string>([...FORWARD, ...BACKWARD, ...LEFT, ...RIGHT, "KeyR", "KeyF"]);
  readonly help = [
    ["move", "W A S D"],
    ["up, down", "R F"],
  ] as const;
  readonly status: readonly string[] = [];
  private ahead = 0; // -1 to 1
  private left = 0;
  private up = 0;
  private velocity: [number, number, number] = [0, 0, 0];
  private readonly most: number;

  constructor(known: VehicleInfo) {
    this.most = limitOf(known, "speed_max", "vx", 5);
  }

  step(input: InputState, seen: VehicleMotion, dt: number): Inputs {
    this.ahead = ramp(this.ahead, opposed(input.held(...FORWARD), input.held(...BACKWARD)), RISE, FALL, dt);
    this.left = ramp(this.left, opposed(input.held(...LEFT), input.held(...RIGHT)), RISE, FALL, dt);
    this.up = ramp(this.up, opposed(input.held("KeyR"), input.held("KeyF")), RISE, FALL, dt);
    const ahead = stronger(this.ahead, -axisOf(input, 1));
    const left = stronger(this.left, -axisOf(input, 0));
    const up = clamp(stronger(this.up, -axisOf(input, 3)), -1, 1);
    const over = Math.max(1, Math.hypot(ahead, left)); // diagonal input is not faster
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
