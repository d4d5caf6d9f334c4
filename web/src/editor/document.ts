// The edited document: text, origin, draft storage, validation, and the actions on it.
import { batch, computed, signal } from "@preact/signals";
import { call, connection, reasonOf } from "../net/connection";
import { metadata, showNotice } from "../state/store";
import type { ProblemTree, ScenarioText } from "../wire/schema";
import { copyText, startScenario } from "./files";
import { linkTo, nameIn } from "./share";

const NAME = "paddock.editor";

interface Draft {
  name: string;
  text: string;
  original: string; // text that "Reset" restores
}

function keepDraft(draft: Draft): void {
  try {
    sessionStorage.setItem(NAME, JSON.stringify(draft));
  } catch {
    // storage is full or disabled
  }
}

function keptDraft(): Draft | null {
  try {
    const draft = JSON.parse(sessionStorage.getItem(NAME) ?? "null") as Partial<Draft> | null;
    const { name, text, original } = draft ?? {};
    if (typeof name !== "string" || typeof text !== "string" || typeof original !== "string") return null;
    return { name, text, original };
  } catch {
    return null;
  }
}

export function forgetDraft(): void {
  try {
    sessionStorage.removeItem(NAME);
  } catch {
    // storage is disabled
  }
}

// validation ---------------------------------------------------------------------------------------------------------

type Validation =
  | { state: "checking" }
  | { state: "checked"; problems: readonly ProblemTree[] }
  | { state: "unknown"; reason: string }; // the server did not respond

const QUIET = 300; // ms

export const validation = signal<Validation>({ state: "checking" });
let newest = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Check a text after a delay. */
function checkSoon(text: string): void {
  clearTimeout(timer);
  newest += 1;
  validation.value = { state: "checking" };
  timer = setTimeout(() => void checkNow(text), QUIET);
}

/** Check a text now; return the result. */
async function checkNow(text: string): Promise<Validation> {
  clearTimeout(timer);
  const mine = ++newest;
  const checked = await validate(text);
  if (mine === newest) validation.value = checked;
  return checked;
}

async function validate(text: string): Promise<Validation> {
  try {
    return { state: "checked", problems: (await call("check_scenario", { text })).problems };
  } catch (error) {
    return { state: "unknown", reason: reasonOf(error) };
  }
}

// document -----------------------------------------------------------------------------------------------------------

const EMPTY: Draft = { name: "scenario", text: "", original: "" };

export const draft = signal<Draft>(EMPTY);
/** Incremented when the text was replaced, which the code view then takes over. */
export const arrivals = signal(0);
export const edited = computed(() => draft.value.text !== draft.value.original);

/** What the editor waits for, during which the text is read-only; "": nothing. */
export const waiting = signal("");
let lastRequest = 0; // number of the last requested text; later responses to older requests are ignored

/** Why scenarios cannot be started now; "": they can. */
export const obstacle = computed(() => {
  if (waiting.value !== "") return waiting.value;
  if (connection.value.state !== "open") return "Not connected to a server";
  return metadata.value?.can_load === false ? "Scenario switching is disabled for this run" : "";
});

/** Why the text cannot be run now; "": it can. */
export const runBlocker = computed(() => {
  if (obstacle.value !== "") return obstacle.value;
  const checked = validation.value;
  if (checked.state === "checked" && checked.problems.length > 0) return "Fix the problems first";
  return "";
});

/** Replace the text. */
export function take(name: string, text: string): void {
  lastRequest += 1;
  batch(() => {
    draft.value = { name, text, original: text };
    arrivals.value += 1;
    waiting.value = "";
  });
  forgetDraft();
  checkSoon(text);
}

/** The user edited the text. */
export function change(text: string): void {
  draft.value = { ...draft.value, text, name: nameIn(text) ?? draft.value.name };
  if (edited.value) keepDraft(draft.value);
  else forgetDraft();
  checkSoon(text);
}

/** Confirm discarding changes. */
export function mayReplace(): boolean {
  return !edited.value || window.confirm(`Discard the changes to ${draft.value.name}?`);
}

/** Start with the given text, the stored draft, or the running scenario. */
export async function begin(initial?: { name: string; text: string }): Promise<void> {
  const kept = keptDraft();
  if (kept && draft.value === EMPTY) draft.value = kept;
  if (initial) return mayReplace() ? take(initial.name, initial.text) : resume();
  if (kept || edited.value) return resume();
  await load(
    "Loading the running scenario …",
    () => call("running_scenario", {}),
    (reason) => {
      showNotice("warning", `Cannot load the running scenario: ${reason}`);
      take("scenario", "name: scenario\nvehicles:\n  - name: red\n    model: car.bicycle\n");
    },
  );
}

/** Load a text from the server. The text is read-only meanwhile, because edits would be lost. */
async function load(
  what: string,
  fetchText: () => Promise<ScenarioText>,
  failed: (reason: string) => void,
): Promise<void> {
  const mine = ++lastRequest;
  waiting.value = what;
  try {
    const { name, text } = await fetchText();
    if (mine === lastRequest) take(name, text);
  } catch (error) {
    if (mine === lastRequest) failed(reasonOf(error));
  } finally {
    if (mine === lastRequest) waiting.value = "";
  }
}

function resume(): void {
  lastRequest += 1;
  waiting.value = "";
  arrivals.value += 1;
  checkSoon(draft.value.text);
}

export function reset(): void {
  if (mayReplace()) take(draft.value.name, draft.value.original);
}

export async function openDemo(name: string): Promise<void> {
  if (!mayReplace()) return;
  const fetchText = async () => ({ ...(await call("get_scenario", { name })), name });
  await load(`Loading ${name} …`, fetchText, (reason) => showNotice("error", `Cannot open ${name}: ${reason}`));
}

/** Run the text, which is read-only until then; return whether it runs. */
export async function run(): Promise<boolean> {
  if (obstacle.value !== "") {
    showNotice("warning", `Cannot run: ${obstacle.value}`);
    return false;
  }
  const { name, text } = draft.value;
  const reason = await whileReadOnly("Starting …", () => checkAndStart(name, text));
  if (reason !== null) showNotice("error", `Cannot run: ${reason}`);
  else if (draft.value.text === text) {
    draft.value = { ...draft.value, original: text };
    forgetDraft();
  }
  return reason === null;
}

/** Keep the text read-only during an action. */
async function whileReadOnly<T>(what: string, work: () => Promise<T>): Promise<T> {
  waiting.value = what;
  try {
    return await work();
  } finally {
    waiting.value = "";
  }
}

/** Return why it was not started; null: it runs. */
async function checkAndStart(name: string, text: string): Promise<string | null> {
  const checked = await checkNow(text);
  if (checked.state === "unknown") return `validation failed (${checked.reason})`;
  if (checked.state === "checked" && checked.problems.length > 0) return "fix the problems first";
  return startScenario(name, { text });
}

export async function share(): Promise<void> {
  await copyText(await linkTo(draft.value.text), "Link copied to the clipboard");
}
