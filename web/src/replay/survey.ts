// Goes through a recording in the background and collects its events and marker commands, in their order.
import { signal } from "@preact/signals";
import type { TimedEvent } from "../state/events";
import type { MarkerTrack } from "./marker-track";
import type { Recording } from "./recording";

const TELL_EVERY = 200; // ms

export class Survey {
  /** All events found so far, counted through over resets; `time` is the position in the recording, s. */
  readonly events = signal<readonly TimedEvent[]>([]);
  private readonly found: TimedEvent[] = [];
  private done = 0; // chunks
  private closed = false;
  private waiters: { chunk: number; resolve(): void }[] = [];

  constructor(
    private readonly recording: Recording,
    private readonly markers: MarkerTrack,
    private readonly onFailure: (chunk: number) => void,
  ) {
    void this.run();
  }

  /** Resolves when all is known up to and with a chunk. */
  reaches(chunk: number): Promise<void> {
    if (this.done > chunk || this.closed) return Promise.resolve();
    return new Promise((resolve) => this.waiters.push({ chunk, resolve }));
  }

  close(): void {
    this.closed = true;
    this.wake(Number.POSITIVE_INFINITY);
  }

  private async run(): Promise<void> {
    let told = performance.now();
    for (let chunk = 0; chunk < this.recording.chunks && !this.closed; chunk++) {
      await this.lookAt(chunk);
      this.done = chunk + 1;
      if (performance.now() - told > TELL_EVERY) {
        this.tell();
        told = performance.now();
      }
      this.wake(this.done);
    }
    this.tell();
    this.wake(Number.POSITIVE_INFINITY);
  }

  private async lookAt(chunk: number): Promise<void> {
    if (!this.recording.holds(chunk, "events") && !this.recording.holds(chunk, "markers")) return;
    try {
      const { events, markers } = await this.recording.things(chunk);
      for (const { at, event } of events) {
        this.found.push({ ...event, number: this.found.length + 1, time: this.recording.position(at) });
      }
      for (const { at, data } of markers) this.markers.add(this.recording.position(at), data);
    } catch {
      if (!this.closed) this.onFailure(chunk);
    }
  }

  private tell(): void {
    if (this.found.length > this.events.peek().length) this.events.value = [...this.found];
  }

  private wake(done: number): void {
    const ready = this.waiters.filter(({ chunk }) => chunk < done);
    this.waiters = this.waiters.filter(({ chunk }) => chunk >= done);
    if (ready.length > 0) this.tell();
    for (const { resolve } of ready) resolve();
  }
}
