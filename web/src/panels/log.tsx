// The log: notices and refusals that have come and gone.
import { useLayoutEffect, useRef } from "preact/hooks";
import { formatCount } from "./format";
import { Icon } from "./icons";
import { logbook } from "./logbook";
import { Button, Empty } from "./parts";

export function LogPanel() {
  const list = useRef<HTMLOListElement>(null);
  const entries = logbook.value;
  useLayoutEffect(() => {
    if (list.current) list.current.scrollTop = list.current.scrollHeight;
  }, [entries.length]);
  if (entries.length === 0) return <Empty icon="log" title="Nothing to report" />;
  return (
    <>
      <ol class="panel-body" ref={list} aria-label="Log" tabIndex={0}>
        {entries.map(({ number, at, kind, text }) => (
          <li key={number} class={`log-row ${kind}`}>
            <span class="number faint">{at.toLocaleTimeString("en-GB")}</span>
            <Icon name={kind === "info" ? "info" : "warn"} />
            <span>{text}</span>
          </li>
        ))}
      </ol>
      <div class="panel-foot">
        <span class="grow">{formatCount(entries.length)} entries</span>
        <Button look="small bare" label="Clear the log" text="Clear" onClick={() => (logbook.value = [])} />
      </div>
    </>
  );
}
