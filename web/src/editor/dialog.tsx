// The scenario editor dialog. Loaded on first use.
import { effect, useSignal } from "@preact/signals";
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { call, reasonOf } from "../net/connection";
import { notices, showNotice } from "../state/store";
import type { ProblemTree } from "../wire/schema";
import { type Code, makeCode } from "./code";
import { requestCompletionData } from "./completion";
import {
  arrivals,
  begin,
  change,
  draft,
  edited,
  mayReplace,
  obstacle,
  openDemo,
  reset,
  run,
  runBlocker,
  share,
  take,
  validation,
  waiting,
} from "./document";
import { chooseFile, loading, saveFile } from "./files";

function Problems({ onJump }: { onJump: (problem: ProblemTree) => void }) {
  const checked = validation.value;
  const problems = checked.state === "checked" ? checked.problems : [];
  return (
    <footer class="editor-problems">
      {problems.length > 0 && (
        <ol aria-label="Problems">
          {problems.map((problem, k) => (
            <li key={k}>
              <button type="button" onClick={() => onJump(problem)}>
                <span class="place">
                  {problem.line}:{problem.column}
                </span>
                {problem.message}
              </button>
            </li>
          ))}
        </ol>
      )}
      <p class="row" role="status">
        <Summary />
        <Newest />
        <span class="faint">
          <kbd>Ctrl Space</kbd> complete, <kbd>Ctrl Enter</kbd> run
        </span>
      </p>
    </footer>
  );
}

/** An open dialog covers the notices, so the newest is shown here, too. */
function Newest() {
  const notice = obstacle.value === "" ? notices.value.at(-1) : undefined; // the reason that blocks running comes first
  return <span class={`grow ellipsis ${notice?.kind === "info" ? "faint" : "amber"}`}>{notice?.text}</span>;
}

function Summary() {
  const checked = validation.value;
  if (obstacle.value !== "") return <span class={waiting.value === "" ? "amber" : "faint"}>{obstacle.value}</span>;
  if (checked.state === "checking") return <span class="faint">Checking …</span>;
  if (checked.state === "unknown") return <span class="amber">Not checked: {checked.reason}</span>;
  const count = checked.problems.length;
  if (count > 0) return <span class="red">{count === 1 ? "1 problem" : `${count} problems`}</span>;
  return <span class="green">No problems</span>;
}

// toolbar ------------------------------------------------------------------------------------------------------------

interface ToolbarProps {
  onRun: () => void;
  onClose: () => void;
}

function Toolbar({ onRun, onClose }: ToolbarProps) {
  const { name, text } = draft.value;
  const open = (): void => {
    if (mayReplace()) chooseFile(take);
  };
  return (
    <header class="dialog-head">
      <h2 class="ellipsis">
        {name}
        {edited.value && <span class="faint"> · modified</span>}
      </h2>
      <Demos />
      <Action label="Open a file" onClick={open} />
      <Action label="Download" onClick={() => saveFile(name, text)} />
      <Action label="Copy link" onClick={() => void share()} />
      <Action label="Reset" disabled={!edited.value} onClick={reset} />
      <RunButton onRun={onRun} />
      <Action label="Close" onClick={onClose} />
    </header>
  );
}

function RunButton({ onRun }: { onRun: () => void }) {
  const starting = loading.value !== null;
  const why = runBlocker.value;
  return (
    <button
      type="button"
      class="button primary"
      disabled={why !== "" || starting}
      title={why || "Stop this run and start the edited scenario (Ctrl+Enter)"}
      onClick={onRun}>
      {starting ? "Starting …" : "Run"}
    </button>
  );
}

function Action({ label, disabled = false, onClick }: { label: string; disabled?: boolean; onClick: () => void }) {
  return (
    <button type="button" class="button" disabled={disabled} onClick={onClick}>
      {label}
    </button>
  );
}

/** Demos available on the server. */
function Demos() {
  const names = useSignal<readonly string[]>([]);
  useEffect(() => {
    call("list_scenarios", {}).then(
      ({ scenarios }) => (names.value = scenarios.map(({ name }) => name)),
      () => undefined, // the list stays empty
    );
  }, []);
  return (
    <select
      class="select"
      aria-label="Open a demo"
      value=""
      disabled={names.value.length === 0}
      onChange={(event) => {
        const { value } = event.currentTarget;
        event.currentTarget.value = "";
        if (value) void openDemo(value);
      }}>
      <option value="">Open a demo …</option>
      {names.value.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}

// dialog -------------------------------------------------------------------------------------------------------------

let host: HTMLElement | null = null;

/** Open the editor with a text, the stored draft, or the running scenario. */
export function openEditor(initial?: { name: string; text: string }): void {
  void begin(initial);
  if (host) return;
  host = document.createElement("div");
  document.body.append(host);
  render(<Editor onClose={closeEditor} />, host);
}

function closeEditor(): void {
  if (!host) return;
  render(null, host);
  host.remove();
  host = null;
}

function Editor({ onClose }: { onClose(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const place = useRef<HTMLDivElement>(null);
  const code = useRef<Code | null>(null);
  useEffect(() => {
    dialog.current?.showModal();
    if (!place.current) return;
    const made = startCode(place.current, onClose);
    code.current = made.code;
    return made.stop;
  }, []);
  const runIt = (): void => void run().then((runs) => runs && onClose());
  const onCancel = (event: Event): void => {
    event.preventDefault(); // Escape closes a completion first; a button closes the editor
  };
  return (
    <dialog class="editor" ref={dialog} aria-label="Scenario editor" onCancel={onCancel} onClose={onClose}>
      <Toolbar onRun={runIt} onClose={onClose} />
      <div class={waiting.value === "" ? "editor-code" : "editor-code waiting"} ref={place} />
      <Problems onJump={(problem) => code.current?.jumpTo(problem)} />
    </dialog>
  );
}

function startCode(parent: HTMLElement, onClose: () => void): { code: Code; stop(): void } {
  const knowledge = requestCompletionData().catch((error: unknown) => {
    showNotice("warning", `Completion unavailable: ${reasonOf(error)}`);
    return null;
  });
  const code = makeCode(parent, {
    text: draft.peek().text,
    knowledge,
    onChange: (text) => text !== draft.peek().text && change(text),
    onRun: () => void run().then((runs) => runs && onClose()),
  });
  code.view.focus();
  const stops = [
    effect(() => arrived(code)),
    effect(() => judged(code)),
    effect(() => code.setReadOnly(waiting.value !== "")),
    () => code.view.destroy(),
  ];
  return { code, stop: () => stops.forEach((stop) => stop()) };
}

/** A text from elsewhere. */
function arrived(code: Code): void {
  arrivals.value;
  const { text } = draft.peek();
  if (code.view.state.doc.toString() !== text) code.setText(text);
}

function judged(code: Code): void {
  const checked = validation.value;
  if (checked.state === "checked") code.showProblems(checked.problems);
}
