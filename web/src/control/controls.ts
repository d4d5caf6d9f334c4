// Starts pointer, keyboard and gamepad control of the world view; keys of tools, failsafe, screenshots and videos.
import { effect, signal } from "@preact/signals";
import { reasonOf } from "../net/connection";
import type { Stage } from "../scene/stage";
import { download, fileName } from "../state/files";
import { mission } from "../state/mission";
import { clock, expose, metadata, readOnlyReason, selection, showNotice, tool } from "../state/store";
import {
  drive,
  driving,
  listenToKeys,
  release,
  resumeDriving,
  shortName,
  startDriving,
  suspendDriving,
} from "./driving";
import { startPointer } from "./pointer";
import { removeSelected } from "./tools/remove";
import { RouteTool } from "./tools/route";

type Looking = Pick<Stage, "canvas" | "groundPoint">;
const LOWER = 0.9; // fractions of the canvas height, both below the horizon in usual views
const UPPER = 0.8;

/** rad, counter-clockwise from east; north if the ground is not visible. */
export function cameraHeading(stage: Looking): number {
  const { clientWidth: width, clientHeight: height } = stage.canvas;
  const near = stage.groundPoint(width / 2, height * LOWER, 0);
  const far = stage.groundPoint(width / 2, height * UPPER, 0);
  if (!near || !far) return Math.PI / 2;
  return Math.atan2(far[1] - near[1], far[0] - near[0]);
}

// failsafe -----------------------------------------------------------------------------------------------------------

export function startFailsafe(): () => void {
  const over = new AbortController();
  const { signal } = over;
  window.addEventListener("blur", suspendDriving, { signal });
  window.addEventListener("pagehide", suspendDriving, { signal });
  window.addEventListener("focus", resumeDriving, { signal });
  document.addEventListener("visibilitychange", () => (document.hidden ? suspendDriving() : resumeDriving()), {
    signal,
  });
  // pointer lock ended, by Escape or by the browser: the next key resumes driving
  const unlocked = (): void => {
    if (document.pointerLockElement === null) suspendDriving();
  };
  document.addEventListener("pointerlockchange", unlocked, { signal });
  window.addEventListener("pointercancel", suspendDriving, { signal });
  return () => over.abort();
}

// gamepad notices ----------------------------------------------------------------------------------------------------

function watchGamepads(): () => void {
  const over = new AbortController();
  const { signal } = over;
  const came = "connected; press G to drive the focused vehicle";
  window.addEventListener("gamepadconnected", ({ gamepad }) => announce(gamepad, came), { signal });
  window.addEventListener("gamepaddisconnected", ({ gamepad }) => announce(gamepad, "disconnected"), { signal });
  return () => over.abort();
}

function announce(pad: Gamepad, what: string): void {
  showNotice("info", `Gamepad ${shortName(pad.id)} ${what}`);
}

// screenshots and videos ---------------------------------------------------------------------------------------------

/** Length of the video being recorded, s; null: none. */
export const recordingVideo = signal<{ seconds: number } | null>(null);

const FRAMES = 30; // per s
const KINDS = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"];

/** "race-1200.png" */
function pictureName(kind: "png" | "webm"): string {
  return `${fileName(metadata.value?.name ?? "", "paddock")}-${clock.value.tick}.${kind}`;
}

export async function exportPng(stage: Stage): Promise<void> {
  const name = pictureName("png"); // the tick of the shown frame
  try {
    download(await stage.capturePng(), name);
  } catch (error) {
    showNotice("error", `Cannot save the picture: ${reasonOf(error)}`);
  }
}

let recorder: MediaRecorder | null = null;

/** Start recording a video of the view. */
export function startVideo(stage: Stage): void {
  if (recorder) return;
  if (typeof MediaRecorder !== "function") {
    return showNotice("error", "This browser cannot record video (no MediaRecorder)");
  }
  try {
    record(stage.captureStream(FRAMES));
  } catch (error) {
    recorder = null;
    showNotice("error", `Cannot record a video: ${reasonOf(error)}`);
  }
}

/** Stop recording and download the video. */
export function stopVideo(): void {
  if (recorder?.state === "recording") recorder.stop();
}

function record(stream: MediaStream): void {
  const mimeType = KINDS.find((kind) => MediaRecorder.isTypeSupported(kind));
  if (mimeType === undefined) throw new Error("this browser cannot write WebM");
  const name = pictureName("webm");
  const parts: Blob[] = [];
  const began = performance.now();
  const made = new MediaRecorder(stream, { mimeType, videoBitsPerSecond: 8_000_000 });
  const timer = setInterval(() => {
    recordingVideo.value = { seconds: (performance.now() - began) / 1000 };
  }, 250);
  const end = (): void => {
    clearInterval(timer);
    for (const track of stream.getTracks()) track.stop();
    recorder = recordingVideo.value = null;
  };
  made.addEventListener("dataavailable", ({ data }) => data.size > 0 && parts.push(data));
  made.addEventListener("error", () => showNotice("error", "Video recording failed"));
  made.addEventListener("stop", () => {
    end();
    download(new Blob(parts, { type: "video/webm" }), name);
  });
  made.start(1000); // in chunks, so that a long video does not arrive at the end as one
  recorder = made;
  recordingVideo.value = { seconds: 0 };
}

// keyboard -----------------------------------------------------------------------------------------------------------

/** Keys of the selection and the tools, after those of drags and of driving. */
export function startKeyboard(route: RouteTool | null): () => void {
  return listenToKeys((event) => onToolKey(event, route));
}

function onToolKey(event: KeyboardEvent, route: RouteTool | null): boolean {
  if (tool.value === "track") return false; // it has its own keys
  if (event.code === "Delete" && selection.value.size > 0) {
    void removeSelected();
    return true;
  }
  if (event.code === "Enter" && tool.value === "route" && route?.drawing) {
    void route.finish(event.shiftKey);
    return true;
  }
  if (event.code !== "Escape" || tool.value === "select") return false;
  if (route?.drawing) route.cancel();
  else tool.value = "select";
  return true;
}

// start --------------------------------------------------------------------------------------------------------------

const NORTH = Math.PI / 2;

/** Attach input devices to a stage (null: no view; keys and gamepads still drive). Return a stop function. */
export function startControls(stage: Stage | null): () => void {
  const route = stage && new RouteTool(stage);
  const stops = [
    ...(stage && route ? [startPointer(stage, route), () => route.stop()] : []),
    startDriving(() => (stage ? cameraHeading(stage) : NORTH)),
    startKeyboard(route),
    startFailsafe(),
    watchGamepads(),
    resetTool(),
  ];
  expose({ drive, release, driving });
  return () => {
    for (const stop of stops) stop();
  };
}

/** The go, route and task tools need a run that accepts commands. */
function resetTool(): () => void {
  return effect(() => {
    const idle = readOnlyReason.value !== "" && !["select", "box"].includes(tool.peek());
    if (idle || (mission.value === null && tool.peek() === "task")) tool.value = "select";
  });
}
