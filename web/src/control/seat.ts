// Somebody drives one vehicle: hands to inputs, 50 times a second, and safe inputs whenever the hands are away.
import { notify, onColumns, want } from "../net/link";
import { clock } from "../state/store";
import type { Hands, PadReading } from "./hands";
import type { Driver, Inputs } from "./kinds/driver";
import type { KeysHeld } from "./keys";
import { speedBetween } from "./places";
import type { Vehicle } from "./vehicle";

const HOLD = 0.5; // s of wall time that a command holds at least
const LONGEST_HOLD = 1.5; // s of wall time: beyond, a page that hangs must count as gone
const GAPS = 3; // steps of the slowest kind seen lately that a command outlasts
const LONGEST_STEP = 0.1; // s: a page that was asleep does not ramp through at once

/**
 * Simulated s that a command holds: at least HOLD of wall time at any pace, and never less than HOLD simulated; longer
 * on a page whose steps come late (gap: the longest s between two of them lately).
 */
export function holdTime(pace: number, factor: number, gap = 0): number {
  const fastest = Math.max(1, Number.isFinite(pace) ? pace : 1, Number.isFinite(factor) ? factor : 1);
  return Math.min(Math.max(HOLD, GAPS * gap), LONGEST_HOLD) * fastest;
}

export class Seat {
  away = false; // the person looks elsewhere: nothing that keys or sticks say counts
  speed = Number.NaN; // m/s
  pad: PadReading | null = null;
  private last = Number.NaN; // performance.now() of the last step
  private gap = 0; // s, the longest between two steps, slowly forgotten
  private sent = "";
  private told = Number.NaN; // the speed that arrived as a column
  private readonly stops: (() => void)[];

  constructor(
    readonly vehicle: Vehicle,
    readonly driver: Driver,
    private readonly keys: KeysHeld,
  ) {
    const wish = want("driving", [{ of: vehicle.id, columns: ["speed"] }]);
    const stop = onColumns(wish, (_frame, blocks) => {
      this.told = blocks[0]?.values[0] ?? Number.NaN;
    });
    this.stops = [stop, () => wish.release()];
  }

  /** One step of the loop; heading is where the camera looks, rad. */
  step(now: number, pad: PadReading | null, heading: number): void {
    const passed = Math.max(0, (now - this.last) / 1000 || 0);
    const dt = Math.min(LONGEST_STEP, passed);
    this.last = now;
    this.gap = Math.max(passed, 0.99 * this.gap);
    this.pad = pad;
    this.look();
    if (this.away) return this.send(this.driver.safe());
    const hands: Hands = { held: this.keys.held, pad };
    this.send(this.driver.step(hands, { speed: this.speed, heading }, dt));
  }

  /** How fast it is; between frames that do not tell, as fast as it was. */
  private look(): void {
    const speed = Number.isFinite(this.told) ? this.told : speedBetween(this.vehicle.id); // until its column arrives
    if (Number.isFinite(speed)) this.speed = speed;
  }

  /** The failsafe: keys are forgotten and the vehicle is told so at once. */
  letGo(): void {
    this.keys.clear();
    this.send(this.driver.safe(), true);
  }

  leave(): void {
    for (const stop of this.stops) stop();
  }

  private send(inputs: Inputs, now = false): void {
    const { pace, factor, paused } = clock.value;
    const said = JSON.stringify(inputs);
    if (paused && !now && said === this.sent) return; // time stands still: once is enough
    this.sent = said;
    notify("set_control", { vehicle_id: this.vehicle.id, timeout: holdTime(pace, factor, this.gap), ...inputs });
  }
}
