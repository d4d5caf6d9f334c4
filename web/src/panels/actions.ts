// What buttons and keys do: ask the server, and tell the person when it refuses.
import { ask, reasonOf } from "../state/caller";
import type { Method, Params, Result } from "../state/methods";
import { camera, type CameraMode, focus, roster, select, selection, tell } from "../state/store";
import { stage } from "./stage";

/** Ask; null when it was refused, which is told with what it was about. */
export async function attempt<M extends Method>(what: string, method: M, params: Params<M>): Promise<Result<M> | null> {
  try {
    return await ask(method, params);
  } catch (error) {
    tell("error", `${what}: ${reasonOf(error)}`);
    return null;
  }
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

/** Choose some; adding takes away what was chosen already. */
export function pickIds(ids: readonly number[], add: boolean): void {
  if (!add || !ids.every((id) => selection.value.has(id))) return select(ids, add);
  const away = new Set(ids);
  select([...selection.value].filter((id) => !away.has(id)));
}

/** All ids of a fleet. */
export function idsOf(ranges: readonly (readonly [number, number])[]): number[] {
  return ranges.flatMap(([first, count]) => Array.from({ length: count }, (_, at) => first + at));
}
