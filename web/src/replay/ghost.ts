// A ghost: a recording that follows the time of the main source, and its gap to the followed vehicle.
import { type Signal, signal } from "@preact/signals";
import type { Roster } from "../state/roster";
import type { FrameSource, Sample, Standing, Timeline } from "../state/source";
import { focus, ghosts, source } from "../state/store";
import { positionOf, type Vector } from "../wire/frame";
import type { Recording } from "./recording";
import { RecordingSource } from "./source";

/** Positions of a vehicle over time; NaN where it did not exist. */
export interface Path {
  times: Float64Array; // s
  x: Float64Array;
  y: Float64Array;
  z: Float64Array;
}

interface Gap {
  distance: number; // m
  seconds: number | null; // positive: the ghost passed here earlier; null: it never came near
}

const WINDOW = 20; // s before and after in which the ghost's passing is searched
const NEARNESS = 0.05; // m per s: of two passings at the same distance (laps) the nearer in time counts
const FAR = 0.5; // fraction of the distance: farther away is no passing

function distanceBetween(a: Readonly<Vector>, b: Readonly<Vector>): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

/** The time at which a path comes nearest to a point, near a given time; null if it does not come near. */
function passing(path: Path, place: Readonly<Vector>, around: number, least: number): number | null {
  let best = Number.POSITIVE_INFINITY;
  let closest: { time: number; distance: number } | null = null;
  for (let k = 0; k + 1 < path.times.length; k++) {
    if ((path.times[k + 1] as number) < around - WINDOW || (path.times[k] as number) > around + WINDOW) continue;
    const here = nearest(path, k, place);
    const cost = here.distance + NEARNESS * Math.abs(here.time - around);
    if (cost < best) [best, closest] = [cost, here];
  }
  return closest !== null && closest.distance <= least ? closest.time : null;
}

/** The nearest point on the segment between two samples. */
function nearest(path: Path, k: number, place: Readonly<Vector>): { time: number; distance: number } {
  const from = pointAt(path, k);
  const to = pointAt(path, k + 1);
  const way = to.map((part, axis) => part - (from[axis] as number));
  const length = way.reduce((sum, part) => sum + part * part, 0);
  const along = way.reduce((sum, part, axis) => sum + part * ((place[axis] as number) - (from[axis] as number)), 0);
  const mix = length > 0 ? Math.min(Math.max(along / length, 0), 1) : 0;
  const point = from.map((part, axis) => part + mix * (way[axis] as number)) as Vector;
  const [first, last] = [path.times[k] as number, path.times[k + 1] as number];
  const distance = distanceBetween(point, place);
  return { time: first + mix * (last - first), distance: Number.isNaN(distance) ? Number.POSITIVE_INFINITY : distance };
}

function pointAt({ x, y, z }: Path, k: number): Vector {
  return [x[k] as number, y[k] as number, z[k] as number];
}

/** The gap between a vehicle and its ghost; `path` may be unknown, `now` is the ghost's time (s). */
export function gapBetween(main: Readonly<Vector>, ghost: Readonly<Vector>, path: Path | null, now: number): Gap {
  const distance = distanceBetween(main, ghost);
  const time = path && passing(path, main, now, Math.max(FAR * distance, 5));
  return { distance, seconds: time === null ? null : now - time };
}

// comparison ---------------------------------------------------------------------------------------------------------

class Comparison {
  private readonly paths = new Map<string, Path | null>(); // null: loading

  /** `ready` is called when a path has been loaded. */
  constructor(
    private readonly ghost: RecordingSource,
    private readonly ready: () => void,
  ) {}

  /** The gap between the shown sample and the ghost's sample at a position (s) of its recording. */
  gap(main: FrameSource, shown: Sample, ghostly: Sample, position: number): Gap | null {
    const name = nameOf(main.roster.peek(), focus.peek());
    const here = placeOf(main.roster.peek(), shown, name);
    const there = placeOf(this.ghost.roster.peek(), ghostly, name);
    return here && there && gapBetween(here, there, this.pathAround(name, position), position);
  }

  /** The vehicle's path in this section of the ghost's recording; null until loaded. */
  private pathAround(name: string, position: number): Path | null {
    const { recording } = this.ghost;
    const path = this.paths.get(name);
    if (path === undefined) void this.read(name);
    if (!path) return null;
    const [first, end] = recording.samplesOf(recording.sectionAt(position));
    const part = (values: Float64Array) => values.subarray(first, end);
    return { times: part(path.times), x: part(path.x), y: part(path.y), z: part(path.z) };
  }

  private async read(name: string): Promise<void> {
    this.paths.set(name, null);
    const { recording } = this.ghost;
    const request = { vehicle: name, columns: ["x", "y", "z"] };
    const [x, y, z] = (await recording.series([request])) as [Float64Array, Float64Array, Float64Array];
    this.paths.set(name, { times: recording.times, x, y, z });
    this.ready();
  }
}

/** Simulated s of a sample. */
function timeOf({ from, to, mix }: Sample): number {
  return from.time + mix * (to.time - from.time);
}

function nameOf(roster: Roster, id: number | null): string {
  const row = id === null ? undefined : roster.rowOfId(id);
  return row === undefined ? "" : roster.nameAt(row);
}

function placeOf(roster: Roster, { from, to, mix }: Sample, name: string): Vector | null {
  const row = name === "" ? undefined : roster.rowOfName(name);
  if (row === undefined) return null;
  const [a, b] = [positionOf(from, row), positionOf(to, row)];
  return a.map((part, axis) => part + mix * ((b[axis] as number) - part)) as Vector;
}

// ghost --------------------------------------------------------------------------------------------------------------

const COMPARE_EVERY = 100; // ms
const SLACK = 0.05; // s: the last samples of two runs seldom coincide

export class GhostSource implements FrameSource {
  readonly kind = "recording";
  readonly timeline: Timeline | null = null; // it follows the main source
  /** s by which the ghost is ahead of the main source. */
  readonly offset: Signal<number> = signal(0);
  /** From the followed vehicle to the one of the same name; null unless both exist. */
  readonly gap: Signal<Gap | null> = signal(null);
  /** Whether the shown time is before or after the recording; the ghost then stands at that end. */
  readonly standing: Signal<Standing> = signal("");
  readonly inner: RecordingSource;
  private readonly comparison: Comparison;
  private readonly learning = new Set<number>(); // samples being loaded for that
  private readonly awaited = new Set<number>(); // samples
  private newest: () => Gap | null = () => null;
  private due: ReturnType<typeof setTimeout> | undefined;

  constructor(label: string, recording: Recording, onDamage?: (from: number, to: number) => void) {
    this.inner = new RecordingSource(label, recording, onDamage);
    this.comparison = new Comparison(this.inner, () => this.drawAgain());
    this.offset.subscribe(() => this.drawAgain());
  }

  get label(): string {
    return this.inner.label;
  }

  get roster(): RecordingSource["roster"] {
    return this.inner.roster;
  }

  get markers(): RecordingSource["markers"] {
    return this.inner.markers;
  }

  get events(): RecordingSource["events"] {
    return this.inner.events;
  }

  sample(now: number): Sample | null {
    const main = source.peek();
    const shown = main && shownBy(main, now);
    if (main === null || shown === null) return this.inner.at(0);
    const time = timeOf(shown) + this.offset.peek();
    const section = sectionOf(main);
    const position = this.position(time, section);
    this.standing.value = this.standingAt(time, section);
    const sample = this.inner.at(position, speedOf(main));
    this.await(this.inner.recording.sampleAt(position));
    this.compare(() => sample && this.comparison.gap(main, shown, sample, position));
    return sample;
  }

  /** The newest comparison counts; it is delayed, also when drawing has stopped. */
  private compare(gap: () => Gap | null): void {
    this.newest = gap;
    this.due ??= setTimeout(() => {
      this.due = undefined;
      this.gap.value = this.newest();
    }, COMPARE_EVERY);
  }

  /** Redraw once a missing sample has been loaded. */
  private await(sample: number): void {
    if (this.awaited.has(sample) || this.inner.frameCache.frame(sample) !== null) return;
    this.awaited.add(sample); // damaged samples are not awaited again
    void this.inner.frameCache.load(sample).then((frame) => {
      if (frame !== null) this.awaited.delete(sample);
      this.drawAgain();
    });
  }

  /** The page draws when the source changes; a changed ghost must request it. */
  private drawAgain(): void {
    if (ghosts.peek().includes(this)) ghosts.value = [...ghosts.peek()];
  }

  /** Position in this recording of a simulated time, in a section or the last one. */
  position(time: number, section: number): number {
    const { begin, last, simulated } = this.span(section);
    return Math.min(Math.max(begin + time - simulated, begin), last);
  }

  private standingAt(time: number, section: number): Standing {
    const { begin, last, simulated } = this.span(section);
    if (time < simulated - SLACK) return "not begun";
    return time > simulated + last - begin + SLACK ? "ended" : "";
  }

  /** Range of a section in s of the recording, and the simulated time of its first sample. */
  private span(section: number): { begin: number; last: number; simulated: number } {
    const { recording } = this.inner;
    const inside = Math.min(section, recording.starts.length - 1);
    const [first, end] = recording.samplesOf(inside);
    const begin = recording.times[first] ?? 0;
    const simulated = this.inner.simulated(begin) ?? this.learn(first);
    return { begin, last: recording.times[end - 1] ?? begin, simulated };
  }

  close(): void {
    clearTimeout(this.due);
    this.inner.close();
  }

  /** Assumed to begin at 0 until the first sample of the section is loaded. */
  private learn(sample: number): number {
    if (this.learning.has(sample)) return 0;
    this.learning.add(sample);
    const time = this.inner.recording.times[sample] ?? 0;
    void this.inner.frameCache.load(sample).then((frame) => {
      if (frame !== null) this.inner.at(time);
      this.drawAgain();
    });
    return 0;
  }
}

/** What a source draws: it is sampled before its ghosts, at the same `now`. */
function shownBy(main: FrameSource, now: number): Sample | null {
  return main instanceof RecordingSource ? main.latest : main.sample(now);
}

function speedOf({ timeline }: FrameSource): number {
  if (timeline === null) return 1;
  return timeline.playing.peek() ? timeline.speed.peek() : 0;
}

/** The same section as in the main recording: the third run for the third run. */
function sectionOf(main: FrameSource): number {
  return main instanceof RecordingSource ? main.recording.sectionAt(main.timeline.position.peek()) : 0;
}
