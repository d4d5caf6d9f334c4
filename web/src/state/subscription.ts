// The subscription to frames: columns, and a rate that adapts to what the page can draw.
import { effect } from "@preact/signals";
import { type Connection, connection, RpcError, reasonOf, UNKNOWN_METHOD } from "../net/connection";
import type { Frame } from "../wire/frame";
import type { Kind } from "../wire/schema";
import { listColumnRequests, onColumnRequests } from "./columns";
import { drawnCount, enterRoster, serverProvidesColumns } from "./run";
import { clock, metadata, type PageRates, pageRates, showNotice, source } from "./store";

const RATES: readonly number[] = [60, 30, 15, 8, 4];

/** Measurements over about one second. */
export interface Seen {
  now: number; // ms
  granted: number; // frames per s
  drawn: number; // drawings per s
  arriving: number; // frames per s that reached the Worker
  skipped: number; // frames per s that were never drawn
  late: number; // s: age of frames relative to the freshest one
  ticks: number; // simulated ticks per s of wall time; 0 while paused
}

const TOO_LATE = 0.5; // s
const SLOW_FOR = 2000; // ms
const EASY_FOR = 10_000; // ms
const LONGEST_EASE = 160_000; // ms
const RELAPSE = 8000; // ms: slow again this soon after an increase: the increase was wrong

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

  /** Restart for another world. */
  restart(vehicles: number): void {
    Object.assign(this, new RateGovernor(vehicles));
  }

  /** Take measurements; return whether the rate changes. */
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

/** Slow drawing causes skipped frames; a slow network causes fewer frames than expected. */
function isSlow({ granted, arriving, skipped, drawn, late, ticks }: Seen): boolean {
  const drawing = skipped > 0.2 * arriving && drawn < 0.9 * arriving;
  // the server sends every n-th tick, such that the rate is not exceeded
  const expected = ticks > 0 && granted > 0 ? ticks / Math.ceil(ticks / granted) : 0;
  return drawing || late > TOO_LATE || arriving < 0.6 * expected;
}

// pacing -------------------------------------------------------------------------------------------------------------

interface Counts {
  now: number; // ms
  drawn: number;
  arrived: number;
  skipped: number;
}

export class Pacing {
  private readonly governor = new RateGovernor(0);
  private fixed: number | null = null;
  private arrived = 0;
  private skipped = 0;
  private age = 0; // s
  private freshest = Number.POSITIVE_INFINITY; // s; includes the difference of the two clocks
  private before: Counts | null = null;
  private notified = false;

  /** `change` requests another rate from the server. */
  constructor(private readonly change: (rate: number) => void) {}

  /** Frames per s to request. */
  get rate(): number {
    return this.fixed ?? this.governor.rate;
  }

  opened(vehicles: number): void {
    this.governor.restart(vehicles);
    this.arrived = 0;
    this.skipped = 0;
    this.before = null;
    this.freshest = Number.POSITIVE_INFINITY;
    this.updateRates({ skipped: 0, slowed: false });
  }

  granted(rate: number): void {
    this.before = null; // counts before this belong to the old rate
    this.updateRates({ granted: rate });
  }

  setRate(rate: number | null): void {
    this.fixed = rate;
    this.updateRates({ slowed: rate === null && this.governor.slowed });
    this.change(this.rate);
  }

  frame(arrived: number, skipped: number, age: number): void {
    this.arrived = arrived;
    this.skipped = skipped;
    this.age = age;
    this.freshest = Math.min(this.freshest, age);
  }

  /** Called about once per second. */
  update(now: number, hidden: boolean): void {
    const counts = { now, drawn: drawnCount(), arrived: this.arrived, skipped: this.skipped };
    const before = this.before;
    this.before = counts;
    if (before === null || now <= before.now) return;
    const perSecond = (of: keyof Counts) => ((counts[of] - before[of]) * 1000) / (now - before.now);
    const arriving = perSecond("arrived");
    const drawn = perSecond("drawn");
    this.updateRates({ frames: drawn, arriving, age: this.age, skipped: this.skipped });
    // hidden tabs and tabs that show a file draw no live frames
    if (hidden || this.fixed !== null || source.peek()?.kind === "buffer" || drawn === 0) return;
    const late = arriving > 0 ? this.age - this.freshest : 0;
    this.govern({ now, drawn, arriving, late, skipped: perSecond("skipped") });
  }

  private govern(seen: Omit<Seen, "granted" | "ticks">): void {
    const { rate, factor, paused } = clock.peek();
    const steady = !paused && metadata.peek()?.recording == null; // a recording may have fewer frames than ticks
    const granted = pageRates.peek().granted;
    const old = this.governor.rate;
    if (!this.governor.see({ ...seen, granted, ticks: steady ? rate * factor : 0 })) return;
    const now = this.governor.rate;
    if (now < old && !this.notified)
      showNotice("warning", `Update rate reduced from ${old} to ${now} Hz: the page cannot keep up`);
    this.notified ||= now < old; // show it once; the top bar shows it from then on
    this.updateRates({ slowed: this.governor.slowed });
    this.change(now);
  }

  private updateRates(part: Partial<PageRates>): void {
    pageRates.value = { ...pageRates.peek(), ...part };
  }
}

// subscription -------------------------------------------------------------------------------------------------------

const KINDS: readonly Kind[] = ["poses", "markers", "events", "figures", "mission"];
const SETTLE = 30; // ms: panels often change several requests together
const RETURN = 300; // ms: after a recording is closed, panels release their requests first

export class Subscription {
  readonly pacing = new Pacing((rate) => void this.requestRate(rate));
  private readonly lists = new Map<number, number>(); // the server's number of a request list -> the page's
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly server: Connection) {}

  /** Follow the column requests; return a stop function. */
  watch(): () => void {
    const soon = (after = SETTLE) => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.requestColumns(), after);
    };
    let answered = true;
    const back = effect(() => {
      const answers = serverProvidesColumns();
      if (answers && !answered) soon(RETURN); // changed in the meantime
      answered = answers;
    });
    const stops = [onColumnRequests(() => soon()), back];
    return () => {
      for (const stop of stops) stop();
    };
  }

  /** A new connection numbers its lists from the beginning. */
  reset(): void {
    this.lists.clear();
  }

  async subscribe(): Promise<void> {
    const list = listColumnRequests();
    const reply = await this.server.request("subscribe", {
      rate: this.pacing.rate,
      kinds: KINDS,
      columns: list.columns,
    });
    enterRoster(reply);
    this.lists.set(reply.wanted, list.number);
    this.pacing.granted(reply.rate);
  }

  /** Use the page's list numbers for a frame's columns; columns of unknown lists are dropped. */
  renumber(frame: Frame): void {
    const list = this.lists.get(frame.wanted);
    frame.wanted = list ?? 0;
    if (list === undefined) frame.columns = [];
  }

  async requestRate(rate: number): Promise<void> {
    if (connection.peek().state !== "open") return;
    try {
      this.pacing.granted((await this.server.request("set_rate", { rate })).rate);
    } catch (error) {
      if (error instanceof RpcError && error.code === UNKNOWN_METHOD) await this.subscribe().catch(() => {});
    }
  }

  private async requestColumns(): Promise<void> {
    if (connection.peek().state !== "open") return; // sent with the subscription
    if (!serverProvidesColumns()) return; // the server may not know these vehicles
    const list = listColumnRequests();
    try {
      const { wanted } = await this.server.request("set_columns", { columns: list.columns });
      this.lists.set(wanted, list.number);
    } catch (error) {
      if (error instanceof RpcError) showNotice("warning", reasonOf(error));
    }
  }
}
