// Opening recordings: chosen from the disk or dropped onto the page.
import { reasonOf } from "../state/caller";
import { source, tell } from "../state/store";
import { recordingDoor } from "./doors";
import { stage } from "./stage";

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
    if (source.peek()?.sample(performance.now())) setTimeout(() => stage.value?.frameAll(), 50); // after it was drawn
    else if (tries > 0) lookAtIt(tries - 1);
  });
}
