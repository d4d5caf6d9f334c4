// Time of the shown source: the live run with its buffer, or a recording; the commands that change it.
import type { RecordingSource } from "../replay/source";
import { pause, play, reset, setPace, step } from "../state/clock";
import type { TimedEvent } from "../state/events";
import { history, showBuffer, showLive } from "../state/run";
import { type FrameSource, ServedTimeline, type Timeline } from "../state/source";
import { clock, deaf, idle, source, tell } from "../state/store";

export type Mode = "live" | "buffer" | "served" | "opened";

export interface Extent {
  start: number; // s
  end: number;
}

/** What the strip is about; null before anything is shown. */
export function modeOf(shown: FrameSource | null): Mode {
  if (shown === null || shown.kind === "live") return "live";
  if (shown.kind === "buffer") return "buffer";
  return isOpened(shown) ? "opened" : "served";
}

/** A recording that this page has opened by itself, which can do more. */
export function isOpened(shown: FrameSource | null): shown is RecordingSource {
  return shown?.kind === "recording" && "seekTo" in shown;
}

export function extentOf(shown: FrameSource | null): Extent {
  const from = shown?.timeline ?? history;
  return { start: from.start.value, end: Math.max(from.end.value, from.start.value) };
}

/** Where it stands, s. */
export function positionOf(shown: FrameSource | null): number {
  return shown?.timeline?.position.value ?? history.end.value;
}

/** Go to a time; from the live run that is a look back into its buffer. */
export function seek(time: number): void {
  const shown = source.peek();
  const { start, end } = { start: history.start.peek(), end: history.end.peek() };
  if (shown?.timeline) shown.timeline.seek(time);
  else if (end > start) showBuffer(Math.min(Math.max(time, start), end));
}

/** The next sample, or the one before. */
export function stepSample(way: 1 | -1): void {
  const shown = source.peek();
  if (isOpened(shown)) return shown.step(way);
  shown?.timeline?.pause();
  const now = shown?.timeline?.position.peek() ?? history.end.peek();
  if (shown?.timeline instanceof ServedTimeline) return shown.timeline.step(way);
  const around = history.around(now + way * 1e-9);
  if (around !== null) seek(around[way > 0 ? 1 : 0].time);
}

const FAR = 0.05; // s: more than what is between the samples of a recording

/** Some s on in the past that is shown, but at least to the next sample. */
export function stepBy(seconds: number): void {
  const before = source.peek()?.timeline?.position.peek() ?? history.end.peek();
  const served = modeOf(source.peek()) === "served"; // it stands elsewhere only when the server has answered
  if (served && seconds > FAR) source.peek()?.timeline?.pause();
  else stepSample(1);
  const reached = source.peek()?.timeline?.position.peek() ?? before;
  if ((!served || seconds > FAR) && before + seconds > reached + 1e-6) seek(before + seconds);
}

/** Jump to the next event, or the one before. */
export function jumpToEvent(way: 1 | -1): void {
  const shown = source.peek();
  const now = shown?.timeline?.position.peek() ?? history.end.peek();
  const found = timedEvents(shown).filter(({ time }) => way * (time - now) > 1e-6);
  const next = way > 0 ? found[0] : found.at(-1);
  if (next === undefined) return tell("info", way > 0 ? "No event after this" : "No event before this");
  shown?.timeline?.pause();
  seek(next.time);
}

/** What happened within the extent, oldest first, at their places on the strip. */
export function timedEvents(shown: FrameSource | null): readonly TimedEvent[] {
  const { start, end } = extentOf(shown);
  const rate = clock.value.rate || 1;
  const all = shown?.events.value ?? [];
  const timed = all.map((event) => ("time" in event ? (event as TimedEvent) : { ...event, time: event.tick / rate }));
  return timed.filter(({ time }) => time >= start && time <= end);
}

/** Positions at which the run began anew. */
export function restartsOf(shown: FrameSource | null): readonly number[] {
  return isOpened(shown) ? shown.restarts : [];
}

/** Simulated time, tick and run that are seen. */
export function momentOf(shown: FrameSource | null): { time: number; tick: number; run: number | null } {
  if (isOpened(shown)) {
    const position = shown.timeline.position.value;
    const frame = shown.shown.value;
    const several = shown.restarts.length > 0 && frame !== null;
    return { time: shown.simulated(position) ?? position, tick: frame?.tick ?? 0, run: several ? frame.run : null };
  }
  if (shown?.kind === "buffer") {
    const time = positionOf(shown);
    return { time, tick: history.around(time)?.[0].tick ?? 0, run: null };
  }
  return { time: clock.value.time, tick: clock.value.tick, run: null };
}

/** Back to the present: out of the buffer, or out of an opened recording. */
export async function backToLive(): Promise<void> {
  if (isOpened(source.peek())) (await import("../replay/open")).closeRecording();
  else showLive();
}

// commands -----------------------------------------------------------------------------------------------------------

export const IDLE = "your program runs this simulation: call sim.run() or sim.running()";

/** The time of the buffer or recording that is shown; null: the live run is. */
function shownTimeline(): Timeline | null {
  return source.value === null || source.value.kind === "live" ? null : source.value.timeline;
}

/** Run or hold what is shown. */
export function playOrPause(): void {
  const timeline = shownTimeline();
  if (timeline) return timeline.playing.value ? timeline.pause() : timeline.play();
  if (idle.value) return tell("info", `Time does not pass by itself: ${IDLE}`);
  void (clock.value.paused ? play() : pause());
}

/** Whether what is shown stands. */
export function isPaused(): boolean {
  const timeline = shownTimeline();
  return timeline ? !timeline.playing.value : clock.value.paused;
}

/** Exactly so many ticks; in a recording, as far or at least to the next sample. */
export function stepShown(ticks: number): void {
  if (shownTimeline()) stepBy(ticks / shownRate());
  else void step(ticks);
}

/** Only a live run can begin anew. */
export function resetShown(seed: number | null): void {
  if (deaf.value === "") void reset(seed);
  else tell("warning", `Nothing can begin anew: ${deaf.value}.`);
}

export function setShownPace(pace: number): void {
  const timeline = shownTimeline();
  if (timeline) timeline.setSpeed(pace);
  else void setPace(pace);
}

export function shownPace(): number {
  return shownTimeline()?.speed.value ?? clock.value.pace;
}

/** Whether it may go as fast as it can: what the page plays by itself has a speed. */
export function canRace(): boolean {
  return source.value?.kind !== "buffer" && !isOpened(source.value);
}

/** Ticks per simulated s of what is shown. */
export function shownRate(): number {
  const shown = source.value;
  return (isOpened(shown) ? shown.recording.rate : clock.value.rate) || 1;
}
