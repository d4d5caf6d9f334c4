// Scenario files on disk, and starting another scenario on the server.
import { effect, signal } from "@preact/signals";
import { call, connection, reasonOf } from "../net/connection";
import { download, fileName, selectFile } from "../state/files";
import { metadata, preparing, showNotice } from "../state/store";

const LARGEST = 2_000_000; // bytes

export function chooseFile(onText: (name: string, text: string) => void): void {
  selectFile(".yaml,.yml,text/yaml", (file) => void read(file, onText));
}

async function read(file: File, onText: (name: string, text: string) => void): Promise<void> {
  if (file.size > LARGEST) return showNotice("error", `${file.name} is too large for a scenario`);
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    onText(file.name.replace(/\.ya?ml$/i, ""), text);
  } catch {
    showNotice("error", `${file.name} is not a text file`);
  }
}

export function saveFile(name: string, text: string): void {
  download(new Blob([text], { type: "text/yaml" }), `${fileName(name, "scenario")}.yaml`);
}

/** Copy text to the clipboard; show it for manual copying if that is not allowed. */
export async function copyText(text: string, done: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    showNotice("info", done);
  } catch {
    window.prompt("Copy this link", text);
  }
}

// starting a scenario ------------------------------------------------------------------------------------------------

/** The scenario being started; null: none. */
export const loading = signal<string | null>(null);

const PATIENCE = 60_000; // ms: large scenarios take a while to build

/** Start a scenario and wait for the new run; return the reason on failure, otherwise null. */
export async function startScenario(name: string, what: { name: string } | { text: string }): Promise<string | null> {
  if (loading.value !== null) return `${loading.value} is already starting`;
  loading.value = name;
  const arrival = nextRun();
  try {
    const { ignored } = await call("load_scenario", what);
    await arrival.promise;
    if (ignored.length > 0) showNotice("info", `not used here: ${ignored.join(", ")}`);
    return null;
  } catch (error) {
    return reasonOf(error);
  } finally {
    arrival.stop();
    loading.value = null;
  }
}

/** Resolves with the metadata of the new run after the reconnect. */
function nextRun(): { promise: Promise<void>; stop(): void } {
  const before = metadata.peek();
  let lost = false;
  let stop = (): void => undefined;
  const promise = new Promise<void>((resolve, reject) => {
    const timer = setInterval(() => {
      if (preparing.peek() === "") reject(new Error("the new run does not respond yet"));
    }, PATIENCE);
    const unwatch = effect(() => {
      const { state } = connection.value;
      const now = metadata.value;
      lost ||= state !== "open";
      if (state === "open" && now !== null && now !== before && (lost || now.name !== before?.name)) resolve();
    });
    stop = () => {
      clearInterval(timer);
      unwatch();
    };
  });
  promise.catch(() => undefined); // there may be no listener
  return { promise, stop };
}
