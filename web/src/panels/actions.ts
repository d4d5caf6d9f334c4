// What buttons and keys do: ask the server, and tell the person when it refuses.
import { ask, reasonOf } from "../state/caller";
import type { Method, Params, Result } from "../state/methods";
import type { Fleet } from "../state/roster";
import { camera, type CameraMode, clock, focus, roster, select, selection, source, tell } from "../state/store";
import { stage } from "./stage";
import { stepSample } from "./timelinemodel";

/** Ask; null when it was refused, which is told with what it was about. */
export async function attempt<M extends Method>(what: string, method: M, params: Params<M>): Promise<Result<M> | null> {
  try {
    return await ask(method, params);
  } catch (error) {
    tell("error", `${what}: ${reasonOf(error)}`);
    return null;
  }
}

/** Run or hold: the live run, or the buffer or recording that is shown. */
export function playOrPause(): void {
  const timeline = source.value?.kind === "live" ? null : source.value?.timeline;
  if (timeline) {
    if (timeline.playing.value) timeline.pause();
    else timeline.play();
  } else if (clock.value.paused) void attempt("Run", "resume", {});
  else void attempt("Pause", "pause", {});
}

/** Whether what is shown moves. */
export function isPaused(): boolean {
  const timeline = source.value?.kind === "live" ? null : source.value?.timeline;
  return timeline ? !timeline.playing.value : clock.value.paused;
}

/** Hold, then go exactly so many ticks; in the past, to the next sample. */
export async function step(ticks: number): Promise<void> {
  if (source.value !== null && source.value.kind !== "live") return stepSample(1);
  if (!clock.value.paused && (await attempt("Pause", "pause", {})) === null) return;
  await attempt("Step", "simulation_step", { ticks });
}

export async function reset(seed?: number): Promise<void> {
  const done = await attempt("Reset", "reset", seed === undefined ? {} : { seed });
  if (done) tell("info", seed === undefined ? "The run began anew" : `The run began anew with seed ${seed}`, 3);
}

export function setPace(pace: number): void {
  clock.value = { ...clock.value, pace };
  void attempt("Pace", "set_pace", { pace });
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
