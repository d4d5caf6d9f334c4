// Toasts, the log of all notices, and the connection banner.

import { effect, signal, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { type ConnectionState, connection, type PendingCall, pendingCalls, server } from "../net/connection";
import { formatCount } from "../state/format";
import { dismissNotice, type Notice, type NoticeAction, notices, preparing } from "../state/store";
import { Icon, type IconName } from "./icons";
import { Button, Empty } from "./widgets";

interface LogEntry {
  number: number;
  at: Date;
  kind: Notice["kind"];
  text: string;
}

const MOST = 500;
export const logEntries = signal<readonly LogEntry[]>([]);

/** Start logging notices; return a stop function. */
export function keepLog(): () => void {
  let last = 0;
  return effect(() => {
    const fresh = notices.value.filter(({ number }) => number > last);
    if (fresh.length === 0) return;
    last = Math.max(...fresh.map(({ number }) => number));
    const at = new Date();
    const entries = fresh.map(({ number, kind, text }) => ({ number, at, kind, text }));
    logEntries.value = [...logEntries.peek(), ...entries].slice(-MOST);
  });
}

export function LogPanel() {
  const list = useRef<HTMLOListElement>(null);
  const entries = logEntries.value;
  useLayoutEffect(() => {
    if (list.current) list.current.scrollTop = list.current.scrollHeight;
  }, [entries.length]);
  if (entries.length === 0) return <Empty icon="log" title="No log entries" />;
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
        <span class="grow">
          {formatCount(entries.length)} {entries.length === 1 ? "entry" : "entries"}
        </span>
        <Button look="small bare" label="Clear the log" text="Clear" onClick={() => (logEntries.value = [])} />
      </div>
    </>
  );
}

// toasts -------------------------------------------------------------------------------------------------------------

const ICONS: Readonly<Record<Notice["kind"], IconName>> = { info: "info", warning: "warn", error: "warn" };

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {notices.value.map((notice) => (
        <Toast key={notice.number} notice={notice} />
      ))}
      {pendingCommands(pendingCalls.value).map(({ method, since }) => (
        <PendingToast key={`${method} ${since}`} method={method} since={since} />
      ))}
    </div>
  );
}

const REQUESTS = /^(get_|list_|inspect|ping|authenticate|subscribe|set_columns|set_rate)/; // of the page, not the user
const WORDS: Readonly<Record<string, string>> = {
  override: "override",
  simulation_step: "step",
  spawn_robots: "spawn",
  load_scenario: "start the scenario",
};

/** The user's pending commands, one of each kind. */
export function pendingCommands(pending: readonly PendingCall[]): PendingCall[] {
  const commands = pending.filter(({ method }) => !REQUESTS.test(method));
  return [...new Map(commands.map((command) => [command.method, command])).values()];
}

/** A command that takes long is pending, not refused. */
function PendingToast({ method, since }: PendingCall) {
  const seconds = useSignal(2);
  useEffect(() => {
    const timer = setInterval(() => (seconds.value = Math.round((performance.now() - since) / 1000)), 500);
    return () => clearInterval(timer);
  }, []);
  const word = WORDS[method] ?? method.replaceAll("_", " ");
  return (
    <div class="toast info pending">
      <Icon name="info" />
      <span>
        {sentence(`${word} pending`)} The server is busy, e.g. compiling: {seconds.value} s
      </span>
    </div>
  );
}

function Action({ number, text, act }: NoticeAction & { number: number }) {
  const run = () => {
    dismissNotice(number);
    act();
  };
  return <Button look="small" label={text} text={text} onClick={run} />;
}

function Toast({ notice }: { notice: Notice }) {
  useEffect(() => {
    const left = notice.until - performance.now();
    if (!Number.isFinite(left)) return undefined;
    const timer = setTimeout(() => dismissNotice(notice.number), Math.max(0, left));
    return () => clearTimeout(timer);
  }, [notice.number]);
  return (
    <div class={`toast ${notice.kind}`}>
      <Icon name={ICONS[notice.kind]} />
      <span>{notice.text}</span>
      {notice.action && <Action number={notice.number} {...notice.action} />}
      <Button look="bare small" icon="close" label="Dismiss" onClick={() => dismissNotice(notice.number)} />
    </div>
  );
}

// connection banner --------------------------------------------------------------------------------------------------

export function Banner() {
  const now = connection.value;
  if ((now.state === "lost" || now.state === "connecting") && now.ended && now.note === undefined) return <Ended />;
  if (now.state === "lost" && now.note === undefined) return <Lost lost={now} />;
  if (now.state === "refused") return <Refused reason={now.reason} />;
  if (preparing.value !== "") return <Preparing what={preparing.value} />;
  return null;
}

function Preparing({ what }: { what: string }) {
  return (
    <div class="banner" role="status">
      <Icon name="info" />
      <span>{sentence(what.startsWith("starting ") ? what : `Preparing the simulation: ${what}`)}</span>
    </div>
  );
}

/** The last picture stays. The page still tries to connect, because a server may return. */
function Ended() {
  return (
    <div class="banner" role="status">
      <Icon name="info" />
      <span>The simulation has ended.</span>
      <Button look="small" label="Reconnect" text="Reconnect" onClick={() => server.reconnectNow()} />
    </div>
  );
}

function Lost({ lost }: { lost: Extract<ConnectionState, { state: "lost" }> }) {
  const seconds = useSignal(secondsUntil(lost.retryAt));
  useEffect(() => {
    const count = () => {
      seconds.value = secondsUntil(lost.retryAt);
    };
    count();
    const timer = setInterval(count, 250);
    return () => clearInterval(timer);
  }, [lost.retryAt]);
  return (
    <div class="banner" role="alert">
      <Icon name="warn" />
      <span>
        Connection lost{causeOf(lost.reason)}. {seconds.value > 0 ? `Retrying in ${seconds.value} s.` : "Retrying now."}
      </span>
      <Button look="small" label="Reconnect now" text="Reconnect now" onClick={() => server.reconnectNow()} />
    </div>
  );
}

function secondsUntil(time: number): number {
  return Math.max(0, Math.ceil((time - performance.now()) / 1000));
}

function Refused({ reason }: { reason: string }) {
  const token = useSignal("");
  const submit = (event: Event) => {
    event.preventDefault();
    if (token.value.trim() !== "") server.useToken(token.value.trim());
  };
  return (
    <form class="banner" aria-label="Token" onSubmit={submit}>
      <Icon name="key" />
      <span>{sentence(reason || "the server requires a token")} The server printed it on startup.</span>
      <input
        class="field small"
        type="password"
        aria-label="Token"
        placeholder="Token"
        autocomplete="off"
        value={token.value}
        onInput={(event) => (token.value = event.currentTarget.value)}
      />
      <button type="submit" class="button small primary">
        Connect
      </button>
    </form>
  );
}

/** The reason, without what the banner already shows. */
function causeOf(reason: string): string {
  const cause = (reason.split(";")[0] ?? "").replace(/[.\s]+$/, "");
  return cause === "" ? "" : `: ${cause}`;
}

/** The server's text as a sentence. */
function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1).replace(/[.\s]+$/, "")}.`;
}
