// Actions of buttons and keys: server calls with error notices, camera, recordings, lazily loaded dialogs.
import { signal } from "@preact/signals";
import { call, type Method, type Params, type Result, reasonOf } from "../net/connection";
import type { Stage } from "../scene/stage";
import { selectFile } from "../state/files";
import {
  type CameraMode,
  camera,
  focus,
  type Layers,
  layers,
  roster,
  select,
  selection,
  showNotice,
  source,
} from "../state/store";

type Opener = (() => void) | null; // null: not available

export const editorOpener = signal<Opener>(null);
export const galleryOpener = signal<Opener>(null);
export const recordingOpener = signal<((file: File) => Promise<void>) | null>(null);

/** Whether the track editor begins with an empty track. */
export const newTrack = signal(false);

export const stage = signal<Stage | null>(null);
export const stageFailure = signal("");

// recordings ---------------------------------------------------------------------------------------------------------

const PATIENCE = 200; // drawn frames until a frame must have been read

export function chooseRecording(): void {
  selectFile(".mcap", (file) => void openFile(file));
}

/** Open a file, or show why it cannot be opened. */
export async function openFile(file: File): Promise<void> {
  const open = recordingOpener.value;
  if (open === null) return showNotice("warning", "Recordings cannot be opened here");
  try {
    const before = source.peek();
    await open(file);
    if (source.peek() !== before) lookAtIt();
  } catch (error) {
    showNotice("error", `Cannot open ${file.name}: ${reasonOf(error)}`);
  }
}

/** Its world may be elsewhere: frame it as soon as something is drawn. */
function lookAtIt(tries = PATIENCE): void {
  requestAnimationFrame(() => {
    if (source.peek()?.sample(performance.now()))
      setTimeout(() => stage.value?.frameAll(), 50); // after the drawing
    else if (tries > 0) lookAtIt(tries - 1);
  });
}

// actions ------------------------------------------------------------------------------------------------------------

/** Call the server; on refusal show a notice with the subject and return null. */
export async function attempt<M extends Method>(what: string, method: M, params: Params<M>): Promise<Result<M> | null> {
  try {
    return await call(method, params);
  } catch (error) {
    showNotice("error", `${what}: ${reasonOf(error)}`);
    return null;
  }
}

/** Move the camera to a vehicle and give it the focus. */
export function lookAt(id: number): void {
  focus.value = id;
  stage.value?.lookAt(id);
}

/** Frame all selected vehicles; look at the one in focus if no more are selected. */
export function lookAtSelection(): void {
  if (selection.value.size > 1) {
    if (camera.value === "chase" || camera.value === "fpv") camera.value = "orbit"; // they show one vehicle
    stage.value?.frameIds(selection.value);
  } else if (focus.value !== null) lookAt(focus.value);
}

/** Set the camera; chase and first person need a vehicle. */
export function setCamera(mode: CameraMode): void {
  const riding = mode === "chase" || mode === "fpv";
  if (riding && focus.value === null) {
    const first = selection.value.values().next().value ?? roster.value.idAt(roster.value.nextRow(undefined) ?? -1);
    if (first === undefined) return showNotice("info", "Select a vehicle to follow first");
    select([first]);
  }
  camera.value = mode;
}

/** Select vehicles; adding toggles those already selected. */
export function pickIds(ids: readonly number[], add: boolean): void {
  if (!add || !ids.every((id) => selection.value.has(id))) return select(ids, add);
  const away = new Set(ids);
  select([...selection.value].filter((id) => !away.has(id)));
}

/** All ids of a fleet. */
export function idsOf(ranges: readonly (readonly [number, number])[]): number[] {
  return ranges.flatMap(([first, count]) => Array.from({ length: count }, (_, at) => first + at));
}

export function setLayer(name: keyof Layers, on = !layers.value[name]): void {
  layers.value = { ...layers.value, [name]: on };
}
