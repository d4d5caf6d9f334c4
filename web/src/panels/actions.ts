// What buttons and keys do: ask the server, and tell the person when it refuses.
import { ask, reasonOf } from "../state/caller";
import * as time from "../state/clock";
import type { Method, Params, Result } from "../state/methods";
import type { Fleet } from "../state/roster";
import type { Timeline } from "../state/source";
import { camera, type CameraMode, clock, focus, live, roster, select, selection, source, tell } from "../state/store";
import { stage } from "./stage";
import { stepBy } from "./timelinemodel";

/** Ask; null when it was refused, which is told with what it was about. */
export async function attempt<M extends Method>(what: string, method: M, params: Params<M>): Promise<Result<M> | null> {
  try {
    return await ask(method, params);
  } catch (error) {
    tell("error", `${what}: ${reasonOf(error)}`);
    return null;
  }
}

/** The time of the buffer or recording that is shown; null: the live run is. */
function shownTimeline(): Timeline | null {
  return source.value === null || source.value.kind === "live" ? null : source.value.timeline;
}

/** Run or hold: the live run, or the buffer or recording that is shown. */
export function playOrPause(): void {
  const timeline = shownTimeline();
  if (timeline) {
    if (timeline.playing.value) timeline.pause();
    else timeline.play();
  } else if (clock.value.paused) void time.play();
  else void time.pause();
}

/** Whether what is shown moves. */
export function isPaused(): boolean {
  const timeline = shownTimeline();
  return timeline ? !timeline.playing.value : clock.value.paused;
}

/** Hold, then go exactly so many ticks; in the past, as far or at least to the next sample. */
export async function step(ticks: number): Promise<void> {
  if (!live.value && source.value !== null) return stepBy(ticks / (clock.value.rate || 1));
  if (!clock.value.paused) await time.pause();
  if (clock.value.paused) await time.step(ticks);
}

export async function reset(seed?: number): Promise<void> {
  const done = await attempt("Reset", "reset", seed === undefined ? {} : { seed });
  if (done) tell("info", seed === undefined ? "The run began anew" : `The run began anew with seed ${seed}`, 3);
}

/** How fast the live run goes. */
export function setPace(pace: number): void {
  clock.value = { ...clock.value, pace };
  void time.setPace(pace);
}

/** How fast what is shown goes. */
export function setShownPace(pace: number): void {
  const timeline = shownTimeline();
  if (timeline) timeline.setSpeed(pace);
  else setPace(pace);
}

export function shownPace(): number {
  return shownTimeline()?.speed.value ?? clock.value.pace;
}

/** Move the camera to a vehicle, and have it followed by the inspector. */
export function lookAt(id: number): void {
  focus.value = id;
  stage.value?.lookAt(id);
}

/** See with a camera; those that ride along need a vehicle. */
export function setCamera(mode: CameraMode): void {
  const riding = mode === "chase" || mode === "fpv";
  if (riding && focus.value === null) {
    const first = selection.value.values().next().value ?? roster.value.idAt(0);
    if (first === undefined) return tell("info", "There is no vehicle to ride with");
    select([first]);
  }
  camera.value = mode;
}

const MANY = 20; // beyond, it is asked first whether that is meant

/** Take a whole fleet out. */
export async function removeFleet(fleet: Fleet): Promise<void> {
  if (fleet.count > MANY && !window.confirm(`Remove all ${fleet.count} vehicles of ${fleet.name}?`)) return;
  const done = await attempt("Remove", "remove_vehicle", { vehicle: fleet.name });
  if (done !== null) forget(new Set(idsOf(fleet.ids)));
}

export async function removeVehicles(ids: readonly number[]): Promise<void> {
  if (ids.length > MANY && !window.confirm(`Remove ${ids.length} vehicles?`)) return;
  let removed = 0;
  for (const id of ids) {
    if ((await attempt("Remove", "remove_vehicle", { vehicle_id: id })) === null) break;
    removed += 1;
  }
  if (removed > 0) {
    tell("info", removed === 1 ? "1 vehicle removed" : `${removed} vehicles removed`, 3);
    forget(new Set(ids.slice(0, removed)));
  }
}

/** Choose some; adding takes away what was chosen already. */
export function pickIds(ids: readonly number[], add: boolean): void {
  if (add && ids.every((id) => selection.value.has(id))) forget(new Set(ids));
  else select(ids, add);
}

function forget(gone: ReadonlySet<number>): void {
  select([...selection.value].filter((id) => !gone.has(id)));
}

/** Give vehicles an order; null: what their entry says. */
export async function order(ids: readonly number[], behaviour: Params<"give_order">["behaviour"]): Promise<boolean> {
  return (await attempt("Order", "give_order", { vehicles: ids, behaviour })) !== null;
}

/** All ids of a fleet. */
export function idsOf(ranges: readonly (readonly [number, number])[]): number[] {
  return ranges.flatMap(([first, count]) => Array.from({ length: count }, (_, at) => first + at));
}
