// Opening recordings: chosen from the disk or dropped onto the page.
import { reasonOf } from "../state/caller";
import { tell } from "../state/store";
import { recordingDoor } from "./doors";

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
    await open(file);
  } catch (error) {
    tell("error", `${file.name} cannot be opened: ${reasonOf(error)}`);
  }
}
