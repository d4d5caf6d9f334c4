// Somebody drives one vehicle: hands to inputs, 50 times a second, and safe inputs whenever the hands are away.
import { notify, onColumns, want } from "../net/link";
import { clock } from "../state/store";
import type { Hands, PadReading } from "./hands";
import type { Driver, Inputs } from "./kinds/driver";
import type { KeysHeld } from "./keys";
import { speedBetween } from "./places";
import type { Vehicle } from "./vehicle";

const HOLD = 0.3; // s of wall time that a command holds at least
const LONGEST_STEP = 0.1; // s: a page that was asleep does not ramp through at once

/** Simulated s that a command holds: at least HOLD of wall time at any pace, and never less than HOLD simulated. */
export function holdTime(pace: number, factor: number): number {
  const fastest = Math.max(1, Number.isFinite(pace) ? pace : 1, Number.isFinite(factor) ? factor : 1);
  return HOLD * fastest;
}

export class Seat {
  away = false; // the person looks elsewhere: nothing that keys or sticks say counts
  speed = Number.NaN; // m/s
  pad: PadReading | null = null;
  private last = Number.NaN; // performance.now() of the last step
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
    const dt = Math.min(LONGEST_STEP, Math.max(0, (now - this.last) / 1000 || 0));
    this.last = now;
    this.pad = pad;
    this.speed = Number.isFinite(this.told) ? this.told : speedBetween(this.vehicle.id); // until its column arrives
    if (this.away) return this.send(this.driver.safe());
    const hands: Hands = { held: this.keys.held, pad };
    this.send(this.driver.step(hands, { speed: this.speed, heading }, dt));
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
    notify("set_control", { vehicle_id: this.vehicle.id, timeout: holdTime(pace, factor), ...inputs });
  }
}
