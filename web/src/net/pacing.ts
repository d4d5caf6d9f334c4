// Keeps count of what arrives and what is drawn, and asks for fewer groups when the page cannot keep up.
import { pictures } from "../state/drawn";
import { clock, metadata, type Pulse, pulse, source, tell } from "../state/store";
import { RateGovernor, type Seen } from "./rate";

interface Counts {
  now: number; // ms
  pictures: number;
  arrived: number;
  skipped: number;
}

export class Pacing {
  private readonly governor = new RateGovernor(0);
  private fixed: number | null = null;
  private arrived = 0;
  private skipped = 0;
  private age = 0; // s
  private freshest = Number.POSITIVE_INFINITY; // s: also how much the two clocks differ
  private before: Counts | null = null;
  private told = false;

  /** `change` asks the server for another rate. */
  constructor(private readonly change: (rate: number) => void) {}

  /** Groups per s to ask for. */
  get rate(): number {
    return this.fixed ?? this.governor.rate;
  }

  opened(vehicles: number): void {
    this.governor.restart(vehicles);
    this.arrived = 0;
    this.skipped = 0;
    this.before = null;
    this.freshest = Number.POSITIVE_INFINITY;
    this.tellPulse({ skipped: 0, slowed: false });
  }

  granted(rate: number): void {
    this.before = null; // what was counted belongs to the old rate
    this.tellPulse({ granted: rate });
  }

  setRate(rate: number | null): void {
    this.fixed = rate;
    this.tellPulse({ slowed: rate === null && this.governor.slowed });
    this.change(this.rate);
  }

  frame(arrived: number, skipped: number, age: number): void {
    this.arrived = arrived;
    this.skipped = skipped;
    this.age = age;
    this.freshest = Math.min(this.freshest, age);
  }

  /** About once a second. */
  look(now: number, hidden: boolean): void {
    const counts = { now, pictures: pictures(), arrived: this.arrived, skipped: this.skipped };
    const before = this.before;
    this.before = counts;
    if (before === null || now <= before.now) return;
    const perSecond = (of: keyof Counts) => ((counts[of] - before[of]) * 1000) / (now - before.now);
    const arriving = perSecond("arrived");
    const drawn = perSecond("pictures");
    this.tellPulse({ frames: drawn, arriving, age: this.age, skipped: this.skipped });
    // a tab that nobody sees, or one that shows a file, draws no live frames
    if (hidden || this.fixed !== null || source.peek()?.kind === "buffer" || drawn === 0) return;
    const late = arriving > 0 ? this.age - this.freshest : 0;
    this.govern({ now, drawn, arriving, late, skipped: perSecond("skipped") });
  }

  private govern(seen: Omit<Seen, "granted" | "ticks">): void {
    const { rate, factor, paused } = clock.peek();
    const steady = !paused && metadata.peek()?.recording == null; // a recording may hold fewer frames than ticks
    const granted = pulse.peek().granted;
    const old = this.governor.rate;
    if (!this.governor.see({ ...seen, granted, ticks: steady ? rate * factor : 0 })) return;
    const now = this.governor.rate;
    if (now < old && !this.told) tell("warning", `the page cannot keep up: ${now} updates a second instead of ${old}`);
    this.told ||= now < old; // once is enough: from then on the top bar says it
    this.tellPulse({ slowed: this.governor.slowed });
    this.change(now);
  }

  private tellPulse(part: Partial<Pulse>): void {
    pulse.value = { ...pulse.peek(), ...part };
  }
}
