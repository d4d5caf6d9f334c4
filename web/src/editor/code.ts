// The code editor: YAML with completion, hover documentation and the problems found by the server.
import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  startCompletion,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from "@codemirror/language";
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
import { tags } from "@lezer/highlight";
import type { ProblemTree } from "../wire/schema";
import { type CompletionData, type Doc, docAt, type Suggestion, suggest } from "./completion";

const frame = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--sunk)", fontSize: "0.93rem" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--accent)", padding: "0.6rem 0" },
  ".cm-cursor": { borderLeftColor: "var(--accent)", borderLeftWidth: "2px" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 26%, transparent)",
  },
  ".cm-gutters": { backgroundColor: "var(--sunk)", color: "var(--faint)", border: "none", paddingRight: "0.3rem" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": {
    backgroundColor: "var(--chosen)",
    outline: "1px solid var(--accent)",
  },
  ".cm-searchMatch": { backgroundColor: "color-mix(in srgb, var(--amber) 30%, transparent)" },
  ".cm-panels": { backgroundColor: "var(--panel)", color: "var(--text)", borderColor: "var(--line)" },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    color: "var(--text)",
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius)",
    boxShadow: "var(--float)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "0.15rem 0.5rem" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--chosen)",
    color: "var(--text)",
  },
  ".cm-completionDetail": { color: "var(--faint)", fontStyle: "normal" },
  ".cm-completionMatchedText": { textDecoration: "none", color: "var(--accent)" },
  ".cm-tooltip.cm-completionInfo": { maxWidth: "24rem", padding: "0.45rem 0.6rem", whiteSpace: "pre-wrap" },
  ".cm-doc": { maxWidth: "28rem", padding: "0.45rem 0.6rem", whiteSpace: "pre-wrap" },
  ".cm-doc strong": { display: "block", fontFamily: "var(--mono)", color: "var(--accent)" },
  ".cm-diagnostic": { padding: "0.3rem 0.6rem" },
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--red) 1px",
    textUnderlineOffset: "3px",
  },
});

const colours = HighlightStyle.define([
  { tag: [tags.definition(tags.propertyName), tags.propertyName], color: "var(--accent)" },
  { tag: [tags.comment, tags.lineComment], color: "var(--faint)", fontStyle: "italic" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--green)" },
  { tag: [tags.labelName, tags.typeName, tags.meta, tags.keyword], color: "var(--amber)" },
  { tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace], color: "var(--soft)" },
]);

const editorTheme = [frame, syntaxHighlighting(colours)];

// diagnostics --------------------------------------------------------------------------------------------------------

interface Place {
  from: number;
  to: number;
}

const WORD_END = /[\s,:#[\]{}]/;

/** The range of the word at a line and column (both from 1); clamped to the text, empty only for empty text. */
export function placeOf(text: string, { line, column }: ProblemTree): Place {
  const lines = text.split("\n");
  const row = Math.min(Math.max(line, 1), lines.length) - 1;
  const start = lines.slice(0, row).reduce((sum, line) => sum + line.length + 1, 0);
  const words = lines[row] ?? "";
  const from = Math.min(Math.max(column, 1) - 1, words.length);
  const rest = words.slice(from);
  const length = Math.max(rest.search(WORD_END) < 0 ? rest.length : rest.search(WORD_END), 1);
  const to = Math.min(from + length, words.length);
  // past the end of the line, where something is missing: mark the last character
  return to > from ? { from: start + from, to: start + to } : { from: start + Math.max(0, from - 1), to: start + from };
}

// editor -------------------------------------------------------------------------------------------------------------

export interface Code {
  readonly view: EditorView;
  setText(text: string): void;
  setReadOnly(on: boolean): void;
  showProblems(problems: readonly ProblemTree[]): void;
  jumpTo(problem: ProblemTree): void;
}

interface CodeOptions {
  text: string;
  knowledge: Promise<CompletionData | null>; // null: unavailable
  onChange(text: string): void;
  onRun(): void;
}

const LOCKED = [EditorState.readOnly.of(true), EditorView.contentAttributes.of({ "aria-readonly": "true" })];

export function makeCode(parent: HTMLElement, options: CodeOptions): Code {
  const lock = new Compartment();
  const state = EditorState.create({ doc: options.text, extensions: [lock.of([]), ...extensions(options)] });
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
  const run = {
    key: "Mod-Enter",
    run: () => {
      onRun();
      return true;
    },
    preventDefault: true,
  };
  const usual = [...defaultKeymap, ...searchKeymap, ...historyKeymap, indentWithTab];
  return keymap.of([run, ...closeBracketsKeymap, ...completionKeymap, ...usual]);
}

function extensions(options: CodeOptions): Extension[] {
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
    autocompletion({ override: [(context) => complete(context, options.knowledge)], icons: false }),
    hoverTooltip((view, at) => explain(view, at, options.knowledge), { hoverTime: 350 }),
    keysFor(options.onRun),
    EditorView.contentAttributes.of({ "aria-label": "Scenario, YAML" }),
    EditorView.updateListener.of((update) => update.docChanged && options.onChange(update.state.doc.toString())),
    editorTheme,
  ];
}

async function complete(
  context: CompletionContext,
  knowledge: Promise<CompletionData | null>,
): Promise<CompletionResult | null> {
  const known = await knowledge;
  const suggestions = known && suggest(context.state.doc.toString(), context.pos, known);
  // without an explicit request only while typing
  if (!suggestions || (!context.explicit && suggestions.from === context.pos)) return null;
  return { from: suggestions.from, options: suggestions.options.map(completionOf), validFor: /^[\w.-]*$/ };
}

function completionOf(option: Suggestion) {
  const { label, detail, info, kind, insert, required } = option;
  const apply = (view: EditorView, _completion: unknown, from: number, to: number): void => {
    const next = view.state.sliceDoc(to, to + 1);
    const text = next === ":" ? label : insert; // the colon already exists
    const selection = { anchor: from + text.length };
    view.dispatch({ changes: { from, to, insert: text }, selection, userEvent: "input.complete" });
    if (kind === "property" && insert.endsWith(" ")) startCompletion(view); // its values, if they can be listed
  };
  const type = kind === "property" ? "property" : "enum";
  return { label, detail, info: info || label, type, boost: required ? 1 : 0, apply };
}

async function explain(
  view: EditorView,
  at: number,
  knowledge: Promise<CompletionData | null>,
): Promise<Tooltip | null> {
  const known = await knowledge;
  const doc = known && docAt(view.state.doc.toString(), at, known);
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
  const diagnostics = problems.map((problem) => ({ ...placeOf(text, problem), severity, message: problem.message }));
  view.dispatch(setDiagnostics(view.state, diagnostics));
}

function jumpTo(view: EditorView, problem: ProblemTree): void {
  const { from } = placeOf(view.state.doc.toString(), problem);
  view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
  view.focus();
}
