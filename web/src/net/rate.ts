// How many groups a second the page asks for: fewer when it cannot keep up, more again when it is easy.
export const RATES: readonly number[] = [60, 30, 15, 8, 4];

/** What was seen over about one second. */
export interface Seen {
  now: number; // ms
  granted: number; // groups per s
  drawn: number; // pictures per s
  arriving: number; // groups per s that have reached the Worker
  skipped: number; // of those, groups per s that were never drawn
  late: number; // s that groups are older than the freshest was; they wait somewhere on their way
  ticks: number; // per s of wall time that the world makes; 0 when it stands still
}

const TOO_LATE = 0.5; // s
const SLOW_FOR = 2000; // ms
const EASY_FOR = 10_000; // ms
const LONGEST_EASE = 160_000; // ms
const RELAPSE = 8000; // ms: slow again so soon after a raise means that the raise was wrong

export class RateGovernor {
  private slowSince: number | null = null;
  private easySince: number | null = null;
  private raisedAt = Number.NEGATIVE_INFINITY;
  private patience = EASY_FOR;
  private top: number;
  private wanted: number;

  constructor(vehicles: number) {
    this.top = vehicles < 1000 ? 60 : 30;
    this.wanted = this.top;
  }

  get rate(): number {
    return this.wanted;
  }

  get slowed(): boolean {
    return this.wanted < this.top;
  }

  /** Another world: begin anew where that is sensible. */
  restart(vehicles: number): void {
    Object.assign(this, new RateGovernor(vehicles));
  }

  /** Whether the wanted rate is another one now. */
  see(seen: Seen): boolean {
    const slow = isSlow(seen);
    const easy = !slow && this.slowed && seen.drawn > 1.3 * seen.granted;
    this.slowSince = slow ? (this.slowSince ?? seen.now) : null;
    this.easySince = easy ? (this.easySince ?? seen.now) : null;
    if (this.slowSince !== null && seen.now - this.slowSince >= SLOW_FOR) return this.lower(seen.now);
    if (this.easySince !== null && seen.now - this.easySince >= this.patience) return this.raise(seen.now);
    return false;
  }

  private lower(now: number): boolean {
    this.slowSince = null;
    if (now - this.raisedAt < RELAPSE) this.patience = Math.min(2 * this.patience, LONGEST_EASE);
    return this.move(RATES.find((rate) => rate < this.wanted));
  }

  private raise(now: number): boolean {
    this.easySince = null;
    this.raisedAt = now;
    return this.move(RATES.findLast((rate) => rate > this.wanted && rate <= this.top));
  }

  private move(rate: number | undefined): boolean {
    if (rate === undefined) return false;
    this.wanted = rate;
    return true;
  }
}

/** Drawing too slowly shows as skipped groups; a slow way shows as fewer groups than the world would give. */
function isSlow({ granted, arriving, skipped, drawn, late, ticks }: Seen): boolean {
  const drawing = skipped > 0.2 * arriving && drawn < 0.9 * arriving;
  // a group is every n-th tick, so that the rate is not exceeded
  const expected = ticks > 0 && granted > 0 ? ticks / Math.ceil(ticks / granted) : 0;
  return drawing || late > TOO_LATE || arriving < 0.6 * expected;
}
