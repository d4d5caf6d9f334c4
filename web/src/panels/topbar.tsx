// The top bar: scenario, clock, connection, and menus.

import { useComputed } from "@preact/signals";
import { connection } from "../net/connection";
import { holdsClock, releaseClock } from "../state/clock";
import { formatCount, formatFactor, formatTime } from "../state/format";
import { clock, externallyStepped, live, metadata, pageRates, preparing, source, theme } from "../state/store";
import { chooseRecording, editorOpener, galleryOpener, recordingOpener } from "./actions";
import { Logo } from "./icons";
import { helpOpen } from "./layout";
import { IDLE, isOpened, isPaused, shownPace, shownRate, shownTime } from "./timeline-model";
import { Transport } from "./transport";
import { Button } from "./widgets";

const BEHIND = 0.9; // relative to the target pace: slower is highlighted

function ClockReadout() {
  return (
    <div class="clock number" role="group" aria-label="Clock">
      <Time />
      <Factor />
      <Tick />
      <Owner />
    </div>
  );
}

function Time() {
  const text = useComputed(() => formatTime(shownTime(source.value).time));
  return (
    <span class="time" title="Simulated time">
      {text}
    </span>
  );
}

function Factor() {
  if (externallyStepped.value) {
    return (
      <span class="factor" title={`Not running: ${IDLE}`}>
        stepped
      </span>
    );
  }
  if (source.value?.kind === "buffer" || isOpened(source.value)) {
    return (
      <span class="factor" title="Playback speed">
        {isPaused() ? "paused" : formatFactor(shownPace())}
      </span>
    );
  }
  return <Measured />;
}

function Measured() {
  const { factor, pace, paused } = clock.value;
  const behind = !paused && pace > 0 && factor < BEHIND * pace;
  const title = behind ? `Real-time factor: behind the target pace of ${pace}` : "Real-time factor: simulated s per s";
  return (
    <span class={`factor ${behind ? "behind" : ""}`} title={title}>
      {paused ? "paused" : formatFactor(factor)}
    </span>
  );
}

function Tick() {
  const text = useComputed(() => `tick ${formatCount(shownTime(source.value).tick)}`);
  return <span class="small">{text}</span>;
}

/** A client owns the clock after it has stepped, until it releases it. */
function Owner() {
  const { owner } = clock.value;
  if (isOpened(source.value) || (owner === "" && !holdsClock.value)) return <Rate />;
  if (holdsClock.value) return <ReleaseClock />;
  const title = `${owner} controls the clock until it releases it or disconnects`;
  return (
    <span class="owner" title={title}>
      by {owner.startsWith("web client ") ? "another page" : owner}
    </span>
  );
}

function Rate() {
  const known = metadata.value !== null || isOpened(source.value);
  return <span class="small">{known ? `${formatCount(shownRate())} Hz` : ""}</span>;
}

function ReleaseClock() {
  return (
    <button
      type="button"
      class="owner mine"
      title="You control the clock. Release it to resume."
      disabled={!live.value}
      onClick={() => void releaseClock()}>
      release clock
    </button>
  );
}

// bar ----------------------------------------------------------------------------------------------------------------

export function TopBar() {
  return (
    <header class="topbar">
      <div class="brand">
        <Logo />
        <span class="wordmark">Paddock</span>
      </div>
      <Scenario />
      <Transport />
      <ClockReadout />
      <State />
      <Actions />
    </header>
  );
}

function Scenario() {
  const shown = source.value;
  const opened = isOpened(shown) ? shown.about : null;
  const { name, description } = opened ?? metadata.value ?? { name: "", description: "" };
  return (
    <div class="scenario" title={description}>
      <h1 class="ellipsis">{name || "No scenario"}</h1>
      {description !== "" && <p class="ellipsis">{description}</p>}
    </div>
  );
}

function State() {
  const { state } = connection.value;
  const recording = source.value?.kind === "recording" || metadata.value?.recording != null;
  const { look, text, title } = chipOf(state);
  return (
    <div class="state">
      {recording && state === "open" && <span class="chip">recording</span>}
      <span class={`chip connection ${look}`} title={title} role="status">
        <span class="dot" />
        <span class={state === "open" ? "text" : ""}>{text}</span>
        <span class="visually-hidden">{title}</span>
      </span>
    </div>
  );
}

const CHIPS = {
  connecting: { look: "warn", text: "connecting", title: "Connecting to the server" },
  open: { look: "good", text: "live", title: "Connected to the server" },
  lost: { look: "bad", text: "disconnected", title: "Connection lost" },
  refused: { look: "bad", text: "refused", title: "The server requires a token" },
} as const;

function chipOf(state: keyof typeof CHIPS) {
  if (state === "open" && pageRates.value.slowed) return slowChip();
  if (preparing.value === "") return CHIPS[state];
  const [word = ""] = preparing.value.split(" ");
  return { look: "warn", text: word === "starting" ? word : "preparing", title: preparing.value };
}

/** Replaces the usual chip, so that nothing else in the bar moves. */
function slowChip() {
  const rate = pageRates.value.granted.toFixed(0);
  return { look: "warn", text: "slowed", title: `The page cannot keep up: update rate reduced to ${rate} Hz` };
}

function Actions() {
  const dark = theme.value === "dark";
  return (
    <nav class="actions" aria-label="Page">
      <Button
        look="bare"
        icon="gallery"
        label="Scenario gallery"
        disabled={galleryOpener.value === null}
        onClick={() => galleryOpener.value?.()}
      />
      <Button
        look="bare"
        icon="editor"
        label="Scenario editor"
        disabled={editorOpener.value === null}
        onClick={() => editorOpener.value?.()}
      />
      <Button
        look="bare"
        icon="open"
        label="Open a recording"
        disabled={recordingOpener.value === null}
        onClick={chooseRecording}
      />
      <Button
        look="bare"
        icon={dark ? "sun" : "moon"}
        label={dark ? "Light theme" : "Dark theme"}
        onClick={() => (theme.value = dark ? "light" : "dark")}
      />
      <Button
        look="bare"
        icon="help"
        label="Keyboard shortcuts"
        title="Keyboard shortcuts (?)"
        onClick={() => (helpOpen.value = true)}
      />
    </nav>
  );
}
