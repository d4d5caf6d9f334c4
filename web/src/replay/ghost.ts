// A second run over the one that is shown: a recording that follows simulated time wherever the main source is.
import { type Signal, signal } from "@preact/signals";
import type { FrameSource, Sample, Standing, Timeline } from "../state/source";
import { ghosts, source } from "../state/store";
import { Comparison, timeOf } from "./compare";
import type { Gap } from "./gap";
import type { Recording } from "./recording";
import { RecordingSource } from "./source";

const COMPARE_EVERY = 100; // ms
const SLACK = 0.05; // s: the last samples of two runs are seldom of the same moment

export class GhostSource implements FrameSource {
  readonly kind = "recording";
  readonly timeline: Timeline | null = null; // it has no time of its own
  /** s by which the ghost is ahead of simulated time of the main source. */
  readonly offset: Signal<number> = signal(0);
  /** From the followed vehicle to the one of the same name here; null where there are not both. */
  readonly gap: Signal<Gap | null> = signal(null);
  /** Whether the time that is shown is before or after what it has recorded: it stands at that end then. */
  readonly standing: Signal<Standing> = signal("");
  readonly inner: RecordingSource;
  private readonly comparison: Comparison;
  private readonly learning = new Set<number>(); // samples that are being read for that
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

  /** The newest comparison counts; it comes a little later, also when nothing is drawn any more. */
  private compare(gap: () => Gap | null): void {
    this.newest = gap;
    this.due ??= setTimeout(() => {
      this.due = undefined;
      this.gap.value = this.newest();
    }, COMPARE_EVERY);
  }

  /** Have it drawn again once a sample has been read that is not there yet. */
  private await(sample: number): void {
    if (this.awaited.has(sample) || this.inner.film.frame(sample) !== null) return;
    this.awaited.add(sample); // one that cannot be read is not awaited again
    void this.inner.film.load(sample).then((frame) => {
      if (frame !== null) this.awaited.delete(sample);
      this.drawAgain();
    });
  }

  /** The page draws when what is shown changes; a ghost that changes by itself has to say so. */
  private drawAgain(): void {
    if (ghosts.peek().includes(this)) ghosts.value = [...ghosts.peek()];
  }

  /** Where in this recording a simulated time is, in a section or the last there is. */
  position(time: number, section: number): number {
    const { begin, last, simulated } = this.span(section);
    return Math.min(Math.max(begin + time - simulated, begin), last);
  }

  private standingAt(time: number, section: number): Standing {
    const { begin, last, simulated } = this.span(section);
    if (time < simulated - SLACK) return "not begun";
    return time > simulated + last - begin + SLACK ? "ended" : "";
  }

  /** From where to where a section is, in s of the recording, and the simulated time of its first sample. */
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

  /** Until the first sample of the section has been read, it is taken to begin at 0. */
  private learn(sample: number): number {
    if (this.learning.has(sample)) return 0;
    this.learning.add(sample);
    const time = this.inner.recording.times[sample] ?? 0;
    void this.inner.film.load(sample).then((frame) => {
      if (frame !== null) this.inner.at(time);
      this.drawAgain();
    });
    return 0;
  }
}

/** What a source is being drawn as: the page draws it before its ghosts, at the same `now`. */
function shownBy(main: FrameSource, now: number): Sample | null {
  return main instanceof RecordingSource ? main.latest : main.sample(now);
}

function speedOf({ timeline }: FrameSource): number {
  if (timeline === null) return 1;
  return timeline.playing.peek() ? timeline.speed.peek() : 0;
}

/** The same section as the main recording's: the ghost's third run for the third. */
function sectionOf(main: FrameSource): number {
  return main instanceof RecordingSource ? main.recording.sectionAt(main.timeline.position.peek()) : 0;
}
