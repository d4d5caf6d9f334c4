// A recording as a frame source: frames at its timeline's position, markers, events and columns.
import { batch, computed, signal } from "@preact/signals";
import { plansIn } from "../state/emitters";
import type { TimedEvent } from "../state/events";
import { MarkerBoard } from "../state/markers";
import { Roster } from "../state/roster";
import { markDrawn } from "../state/run";
import { type FrameSource, Playback, type Sample } from "../state/source";
import type { Frame } from "../wire/frame";
import type { StandingsTree } from "../wire/schema";
import { ColumnResponder, columnValues } from "./columns";
import { FrameCache } from "./frame-cache";
import { MarkerTrack } from "./markers";
import { RACE_COLUMNS, raceEntries, standingsAt } from "./race";
import { radioAt } from "./radio";
import type { Recording } from "./recording";
import type { Surroundings } from "./surroundings";

const PUBLISH_EVERY = 200; // ms

class EventScan {
  /** All events found so far, numbered over resets; `time` is the position in the recording, s. */
  readonly events = signal<readonly TimedEvent[]>([]);
  private readonly known: TimedEvent[] = [];
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

  /** Resolves when all chunks up to this one have been scanned. */
  reaches(chunk: number): Promise<void> {
    if (this.done > chunk || this.closed) return Promise.resolve();
    return new Promise((resolve) => this.waiters.push({ chunk, resolve }));
  }

  close(): void {
    this.closed = true;
    this.wake(Number.POSITIVE_INFINITY);
  }

  private async run(): Promise<void> {
    let publishedAt = performance.now();
    for (let chunk = 0; chunk < this.recording.chunks && !this.closed; chunk++) {
      await this.lookAt(chunk);
      this.done = chunk + 1;
      if (performance.now() - publishedAt > PUBLISH_EVERY) {
        this.publish();
        publishedAt = performance.now();
      }
      this.wake(this.done);
    }
    this.publish();
    this.wake(Number.POSITIVE_INFINITY);
  }

  private async lookAt(chunk: number): Promise<void> {
    if (!this.recording.holds(chunk, "events") && !this.recording.holds(chunk, "markers")) return;
    try {
      const { events, markers } = await this.recording.otherMessages(chunk);
      for (const { at, event } of events) {
        this.known.push({ ...event, number: this.known.length + 1, time: this.recording.position(at) });
      }
      for (const { at, data } of markers) this.markers.add(this.recording.position(at), data);
    } catch {
      if (!this.closed) this.onFailure(chunk);
    }
  }

  private publish(): void {
    if (this.known.length > this.events.peek().length) this.events.value = [...this.known];
  }

  private wake(done: number): void {
    const ready = this.waiters.filter(({ chunk }) => chunk < done);
    this.waiters = this.waiters.filter(({ chunk }) => chunk >= done);
    if (ready.length > 0) this.publish();
    for (const { resolve } of ready) resolve();
  }
}

// source -------------------------------------------------------------------------------------------------------------

export class RecordingSource implements FrameSource {
  readonly kind = "recording";
  readonly roster = signal(Roster.empty);
  readonly markers = new MarkerBoard();
  readonly timeline: Playback;
  /** The shown frame: the first one of the present sample. */
  readonly shown = signal<Frame | null>(null);
  private readonly moment = computed(() => Math.floor(2 * this.timeline.position.value) / 2); // s
  private readonly begun = computed(() => this.shown.value !== null);
  /** Jammers and spoofers at the position: by their schedules, and as the events up to it have changed them. */
  readonly radio = computed(() => {
    const { radio, radioSection } = this.recording.surroundings;
    const moment = this.moment.value;
    const start = this.recording.starts[this.recording.sectionAt(moment)] ?? 0;
    const events = this.events.value.filter(({ time }) => time >= start - 1e-6 && time <= moment + 1e-6);
    const time = this.begun.value ? (this.simulated(moment) ?? moment) : moment;
    return radioAt(radio, plansIn(radioSection), events, time);
  });
  private readonly raceLog = computed(() => raceEntries(this.events.value));
  /** Twice a second while playing, otherwise at each sample. */
  private readonly raceMoment = computed(() => {
    const { run = -1, tick = 0, time = 0 } = this.shown.value ?? {};
    return this.timeline.playing.value ? `${run} ${Math.floor(2 * time)}` : `${run} at ${tick}`;
  });
  readonly standings = computed(() => (this.raceMoment.value === "" ? null : this.race(this.raceLog.value)));
  /** The last sample returned. */
  latest: Sample | null = null;
  readonly frameCache: FrameCache;
  private readonly track = new MarkerTrack(this.markers);
  private readonly eventScan: EventScan;
  private readonly offsets = new Map<number, number>(); // simulated time minus position, by section
  private columnResponder: ColumnResponder | null = null;

  constructor(
    readonly label: string,
    readonly recording: Recording,
    /** Called with the span (s) that cannot be read. */
    private readonly onDamage: (from: number, to: number) => void = () => {},
  ) {
    this.timeline = new Playback(signal(0), signal(recording.duration));
    this.frameCache = new FrameCache(recording, (chunk) => this.damaged(chunk));
    this.eventScan = new EventScan(recording, this.track, (chunk) => this.damaged(chunk));
  }

  /** All events, including later ones; `time` is a position of the timeline. */
  get events(): EventScan["events"] {
    return this.eventScan.events;
  }

  /** Description from the recording. */
  get about(): { name: string; description: string } {
    return { name: this.recording.name || this.label, description: this.recording.description };
  }

  get routes(): Surroundings["routes"] {
    return this.recording.surroundings.routes;
  }

  get scenery(): Surroundings["scenery"] {
    return this.recording.surroundings.scenery;
  }

  get looks(): Surroundings["looks"] {
    return this.recording.surroundings.looks;
  }

  get units(): Surroundings["units"] {
    return this.recording.surroundings.units;
  }

  get arrays(): Surroundings["arrays"] {
    return this.recording.surroundings.arrays;
  }

  get radioSection(): unknown {
    return this.recording.surroundings.radioSection;
  }

  get rate(): number {
    return this.recording.rate;
  }

  /** Positions at which the run restarted. */
  get restarts(): readonly number[] {
    return this.recording.starts.slice(1);
  }

  /** Respond to column requests: only for the shown source, not for ghosts. */
  answerColumnRequests(): void {
    this.columnResponder ??= new ColumnResponder();
  }

  sample(now: number): Sample | null {
    const playing = this.timeline.playing.peek() ? this.timeline.speed.peek() : 0;
    const sample = this.at(this.timeline.advance(now), playing);
    markDrawn();
    return sample;
  }

  /** What to draw at a position, s. */
  at(position: number, speed = 0): Sample | null {
    const sample = this.frameCache.sample(position, speed);
    if (sample !== null) batch(() => this.show(sample.from, position));
    this.latest = sample;
    return sample;
  }

  /** Seek to a tick of the shown section or another one; resolves when it is shown. */
  async seekTo(tick: number, section = this.recording.sectionAt(this.timeline.position.peek())): Promise<Frame | null> {
    const [first, end] = this.recording.samplesOf(section);
    const begin = await this.frameCache.load(first);
    if (begin === null || end <= first) return null;
    const time = (this.recording.times[first] as number) + (tick - begin.tick) / this.recording.rate;
    const sample = Math.min(Math.max(this.recording.sampleAt(time), first), end - 1);
    return this.seekToSample(sample);
  }

  /** Seek to a sample; resolves when it is shown. */
  async seekToSample(sample: number): Promise<Frame | null> {
    const time = this.recording.times[sample];
    if (time === undefined) return null;
    this.timeline.pause();
    this.timeline.seek(time);
    await this.eventScan.reaches(this.recording.chunkOf(sample));
    await this.frameCache.load(sample);
    return this.at(this.timeline.position.peek())?.from ?? null;
  }

  /** Step forward or back by samples. */
  step(samples: number): void {
    const times = this.recording.times;
    const next = this.recording.sampleAt(this.timeline.position.peek()) + samples;
    this.timeline.pause();
    this.timeline.seek(times[Math.min(Math.max(next, 0), times.length - 1)] as number);
  }

  /** Values of a vehicle (by id) in a frame of this recording; NaN for unknown columns. */
  columnValues(frame: Frame, vehicle: number, names: readonly string[]): Float64Array {
    return columnValues(frame, this.recording.roster(frame.roster) ?? Roster.empty, vehicle, names);
  }

  /** The loaded frames around a simulated time of the shown section. */
  around(time: number): [Frame, Frame] | null {
    const section = this.recording.sectionAt(this.timeline.position.peek());
    const offset = this.offsets.get(section);
    if (offset === undefined) return null;
    const [first, end] = this.recording.samplesOf(section);
    const at = Math.min(Math.max(this.recording.sampleAt(time - offset), first), end - 1);
    const from = this.frameCache.frame(at);
    return from && [from, (at + 1 < end && this.frameCache.frame(at + 1)) || from];
  }

  /** Simulated s at a position; null until a frame of its section has been read. */
  simulated(position: number): number | null {
    const offset = this.offsets.get(this.recording.sectionAt(position));
    return offset === undefined ? null : position + offset;
  }

  close(): void {
    this.columnResponder?.close();
    this.eventScan.close();
    this.frameCache.close();
    this.recording.close();
  }

  private race(log: ReturnType<typeof raceEntries>): StandingsTree | null {
    const [race, frame] = [this.recording.surroundings.race, this.shown.peek()];
    const roster = frame && this.recording.roster(frame.roster);
    if (race === null || !frame || !roster) return null;
    const position = this.timeline.position.peek();
    const start = this.recording.starts[this.recording.sectionAt(position)] ?? 0;
    const own = log.filter(({ time }) => time >= start - 1e-6 && time <= position + 1e-6);
    return standingsAt(race, frame.time, roster, (id) => this.columnValues(frame, id, RACE_COLUMNS), own);
  }

  private show(frame: Frame, position: number): void {
    const roster = this.recording.roster(frame.roster);
    if (roster !== undefined && roster !== this.roster.peek()) this.roster.value = roster;
    if (frame !== this.shown.peek()) this.learn(frame, position);
    const simulated = this.simulated(position);
    if (simulated !== null) this.track.moveTo(position, simulated - position);
    const responder = this.columnResponder;
    if (responder && roster && (frame !== this.shown.peek() || !responder.answered(frame))) {
      responder.answer(frame, roster);
    }
    this.shown.value = frame;
  }

  /** The shown frame may be only the nearest one; only the exact one gives the offset of simulated time. */
  private learn(frame: Frame, position: number): void {
    const { recording } = this;
    const section = recording.sectionAt(position);
    if (this.offsets.has(section)) return;
    const sample = recording.sampleAt(position);
    if (this.frameCache.frame(sample) !== frame) return;
    this.offsets.set(section, frame.time - (recording.times[sample] as number));
  }

  private damaged(chunk: number): void {
    const { times, duration } = this.recording;
    const first = this.recording.firstSample(chunk);
    const last = Math.max(this.recording.firstSample(chunk + 1) - 1, first);
    this.onDamage(times[first] ?? duration, times[last] ?? duration);
  }
}
