// A recording that is dragged over the window may be dropped anywhere.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { tell } from "../state/store";
import { openFile } from "./recordings";

export function DropPlace() {
  const over = useSignal(false);
  useEffect(() => {
    const stop = new AbortController();
    const on = (name: "dragover" | "dragleave" | "drop", act: (event: DragEvent) => void) =>
      window.addEventListener(name, act, { signal: stop.signal });
    on("dragover", (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      over.value = true;
    });
    on("dragleave", (event) => {
      if (event.relatedTarget === null) over.value = false;
    });
    on("drop", (event) => {
      over.value = false;
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      take([...event.dataTransfer.files]);
    });
    return () => stop.abort();
  }, []);
  return over.value ? <div class="drop">Drop a recording (.mcap) to open it</div> : null;
}

function take(files: readonly File[]): void {
  const recording = files.find((file) => file.name.toLowerCase().endsWith(".mcap"));
  if (recording) void openFile(recording);
  else tell("warning", `${files[0]?.name ?? "That"} is not a recording: recordings end in .mcap`);
}
