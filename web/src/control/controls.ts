// Starts pointer, keyboard and gamepad control of the world view; failsafe, screenshots and videos.
import { effect, signal } from "@preact/signals";
import { reasonOf } from "../net/rpc";
import type { Stage } from "../scene/stage";
import { mission } from "../state/mission";
import { clock, deaf, expose, focus, metadata, selection, tell, tool } from "../state/store";
import { currentSeat, drive, driving, keys, letGo, release, startDriving, takeUp } from "./driving";
import { isShortcut, isTyping, shortName } from "./input";
import { cancelDragged, startPointer } from "./pointer";
import { removeSelected } from "./tools/remove";
import { RouteTool } from "./tools/route";

type Looking = Pick<Stage, "canvas" | "groundPoint">;
const LOWER = 0.9; // shares of the canvas' height, both below the horizon of every usual view
const UPPER = 0.8;

/** rad, counter-clockwise from east; north when the ground is not in sight. */
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
  window.addEventListener("blur", letGo, { signal });
  window.addEventListener("pagehide", letGo, { signal });
  window.addEventListener("focus", takeUp, { signal });
  document.addEventListener("visibilitychange", () => (document.hidden ? letGo() : takeUp()), { signal });
  // lost pointer lock: the person has pressed Escape or was thrown out; hands are taken up with the next key
  const unlocked = (): void => {
    if (document.pointerLockElement === null) letGo();
  };
  document.addEventListener("pointerlockchange", unlocked, { signal });
  window.addEventListener("pointercancel", letGo, { signal });
  return () => over.abort();
}

// gamepad notices ----------------------------------------------------------------------------------------------------

export function announcePads(): () => void {
  const over = new AbortController();
  const { signal } = over;
  const came = "can drive the vehicle in focus (G)";
  window.addEventListener("gamepadconnected", ({ gamepad }) => told(gamepad, came), { signal });
  window.addEventListener("gamepaddisconnected", ({ gamepad }) => told(gamepad, "is unplugged"), { signal });
  return () => over.abort();
}

function told(pad: Gamepad, what: string): void {
  tell("info", `Gamepad: ${shortName(pad.id)} ${what}.`);
}

// screenshots and videos ---------------------------------------------------------------------------------------------

/** A film being made: s since it began; null: none. */
export const filming = signal<{ seconds: number } | null>(null);

const FRAMES = 30; // per s
const KINDS = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"];
const ADDRESS_LIFE = 10_000; // ms until a download has surely begun

/** "race-1200.png" */
export function fileName(kind: "png" | "webm"): string {
  const name = (metadata.value?.name ?? "").replace(/[^\w.-]+/g, "_") || "paddock";
  return `${name}-${clock.value.tick}.${kind}`;
}

export function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), ADDRESS_LIFE);
}

export async function exportPng(stage: Stage): Promise<void> {
  const name = fileName("png"); // the tick of the moment that is seen
  try {
    download(await stage.capturePng(), name);
  } catch (error) {
    tell("error", `No picture could be made: ${reasonOf(error)}`);
  }
}

let recorder: MediaRecorder | null = null;

/** Begin a film of the view. */
export function startFilm(stage: Stage): void {
  if (recorder) return;
  if (typeof MediaRecorder !== "function") {
    return tell("error", "This browser cannot record video (it has no MediaRecorder).");
  }
  try {
    record(stage.captureStream(FRAMES));
  } catch (error) {
    recorder = null;
    tell("error", `No video could be made: ${reasonOf(error)}`);
  }
}

/** End it: the film is downloaded. */
export function stopFilm(): void {
  if (recorder?.state === "recording") recorder.stop();
}

function record(stream: MediaStream): void {
  const mimeType = KINDS.find((kind) => MediaRecorder.isTypeSupported(kind));
  if (mimeType === undefined) throw new Error("this browser does not write WebM");
  const name = fileName("webm");
  const parts: Blob[] = [];
  const began = performance.now();
  const made = new MediaRecorder(stream, { mimeType, videoBitsPerSecond: 8_000_000 });
  const timer = setInterval(() => {
    filming.value = { seconds: (performance.now() - began) / 1000 };
  }, 250);
  const end = (): void => {
    clearInterval(timer);
    for (const track of stream.getTracks()) track.stop();
    recorder = filming.value = null;
  };
  made.addEventListener("dataavailable", ({ data }) => data.size > 0 && parts.push(data));
  made.addEventListener("error", () => tell("error", "The video recording has failed."));
  made.addEventListener("stop", () => {
    end();
    download(new Blob(parts, { type: "video/webm" }), name);
  });
  made.start(1000); // in pieces, so that a long film does not arrive all at the end
  recorder = made;
  filming.value = { seconds: 0 };
}

// keyboard -----------------------------------------------------------------------------------------------------------

export function startKeyboard(route: RouteTool | null): () => void {
  const over = new AbortController();
  const options = { capture: true, signal: over.signal };
  window.addEventListener("keydown", (event) => onDown(event, route), options);
  window.addEventListener("keyup", (event) => keys.lift(event.code), options); // wherever it is let go: it is up
  return () => over.abort();
}

function onDown(event: KeyboardEvent, route: RouteTool | null): void {
  if (isTyping(event.target) || isShortcut(event)) return;
  const takesBack = event.code === "Escape" && cancelDragged();
  if (!takesBack && !onDrivingKey(event) && !onToolKey(event, route)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

function onDrivingKey(event: KeyboardEvent): boolean {
  const seat = currentSeat();
  if (event.code === "KeyG" && !event.shiftKey) return event.repeat || toggle();
  if (!seat) return false;
  if (event.code === "Escape") {
    void release();
    return true;
  }
  if (!seat.driver.codes.has(event.code)) return false;
  takeUp();
  if (!event.repeat && !seat.driver.press(event.code)) keys.press(event.code);
  return true;
}

function toggle(): boolean {
  const id = focus.value;
  if (currentSeat()) void release();
  else if (id !== null) void drive(id);
  else tell("info", "Choose a vehicle to drive first.");
  return true;
}

function onToolKey(event: KeyboardEvent, route: RouteTool | null): boolean {
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

/** Take the hands to a stage (null: there is no view, but keys and pads drive all the same); the returned function
 * takes them away again. */
export function startControls(stage: Stage | null): () => void {
  const route = stage && new RouteTool(stage);
  const stops = [
    startKeyboard(route),
    startDriving(() => (stage ? cameraHeading(stage) : NORTH)),
    startFailsafe(),
    announcePads(),
    layDownTool(),
  ];
  if (stage && route) stops.push(startPointer(stage, route), () => route.stop());
  expose({ drive, release, driving });
  return () => {
    for (const stop of stops) stop();
  };
}

/** What takes no orders leaves nothing to do for the tools that give them. */
function layDownTool(): () => void {
  return effect(() => {
    const idle = deaf.value !== "" && !["select", "box"].includes(tool.peek());
    if (idle || (mission.value === null && tool.peek() === "task")) tool.value = "select";
  });
}
