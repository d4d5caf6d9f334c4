// All that the page has told and the server has refused, newest last.
import { effect, signal } from "@preact/signals";
import { type Notice, notices } from "../state/store";

export interface LogEntry {
  number: number;
  at: Date;
  kind: Notice["kind"];
  text: string;
}

const MOST = 500;
export const logbook = signal<readonly LogEntry[]>([]);

/** Keep what is told from now on. */
export function keepLog(): () => void {
  let last = 0;
  return effect(() => {
    const fresh = notices.value.filter(({ number }) => number > last);
    if (fresh.length === 0) return;
    last = Math.max(...fresh.map(({ number }) => number));
    const at = new Date();
    const entries = fresh.map(({ number, kind, text }) => ({ number, at, kind, text }));
    logbook.value = [...logbook.peek(), ...entries].slice(-MOST);
  });
}
