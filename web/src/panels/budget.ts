// Where the time of a tick goes, against the time that there is.
import type { FiguresTree, StageTree } from "../net/schema";

export interface Share {
  name: string;
  seconds: number; // per tick
}

export interface Budget {
  shares: Share[]; // in the order of the tick, so that the bar does not jump
  spent: number; // s per tick
  limit: number; // s per tick to keep the pace; Infinity: as fast as possible
}

/** Seconds per tick of each stage between two reports; calls may be fewer than ticks. */
export function budgetOf(now: FiguresTree, before: FiguresTree | null): Budget {
  const earlier = before !== null && before.run === now.run && before.tick < now.tick ? before : null;
  const ticks = Math.max(1, now.tick - (earlier?.tick ?? 0));
  const shares = Object.entries(now.stages).map(([name, stage]) => {
    return { name, seconds: since(stage, earlier?.stages[name]) / ticks };
  });
  const spent = shares.reduce((sum, { seconds }) => sum + seconds, 0);
  return { shares, spent: Math.max(spent, 0), limit: tickBudget(now.rate, now.pace) };
}

/** Wall s that a tick may take. */
export function tickBudget(rate: number, pace: number): number {
  return pace > 0 && rate > 0 ? 1 / (rate * pace) : Number.POSITIVE_INFINITY;
}

function since(now: StageTree, before: StageTree | undefined): number {
  return Math.max(0, now.seconds - (before?.seconds ?? 0));
}

/** Points of a line through values, in a box; NaN leaves it out. */
export function sparkPoints(values: readonly number[], width: number, height: number, most: number): string {
  const step = width / Math.max(1, values.length - 1);
  const y = (value: number) => height - (Math.min(Math.max(value, 0), most) / (most || 1)) * height;
  const kept = values.map((value, at) => [at * step, y(value)] as const).filter(([, height]) => !Number.isNaN(height));
  return kept.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
}
