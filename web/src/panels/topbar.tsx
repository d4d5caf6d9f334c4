// The top bar: scenario, clock, connection, and menus.
import { useComputed } from "@preact/signals";
import { connection } from "../net/connection";
import { giveBack, holding } from "../state/clock";
import { formatCount } from "../state/removed-vehicles";
import { clock, idle, live, metadata, preparing, pulse, source, theme } from "../state/store";
import { chooseRecording, editorDoor, galleryDoor, recordingDoor } from "./actions";
import { formatFactor, formatTime } from "./format";
import { Logo } from "./icons";
import { helpOpen } from "./layout";
import { IDLE, isOpened, isPaused, momentOf, shownPace, shownRate } from "./timeline-model";
import { Transport } from "./transport";
import { Button } from "./widgets";

const BEHIND = 0.9; // of the wanted pace: below, it is said

export function ClockReadout() {
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
  const text = useComputed(() => formatTime(momentOf(source.value).time));
  return (
    <span class="time" title="Simulated time">
      {text}
    </span>
  );
}

function Factor() {
  if (idle.value) {
    return (
      <span class="factor" title={`Time does not pass by itself: ${IDLE}`}>
        idle
      </span>
    );
  }
  if (source.value?.kind === "buffer" || isOpened(source.value)) {
    return (
      <span class="factor" title="How fast it is played">
        {isPaused() ? "held" : formatFactor(shownPace())}
      </span>
    );
  }
  return <Measured />;
}

function Measured() {
  const { factor, pace, paused } = clock.value;
  const behind = !paused && pace > 0 && factor < BEHIND * pace;
  const title = behind ? `Real-time factor: behind the wanted pace of ${pace}` : "Real-time factor: simulated s per s";
  return (
    <span class={`factor ${behind ? "behind" : ""}`} title={title}>
      {paused ? "held" : formatFactor(factor)}
    </span>
  );
}

function Tick() {
  const text = useComputed(() => `tick ${formatCount(momentOf(source.value).tick)}`);
  return <span class="small">{text}</span>;
}

/** Whoever has taken the clock by stepping keeps it until it lets go. */
function Owner() {
  const { owner } = clock.value;
  if (isOpened(source.value) || (owner === "" && !holding.value)) return <Rate />;
  if (holding.value) return <GiveBack />;
  const title = `${owner} has the clock: time passes only when it says so, until it lets go or leaves`;
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

function GiveBack() {
  return (
    <button
      type="button"
      class="owner mine"
      title="You have the clock, because you stepped: nobody else can let time pass. Give it back, and time goes on."
      disabled={!live.value}
      onClick={() => void giveBack()}
    >
      give clock back
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
      <h1 class="ellipsis">{name || "No scenario yet"}</h1>
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
  connecting: { look: "warn", text: "connecting", title: "Looking for the server" },
  open: { look: "good", text: "live", title: "Connected to the server" },
  lost: { look: "bad", text: "server gone", title: "The server does not answer" },
  refused: { look: "bad", text: "refused", title: "The server wants a token" },
} as const;

function chipOf(state: keyof typeof CHIPS) {
  if (state === "open" && pulse.value.slowed) return slowChip();
  return preparing.value === "" ? CHIPS[state] : { look: "warn", text: "preparing", title: preparing.value };
}

/** In the place of the usual one: nothing else in the bar may move for it. */
function slowChip() {
  const rate = pulse.value.granted.toFixed(0);
  return { look: "warn", text: "slowed", title: `This page cannot keep up: it asks for ${rate} moments a second now` };
}

function Actions() {
  const dark = theme.value === "dark";
  return (
    <nav class="actions" aria-label="Page">
      <Button
        look="bare"
        icon="gallery"
        label="Scenario gallery"
        disabled={galleryDoor.value === null}
        onClick={() => galleryDoor.value?.()}
      />
      <Button
        look="bare"
        icon="editor"
        label="Scenario editor"
        disabled={editorDoor.value === null}
        onClick={() => editorDoor.value?.()}
      />
      <Button
        look="bare"
        icon="open"
        label="Open a recording"
        disabled={recordingDoor.value === null}
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
