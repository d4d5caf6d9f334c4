// The code editor itself: YAML with completion, explanations and the problems that the server finds.
import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  type CompletionContext,
  completionKeymap,
  type CompletionResult,
  startCompletion,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, indentUnit } from "@codemirror/language";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import {
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  hoverTooltip,
  keymap,
  lineNumbers,
  type Tooltip,
} from "@codemirror/view";
import type { ProblemTree } from "../net/schema";
import { look } from "./look";
import { placeOf } from "./problems";
import { docAt, type Doc, type Knowledge, suggest, type Suggestion } from "./suggest";

export interface Code {
  readonly view: EditorView;
  setText(text: string): void;
  setReadOnly(on: boolean): void;
  showProblems(problems: readonly ProblemTree[]): void;
  jumpTo(problem: ProblemTree): void;
}

interface Wishes {
  text: string;
  knowledge(): Knowledge | null; // null: not there yet
  onChange(text: string): void;
  onRun(): void;
}

const LOCKED = [EditorState.readOnly.of(true), EditorView.contentAttributes.of({ "aria-readonly": "true" })];

export function makeCode(parent: HTMLElement, wishes: Wishes): Code {
  const lock = new Compartment();
  const state = EditorState.create({ doc: wishes.text, extensions: [lock.of([]), ...extensions(wishes)] });
  const view = new EditorView({ parent, state });
  return {
    view,
    setText: (text) => setText(view, text),
    setReadOnly: (on) => view.dispatch({ effects: lock.reconfigure(on ? LOCKED : []) }),
    showProblems: (problems) => showProblems(view, problems),
    jumpTo: (problem) => jumpTo(view, problem),
  };
}

function setText(view: EditorView, insert: string): void {
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert }, selection: { anchor: 0 } });
}

function keysFor(onRun: () => void): Extension {
  const run = { key: "Mod-Enter", run: () => (onRun(), true), preventDefault: true };
  const usual = [...defaultKeymap, ...searchKeymap, ...historyKeymap, indentWithTab];
  return keymap.of([run, ...closeBracketsKeymap, ...completionKeymap, ...usual]);
}

function extensions(wishes: Wishes): Extension[] {
  return [
    lineNumbers(),
    lintGutter(),
    history(),
    yaml(),
    indentUnit.of("  "),
    bracketMatching(),
    closeBrackets(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    highlightSelectionMatches(),
    autocompletion({ override: [(context) => complete(context, wishes.knowledge())], icons: false }),
    hoverTooltip((view, at) => explain(view, at, wishes.knowledge()), { hoverTime: 350 }),
    keysFor(wishes.onRun),
    EditorView.contentAttributes.of({ "aria-label": "Scenario, YAML" }),
    EditorView.updateListener.of((update) => update.docChanged && wishes.onChange(update.state.doc.toString())),
    look,
  ];
}

function complete(context: CompletionContext, knowledge: Knowledge | null): CompletionResult | null {
  const found = knowledge && suggest(context.state.doc.toString(), context.pos, knowledge);
  // unasked only while something is being written
  if (!found || (!context.explicit && found.from === context.pos)) return null;
  return { from: found.from, options: found.options.map(completionOf), validFor: /^[\w.-]*$/ };
}

function completionOf(option: Suggestion) {
  const { label, detail, info, kind, insert, required } = option;
  const apply = (view: EditorView, _completion: unknown, from: number, to: number): void => {
    const next = view.state.sliceDoc(to, to + 1);
    const text = next === ":" ? label : insert; // the colon is there already
    const selection = { anchor: from + text.length };
    view.dispatch({ changes: { from, to, insert: text }, selection, userEvent: "input.complete" });
    if (kind === "property" && insert.endsWith(" ")) startCompletion(view); // its values, if they can be listed
  };
  const type = kind === "property" ? "property" : "enum";
  return { label, detail, info: info || label, type, boost: required ? 1 : 0, apply };
}

function explain(view: EditorView, at: number, knowledge: Knowledge | null): Tooltip | null {
  const doc = knowledge && docAt(view.state.doc.toString(), at, knowledge);
  return doc && { pos: doc.from, end: doc.to, above: true, create: () => ({ dom: explanation(doc) }) };
}

function explanation({ title, text }: Doc): HTMLElement {
  const dom = document.createElement("div");
  dom.className = "cm-doc";
  const head = document.createElement("strong");
  head.textContent = title;
  dom.append(head, text);
  return dom;
}

function showProblems(view: EditorView, problems: readonly ProblemTree[]): void {
  const text = view.state.doc.toString();
  const severity = "error" as const;
  const found = problems.map((problem) => ({ ...placeOf(text, problem), severity, message: problem.message }));
  view.dispatch(setDiagnostics(view.state, found));
}

function jumpTo(view: EditorView, problem: ProblemTree): void {
  const { from } = placeOf(view.state.doc.toString(), problem);
  view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
  view.focus();
}
