// Pictures and films of the world view, as downloads.
import { signal } from "@preact/signals";
import type { Stage } from "../scene/stage";
import { reasonOf } from "../state/caller";
import { clock, metadata, tell } from "../state/store";

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
