// Time of what is shown: the live run is commanded by state/clock, a buffer or a recording by its own timeline.
import { pause, play, reset, setPace, step } from "../state/clock";
import type { Timeline } from "../state/source";
import { clock, deaf, idle, source, tell } from "../state/store";
import { isOpened, stepBy } from "./timelinemodel";

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
