// The document in the editor: its text, where it came from, and what can be done with it.
import { batch, computed, signal } from "@preact/signals";
import { call } from "../net/link";
import { reasonOf } from "../state/caller";
import { connection, metadata, tell } from "../state/store";
import { checkNow, checkSoon, verdict } from "./checking";
import { copyText } from "./files";
import { type Draft, forgetDraft, keepDraft, keptDraft } from "./drafts";
import { startScenario } from "./loading";
import { linkTo, nameIn } from "./share";

const EMPTY: Draft = { name: "scenario", text: "", original: "" };

export const draft = signal<Draft>(EMPTY);
/** Grows when another text has come from elsewhere, which the code view then takes over. */
export const arrivals = signal(0);
export const edited = computed(() => draft.value.text !== draft.value.original);

/** Why it cannot be run now; "": it can. */
export const hindrance = computed(() => {
  if (connection.value.state !== "open") return "There is no server to run it.";
  if (metadata.value?.can_load === false) return "This server shows one run only: it cannot start another scenario.";
  const found = verdict.value;
  if (found.state === "checked" && found.problems.length > 0) return "There are problems to solve first.";
  return "";
});

/** Another text takes the place of this one. */
export function take(name: string, text: string): void {
  batch(() => {
    draft.value = { name, text, original: text };
    arrivals.value += 1;
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
  if (kept) return resume();
  try {
    const { name, text } = await call("get_running_scenario", {});
    take(name, text);
  } catch (error) {
    tell("warning", `The running scenario cannot be shown: ${reasonOf(error)}`);
    take("scenario", "name: scenario\nvehicles:\n  - name: red\n    model: car.bicycle\n");
  }
}

function resume(): void {
  arrivals.value += 1;
  checkSoon(draft.value.text);
}

export function reset(): void {
  if (mayReplace()) take(draft.value.name, draft.value.original);
}

export async function openDemo(name: string): Promise<void> {
  if (!mayReplace()) return;
  try {
    const { text } = await call("get_scenario", { name });
    take(name, text);
  } catch (error) {
    tell("error", `${name} cannot be opened: ${reasonOf(error)}`);
  }
}

/** Run what is written; whether it runs now. */
export async function run(): Promise<boolean> {
  const { name, text } = draft.value;
  const found = await checkNow(text);
  if (hindrance.value !== "") {
    tell("warning", `Not run: ${hindrance.value}`);
    return false;
  }
  if (found.state === "unknown") {
    tell("error", `Not run: it could not be checked (${found.reason}).`);
    return false;
  }
  const reason = await startScenario(name, { text });
  if (reason !== null) tell("error", `Not run: ${reason}`);
  else if (draft.value.text === text) {
    draft.value = { ...draft.value, original: text };
    forgetDraft();
  }
  return reason === null;
}

export async function share(): Promise<void> {
  await copyText(await linkTo(draft.value.text), "A link with this scenario is on the clipboard.");
}
