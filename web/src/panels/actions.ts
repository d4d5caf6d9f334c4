// Actions of buttons and keys: server calls with error notices, camera, recordings, lazily loaded dialogs.
import { signal } from "@preact/signals";
import { call } from "../net/connection";
import { type Method, type Params, type Result, reasonOf } from "../net/rpc";
import type { Stage } from "../scene/stage";
import { type CameraMode, camera, focus, roster, select, selection, source, tell } from "../state/store";

type Door = (() => void) | null; // null: that part is not there

export const editorDoor = signal<Door>(null);
export const galleryDoor = signal<Door>(null);
export const recordingDoor = signal<((file: File) => Promise<void>) | null>(null);

export const stage = signal<Stage | null>(null);
export const stageFailure = signal("");

// recordings ---------------------------------------------------------------------------------------------------------

const PATIENCE = 200; // pictures until something must have been read

/** Let the person choose a file. */
export function chooseRecording(): void {
  const input = document.createElement("input");
  input.type = "file";
  input.accept = ".mcap";
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    if (file) void openFile(file);
  });
  input.click();
}

/** Open it, or say why not. */
export async function openFile(file: File): Promise<void> {
  const open = recordingDoor.value;
  if (open === null) return tell("warning", "This page cannot open recordings");
  try {
    const before = source.peek();
    await open(file);
    if (source.peek() !== before) lookAtIt();
  } catch (error) {
    tell("error", `${file.name} cannot be opened: ${reasonOf(error)}`);
  }
}

/** Its world may be elsewhere: see all of it as soon as there is something to see. */
function lookAtIt(tries = PATIENCE): void {
  requestAnimationFrame(() => {
    if (source.peek()?.sample(performance.now()))
      setTimeout(() => stage.value?.frameAll(), 50); // after it was drawn
    else if (tries > 0) lookAtIt(tries - 1);
  });
}

// actions ------------------------------------------------------------------------------------------------------------

/** Ask; null when it was refused, which is told with what it was about. */
export async function attempt<M extends Method>(what: string, method: M, params: Params<M>): Promise<Result<M> | null> {
  try {
    return await call(method, params);
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
