// The editor's head: what is being edited and everything that can be done with it.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call } from "../net/link";
import { draft, edited, hindrance, mayReplace, openDemo, reset, share, take } from "./document";
import { chooseFile, saveFile } from "./files";
import { loading } from "./loading";

interface ToolbarProps {
  onRun: () => void;
  onClose: () => void;
}

export function Toolbar({ onRun, onClose }: ToolbarProps) {
  const { name, text } = draft.value;
  const open = (): void => {
    if (mayReplace()) chooseFile(take);
  };
  return (
    <header class="dialog-head">
      <h2 class="ellipsis">
        {name}
        {edited.value && <span class="faint"> · changed</span>}
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
  const why = hindrance.value;
  return (
    <button
      type="button"
      class="button primary"
      disabled={why !== "" || starting}
      title={why || "End the run and start this one (Ctrl+Enter)"}
      onClick={onRun}
    >
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

/** The demos that come with the server. */
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
      }}
    >
      <option value="">Open a demo …</option>
      {names.value.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}
