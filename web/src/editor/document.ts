// The edited document: text, origin, draft storage, validation, and the actions on it.
import { batch, computed, signal } from "@preact/signals";
import { call, connection } from "../net/connection";
import { reasonOf } from "../net/rpc";
import { metadata, tell } from "../state/store";
import type { ProblemTree, ScenarioText } from "../wire/schema";
import { copyText, startScenario } from "./files";
import { linkTo, nameIn } from "./share";

const NAME = "paddock.editor";

export interface Draft {
  name: string;
  text: string;
  original: string; // what "reset" goes back to
}

export function keepDraft(draft: Draft): void {
  try {
    sessionStorage.setItem(NAME, JSON.stringify(draft));
  } catch {
    // full or forbidden: the editor works without
  }
}

export function keptDraft(): Draft | null {
  try {
    const found = JSON.parse(sessionStorage.getItem(NAME) ?? "null") as Partial<Draft> | null;
    const { name, text, original } = found ?? {};
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
    // forbidden: there was none
  }
}

// validation ---------------------------------------------------------------------------------------------------------

export type Verdict =
  | { state: "checking" }
  | { state: "checked"; problems: readonly ProblemTree[] }
  | { state: "unknown"; reason: string }; // the server did not answer

const QUIET = 300; // ms

export const verdict = signal<Verdict>({ state: "checking" });
let newest = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Check a text soon. */
export function checkSoon(text: string): void {
  clearTimeout(timer);
  newest += 1;
  verdict.value = { state: "checking" };
  timer = setTimeout(() => void checkNow(text), QUIET);
}

/** Check it at once; what was found. */
export async function checkNow(text: string): Promise<Verdict> {
  clearTimeout(timer);
  const mine = ++newest;
  const found = await ask(text);
  if (mine === newest) verdict.value = found;
  return found;
}

async function ask(text: string): Promise<Verdict> {
  try {
    return { state: "checked", problems: (await call("check_scenario", { text })).problems };
  } catch (error) {
    return { state: "unknown", reason: reasonOf(error) };
  }
}

// document -----------------------------------------------------------------------------------------------------------

const EMPTY: Draft = { name: "scenario", text: "", original: "" };

export const draft = signal<Draft>(EMPTY);
/** Grows when another text has come from elsewhere, which the code view then takes over. */
export const arrivals = signal(0);
export const edited = computed(() => draft.value.text !== draft.value.original);

/** What the editor waits for, during which the text cannot be changed; "": nothing. */
export const waiting = signal("");
let wish = 0; // number of the last text that was asked for: an older one that comes later does not count

/** Why nothing can be run here now, whatever is written; "": it can. */
export const obstacle = computed(() => {
  if (waiting.value !== "") return waiting.value;
  if (connection.value.state !== "open") return "There is no server to run it.";
  return metadata.value?.can_load === false ? "This server shows one run only: it cannot start another scenario." : "";
});

/** Why it cannot be run now; "": it can. */
export const hindrance = computed(() => {
  if (obstacle.value !== "") return obstacle.value;
  const found = verdict.value;
  if (found.state === "checked" && found.problems.length > 0) return "There are problems to solve first.";
  return "";
});

/** Another text takes the place of this one. */
export function take(name: string, text: string): void {
  wish += 1;
  batch(() => {
    draft.value = { name, text, original: text };
    arrivals.value += 1;
    waiting.value = "";
  });
  forgetDraft();
  checkSoon(text);
}

/** The person has changed the text. */
export function change(text: string): void {
  draft.value = { ...draft.value, text, name: nameIn(text) ?? draft.value.name };
  if (edited.value) keepDraft(draft.value);
  else forgetDraft();
  checkSoon(text);
}

/** May a changed text be replaced? */
export function mayReplace(): boolean {
  return !edited.value || window.confirm(`Throw away the changes in ${draft.value.name}?`);
}

/** What to begin with: what was given, what was being written, or what runs. */
export async function begin(initial?: { name: string; text: string }): Promise<void> {
  const kept = keptDraft();
  if (kept && draft.value === EMPTY) draft.value = kept;
  if (initial) return mayReplace() ? take(initial.name, initial.text) : resume();
  if (kept || edited.value) return resume();
  await fetched(
    "Loading what runs …",
    () => call("get_running_scenario", {}),
    (reason) => {
      tell("warning", `The running scenario cannot be shown: ${reason}`);
      take("scenario", "name: scenario\nvehicles:\n  - name: red\n    model: car.bicycle\n");
    },
  );
}

/** Take a text that the server is asked for. Nothing can be typed meanwhile: it would be thrown away. */
async function fetched(
  what: string,
  ask: () => Promise<ScenarioText>,
  failed: (reason: string) => void,
): Promise<void> {
  const mine = ++wish;
  waiting.value = what;
  try {
    const { name, text } = await ask();
    if (mine === wish) take(name, text);
  } catch (error) {
    if (mine === wish) failed(reasonOf(error));
  } finally {
    if (mine === wish) waiting.value = "";
  }
}

function resume(): void {
  wish += 1;
  waiting.value = "";
  arrivals.value += 1;
  checkSoon(draft.value.text);
}

export function reset(): void {
  if (mayReplace()) take(draft.value.name, draft.value.original);
}

export async function openDemo(name: string): Promise<void> {
  if (!mayReplace()) return;
  const ask = async () => ({ ...(await call("get_scenario", { name })), name });
  await fetched(`Loading ${name} …`, ask, (reason) => tell("error", `${name} cannot be opened: ${reason}`));
}

/** Run what is seen, which cannot be changed until it runs; whether it runs now. */
export async function run(): Promise<boolean> {
  if (obstacle.value !== "") {
    tell("warning", `Not run: ${obstacle.value}`);
    return false;
  }
  const { name, text } = draft.value;
  const reason = await held("Starting …", () => checkedAndStarted(name, text));
  if (reason !== null) tell("error", `Not run: ${reason}`);
  else if (draft.value.text === text) {
    draft.value = { ...draft.value, original: text };
    forgetDraft();
  }
  return reason === null;
}

/** Nothing can be typed while something is being done with the text. */
async function held<T>(what: string, work: () => Promise<T>): Promise<T> {
  waiting.value = what;
  try {
    return await work();
  } finally {
    waiting.value = "";
  }
}

/** Why it was not started; null: it runs. */
async function checkedAndStarted(name: string, text: string): Promise<string | null> {
  const found = await checkNow(text);
  if (found.state === "unknown") return `it could not be checked (${found.reason})`;
  if (found.state === "checked" && found.problems.length > 0) return "there are problems to solve first";
  return startScenario(name, { text });
}

export async function share(): Promise<void> {
  await copyText(await linkTo(draft.value.text), "A link with this scenario is on the clipboard.");
}
