// A recording as a frame source: frames at its timeline's position, markers, events and columns.
import { batch, signal } from "@preact/signals";
import type { TimedEvent } from "../state/events";
import { MarkerBoard } from "../state/markers";
import { Roster } from "../state/roster";
import { drew } from "../state/run";
import { type FrameSource, Playback, type Sample } from "../state/source";
import type { Frame } from "../wire/frame";
import { columnValues, Wishes } from "./columns";
import { Film } from "./frame-cache";
import { MarkerTrack } from "./markers";
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

// source -------------------------------------------------------------------------------------------------------------

/** A column of a vehicle over the whole recording. */
export interface Series {
  times: Float64Array; // s from the beginning of the recording
  values: Float64Array; // NaN where the vehicle did not exist
}

export class RecordingSource implements FrameSource {
  readonly kind = "recording";
  readonly roster = signal(Roster.empty);
  readonly markers = new MarkerBoard();
  readonly timeline: Playback;
  /** The frame that is shown, of the two that a picture is mixed from the first. */
  readonly shown = signal<Frame | null>(null);
  /** What was asked for last. */
  latest: Sample | null = null;
  readonly film: Film;
  private readonly track = new MarkerTrack(this.markers);
  private readonly survey: Survey;
  private readonly offsets = new Map<number, number>(); // simulated time less position, by section
  private wishes: Wishes | null = null;

  constructor(
    readonly label: string,
    readonly recording: Recording,
    /** Told the span (s) of what cannot be read. */
    private readonly onDamage: (from: number, to: number) => void = () => {},
  ) {
    this.timeline = new Playback(signal(0), signal(recording.duration));
    this.film = new Film(recording, (chunk) => this.damaged(chunk));
    this.survey = new Survey(recording, this.track, (chunk) => this.damaged(chunk));
  }

  /** All events, also those still to come; their `time` is a position of the timeline. */
  get events(): Survey["events"] {
    return this.survey.events;
  }

  /** What it shows, as it says itself. */
  get about(): { name: string; description: string } {
    return { name: this.recording.name || this.label, description: this.recording.description };
  }

  /** Positions at which the run began anew. */
  get restarts(): readonly number[] {
    return this.recording.starts.slice(1);
  }

  /** Give the panels their columns: for the one source that the page is about. */
  answerWishes(): void {
    this.wishes ??= new Wishes();
  }

  sample(now: number): Sample | null {
    const playing = this.timeline.playing.peek() ? this.timeline.speed.peek() : 0;
    const sample = this.at(this.timeline.advance(now), playing);
    drew();
    return sample;
  }

  /** What to draw at a position, s. */
  at(position: number, speed = 0): Sample | null {
    const sample = this.film.sample(position, speed);
    if (sample !== null) batch(() => this.show(sample.from, position));
    this.latest = sample;
    return sample;
  }

  /** Go to a tick of the run that is shown (or of another section); resolves when it is shown. */
  async seekTo(tick: number, section = this.recording.sectionAt(this.timeline.position.peek())): Promise<Frame | null> {
    const [first, end] = this.recording.samplesOf(section);
    const begin = await this.film.load(first);
    if (begin === null || end <= first) return null;
    const time = (this.recording.times[first] as number) + (tick - begin.tick) / this.recording.rate;
    const sample = Math.min(Math.max(this.recording.sampleAt(time), first), end - 1);
    return this.seekToSample(sample);
  }

  /** Go to a sample; resolves when it is shown. */
  async seekToSample(sample: number): Promise<Frame | null> {
    const time = this.recording.times[sample];
    if (time === undefined) return null;
    this.timeline.pause();
    this.timeline.seek(time);
    await this.survey.reaches(this.recording.chunkOf(sample));
    await this.film.load(sample);
    return this.at(this.timeline.position.peek())?.from ?? null;
  }

  /** So many samples on, or back. */
  step(samples: number): void {
    const times = this.recording.times;
    const next = this.recording.sampleAt(this.timeline.position.peek()) + samples;
    this.timeline.pause();
    this.timeline.seek(times[Math.min(Math.max(next, 0), times.length - 1)] as number);
  }

  /** Values of a vehicle (its id) in a frame of this recording; NaN for columns that it does not have. */
  columnValues(frame: Frame, vehicle: number, names: readonly string[]): Float64Array {
    return columnValues(frame, this.recording.roster(frame.roster) ?? Roster.empty, vehicle, names);
  }

  /** A column of a vehicle (its id now, or its name) over the whole recording. */
  async series(vehicle: number | string, column: string): Promise<Series> {
    const name = typeof vehicle === "string" ? vehicle : this.nameOf(vehicle);
    const [values] = await this.recording.series(name, [column]);
    return { times: this.recording.times, values: values as Float64Array };
  }

  /** Simulated s at a position; null while nothing of that section has been read. */
  simulated(position: number): number | null {
    const offset = this.offsets.get(this.recording.sectionAt(position));
    return offset === undefined ? null : position + offset;
  }

  close(): void {
    this.wishes?.close();
    this.survey.close();
    this.film.close();
    this.recording.close();
  }

  private show(frame: Frame, position: number): void {
    const roster = this.recording.roster(frame.roster);
    if (roster !== undefined && roster !== this.roster.peek()) this.roster.value = roster;
    if (frame !== this.shown.peek()) this.learn(frame, position);
    const simulated = this.simulated(position);
    if (simulated !== null) this.track.moveTo(position, simulated - position);
    if (roster !== undefined && this.wishes?.answered(frame) === false) this.wishes.answer(frame, roster);
    this.shown.value = frame;
  }

  /** What is shown may be only the nearest frame; only the right one tells how simulated time goes here. */
  private learn(frame: Frame, position: number): void {
    const { recording } = this;
    const section = recording.sectionAt(position);
    if (this.offsets.has(section)) return;
    const sample = recording.sampleAt(position);
    if (this.film.frame(sample) !== frame) return;
    this.offsets.set(section, frame.time - (recording.times[sample] as number));
  }

  private nameOf(vehicle: number): string {
    const row = this.roster.peek().rowOfId(vehicle);
    return row === undefined ? "" : this.roster.peek().nameAt(row);
  }

  private damaged(chunk: number): void {
    const { times, duration } = this.recording;
    const first = this.recording.firstSample(chunk);
    const last = Math.max(this.recording.firstSample(chunk + 1) - 1, first);
    this.onDamage(times[first] ?? duration, times[last] ?? duration);
  }
}
