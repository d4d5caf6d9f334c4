// The scenario editor: a dialog over the whole page. Loaded when it is first opened.
import { effect } from "@preact/signals";
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { tell } from "../state/store";
import { reasonOf } from "../state/caller";
import { verdict } from "./checking";
import { type Code, makeCode } from "./code";
import { arrivals, begin, change, draft, run, waiting } from "./document";
import { askKnowledge } from "./knowledge";
import { Problems } from "./problems-list";
import type { Knowledge } from "./suggest";
import { Toolbar } from "./toolbar";

let host: HTMLElement | null = null;

/** Open the editor: with a text, or with what was being written, or with what runs. */
export function openEditor(initial?: { name: string; text: string }): void {
  void begin(initial);
  if (host) return;
  host = document.createElement("div");
  document.body.append(host);
  render(<Editor onClose={closeEditor} />, host);
}

export function closeEditor(): void {
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
    event.preventDefault(); // Escape closes a completion first; the button closes the editor
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
  let knowledge: Knowledge | null = null;
  askKnowledge().then(
    (found) => (knowledge = found),
    (error: unknown) => tell("warning", `No completion: ${reasonOf(error)}`),
  );
  const code = makeCode(parent, {
    text: draft.peek().text,
    knowledge: () => knowledge,
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

/** A text that came from elsewhere. */
function arrived(code: Code): void {
  arrivals.value;
  const { text } = draft.peek();
  if (code.view.state.doc.toString() !== text) code.setText(text);
}

function judged(code: Code): void {
  const found = verdict.value;
  if (found.state === "checked") code.showProblems(found.problems);
}
