// Time of the shown source: the live run with its buffer, or a recording; the commands that change it.
import type { RecordingSource } from "../replay/source";
import { pause, play, reset, setPace, step } from "../state/clock";
import type { TimedEvent } from "../state/events";
import { history, showBuffer, showLive } from "../state/run";
import { type FrameSource, ServedTimeline, type Timeline } from "../state/source";
import { clock, externallyStepped, readOnlyReason, showNotice, source } from "../state/store";

export type Mode = "live" | "buffer" | "served" | "opened";

export interface Extent {
  start: number; // s
  end: number;
}

/** The mode of the timeline; null before anything is shown. */
export function modeOf(shown: FrameSource | null): Mode {
  if (shown === null || shown.kind === "live") return "live";
  if (shown.kind === "buffer") return "buffer";
  return isOpened(shown) ? "opened" : "served";
}

/** A recording opened in the page, which offers more than one played by the server. */
export function isOpened(shown: FrameSource | null): shown is RecordingSource {
  return shown?.kind === "recording" && "seekTo" in shown;
}

export function extentOf(shown: FrameSource | null): Extent {
  const from = shown?.timeline ?? history;
  return { start: from.start.value, end: Math.max(from.end.value, from.start.value) };
}

/** The position, s. */
export function positionOf(shown: FrameSource | null): number {
  return shown?.timeline?.position.value ?? history.end.value;
}

/** Seek; from the live run this switches to its buffer. */
export function seek(time: number): void {
  const shown = source.peek();
  const { start, end } = { start: history.start.peek(), end: history.end.peek() };
  if (shown?.timeline) shown.timeline.seek(time);
  else if (end > start) showBuffer(Math.min(Math.max(time, start), end));
}

/** Step to the next or previous sample. */
export function stepSample(way: 1 | -1): void {
  const shown = source.peek();
  if (isOpened(shown)) return shown.step(way);
  shown?.timeline?.pause();
  const now = shown?.timeline?.position.peek() ?? history.end.peek();
  if (shown?.timeline instanceof ServedTimeline) return shown.timeline.step(way);
  const around = history.around(now + way * 1e-9);
  if (around !== null) seek(around[way > 0 ? 1 : 0].time);
}

const FAR = 0.05; // s: more than between two samples of a recording

/** Move by some s in the shown buffer or recording, at least to the next sample. */
function stepBy(seconds: number): void {
  const before = source.peek()?.timeline?.position.peek() ?? history.end.peek();
  const served = modeOf(source.peek()) === "served"; // the position changes only with the server's response
  if (served && seconds > FAR) source.peek()?.timeline?.pause();
  else stepSample(1);
  const reached = source.peek()?.timeline?.position.peek() ?? before;
  if ((!served || seconds > FAR) && before + seconds > reached + 1e-6) seek(before + seconds);
}

/** Jump to the next or previous event. */
export function jumpToEvent(way: 1 | -1): void {
  const shown = source.peek();
  const now = shown?.timeline?.position.peek() ?? history.end.peek();
  const events = timedEvents(shown).filter(({ time }) => way * (time - now) > 1e-6);
  const next = way > 0 ? events[0] : events.at(-1);
  if (next === undefined) return showNotice("info", way > 0 ? "No later event" : "No earlier event");
  shown?.timeline?.pause();
  seek(next.time);
}

/** Events within the extent, oldest first, with their positions. */
export function timedEvents(shown: FrameSource | null): readonly TimedEvent[] {
  const { start, end } = extentOf(shown);
  const rate = clock.value.rate || 1;
  const all = shown?.events.value ?? [];
  const timed = all.map((event) => ("time" in event ? (event as TimedEvent) : { ...event, time: event.tick / rate }));
  return timed.filter(({ time }) => time >= start && time <= end);
}

/** Positions at which the run restarted. */
export function restartsOf(shown: FrameSource | null): readonly number[] {
  return isOpened(shown) ? shown.restarts : [];
}

/** Time, tick and run shown. */
export function shownTime(shown: FrameSource | null): { time: number; tick: number; run: number | null } {
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

/** Return to live, from the buffer or an opened recording. */
export async function backToLive(): Promise<void> {
  if (isOpened(source.peek())) (await import("../replay/open")).closeRecording();
  else showLive();
}

// commands -----------------------------------------------------------------------------------------------------------

export const IDLE = "the run is stepped by a program; call sim.run() or sim.running() there";

/** The timeline of the shown buffer or recording; null: live run. */
function shownTimeline(): Timeline | null {
  return source.value === null || source.value.kind === "live" ? null : source.value.timeline;
}

/** Play or pause the shown source. */
export function playOrPause(): void {
  const timeline = shownTimeline();
  if (timeline) return timeline.playing.value ? timeline.pause() : timeline.play();
  if (externallyStepped.value) return showNotice("info", `Cannot play: ${IDLE}`);
  void (clock.value.paused ? play() : pause());
}

/** Whether the shown source is paused. */
export function isPaused(): boolean {
  const timeline = shownTimeline();
  return timeline ? !timeline.playing.value : clock.value.paused;
}

/** Step by ticks; in a recording at least to the next sample. */
export function stepShown(ticks: number): void {
  if (shownTimeline()) stepBy(ticks / shownRate());
  else void step(ticks);
}

/** Only a live run can be reset. */
export function resetShown(seed: number | null): void {
  if (readOnlyReason.value === "") void reset(seed);
  else showNotice("warning", `Cannot reset: ${readOnlyReason.value}`);
}

export function setShownPace(pace: number): void {
  const timeline = shownTimeline();
  if (timeline) timeline.setSpeed(pace);
  else void setPace(pace);
}

export function shownPace(): number {
  return shownTimeline()?.speed.value ?? clock.value.pace;
}

/** Whether the pace may be unlimited; not for playback in the page. */
export function canRunUnlimited(): boolean {
  return source.value?.kind !== "buffer" && !isOpened(source.value);
}

/** Ticks per simulated s of the shown source. */
export function shownRate(): number {
  const shown = source.value;
  return (isOpened(shown) ? shown.recording.rate : clock.value.rate) || 1;
}
