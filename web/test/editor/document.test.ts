// The edited document: no typed text is lost, and the shown text runs.
import { beforeEach, expect, it, vi } from "vitest";
import { begin, change, draft, forgetDraft, openDemo, run, runBlocker, take, waiting } from "../../src/editor/document";
import { connection } from "../../src/net/connection";
import { metadata, notices } from "../../src/state/store";
import { fakeServer } from "../fake-server";

let answer: (text: string) => void = () => undefined;
const started: unknown[] = [];

function respond(method: string, params: unknown): unknown {
  if (method === "check_scenario") return { problems: [] };
  if (method === "load_scenario") started.push(params);
  return new Promise((resolve) => (answer = (text) => resolve({ name: "race", text, ignored: [] })));
}

beforeEach(() => {
  fakeServer(respond);
  forgetDraft();
  take("scenario", "");
  connection.value = { state: "open" };
  metadata.value = null;
  notices.value = [];
  started.length = 0;
});

it("is read-only until the running scenario is loaded", async () => {
  const began = begin();
  expect([waiting.value, runBlocker.value]).toEqual([
    "Loading the running scenario …",
    "Loading the running scenario …",
  ]);
  expect(await run()).toBe(false);
  expect(started).toEqual([]);
  answer("name: race\n");
  await began;
  expect([waiting.value, draft.value.text]).toEqual(["", "name: race\n"]);
});

it("keeps a newer text when an older response arrives", async () => {
  const began = begin();
  const old = answer;
  take("mine", "name: mine\n"); // a file, or a link
  expect(waiting.value).toBe("");
  old("name: race\n");
  await began;
  expect(draft.value.text).toBe("name: mine\n");
});

it("keeps a changed text, even if drafts cannot be stored", async () => {
  take("race", "name: race\n");
  change("name: race2\n");
  forgetDraft();
  await begin();
  expect(draft.value.text).toBe("name: race2\n");
});

it("is read-only while a demo is loading", async () => {
  const opening = openDemo("race");
  expect(waiting.value).toBe("Loading race …");
  answer("name: demo\n");
  await opening;
  expect([waiting.value, draft.value.text]).toEqual(["", "name: demo\n"]);
});

it("runs the shown text, and is read-only until it runs", async () => {
  take("race", "name: race\n");
  change("name: race3\n");
  const running = run();
  expect(waiting.value).toBe("Starting …");
  await vi.waitFor(() => expect(started).toEqual([{ text: "name: race3\n" }]));
  answer("");
  connection.value = { state: "connecting" };
  metadata.value = { name: "race3" } as unknown as NonNullable<typeof metadata.value>;
  connection.value = { state: "open" };
  expect(await running).toBe(true);
  expect(waiting.value).toBe("");
});
