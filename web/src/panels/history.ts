// The last minutes of the server's figures, for lines and differences.
import { effect, signal } from "@preact/signals";
import type { FiguresTree } from "../net/schema";
import { clock, figures } from "../state/store";

const MOST = 240; // two minutes at 2 Hz

export const factors = signal<readonly number[]>([]);
export const previous = signal<FiguresTree | null>(null);

/** Keep what arrives from now on. */
export function keepHistory(): () => void {
  let last: FiguresTree | null = null;
  return effect(() => {
    const now = figures.value;
    if (now === null || now === last) return;
    const goesBack = last !== null && (now.run !== last.run || now.tick < last.tick);
    previous.value = goesBack ? null : last;
    last = now;
    factors.value = [...factors.peek(), clock.peek().paused ? 0 : clock.peek().factor].slice(-MOST);
  });
}
