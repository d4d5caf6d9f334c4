// Scenario files on disk, and starting another scenario on the server.
import { effect, signal } from "@preact/signals";
import { call, connection } from "../net/connection";
import { reasonOf } from "../net/rpc";
import { metadata, preparing, tell } from "../state/store";

const LARGEST = 2_000_000; // bytes: a scenario is text that somebody wrote

export function chooseFile(onText: (name: string, text: string) => void): void {
  const input = document.createElement("input");
  input.type = "file";
  input.accept = ".yaml,.yml,text/yaml";
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    if (file) void read(file, onText);
  });
  input.click();
}

async function read(file: File, onText: (name: string, text: string) => void): Promise<void> {
  if (file.size > LARGEST) return tell("error", `${file.name} is too large for a scenario.`);
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    onText(file.name.replace(/\.ya?ml$/i, ""), text);
  } catch {
    tell("error", `${file.name} is not a text file.`);
  }
}

export function saveFile(name: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/yaml" }));
  link.download = `${name.replace(/[^\w.-]+/g, "_") || "scenario"}.yaml`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Put text on the clipboard; where that is forbidden, show it for copying by hand. */
export async function copyText(text: string, done: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    tell("info", done);
  } catch {
    window.prompt("Copy this link", text);
  }
}

// starting a scenario ------------------------------------------------------------------------------------------------

/** The name of the scenario that is being started; null: none. */
export const loading = signal<string | null>(null);

const PATIENCE = 60_000; // ms: a large scenario takes a while to build

/** Start a scenario and wait until it is there; the reason if it is not, else null. */
export async function startScenario(name: string, what: { name: string } | { text: string }): Promise<string | null> {
  if (loading.value !== null) return `${loading.value} is being started already`;
  loading.value = name;
  const arrival = nextRun();
  try {
    await call("load_scenario", what);
    await arrival.promise;
    return null;
  } catch (error) {
    return reasonOf(error);
  } finally {
    arrival.stop();
    loading.value = null;
  }
}

/** Resolves when the connection was lost and is back, with what the new run says about itself. */
function nextRun(): { promise: Promise<void>; stop(): void } {
  const before = metadata.peek();
  let lost = false;
  let stop = (): void => undefined;
  const promise = new Promise<void>((resolve, reject) => {
    const timer = setInterval(() => {
      if (preparing.peek() === "") reject(new Error("the new run does not answer; it may still come"));
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
  promise.catch(() => undefined); // nobody may be waiting for it yet, or any more
  return { promise, stop };
}
