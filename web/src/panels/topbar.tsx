// The bar at the top: who we are, what runs, how time passes, and how the connection is.
import { connection, metadata, preparing, pulse, source, theme } from "../state/store";
import { ClockReadout } from "./clock";
import { editorDoor, galleryDoor, recordingDoor } from "./doors";
import { Logo } from "./icons";
import { helpOpen } from "./layout";
import { chooseRecording } from "./recordings";
import { Button } from "./parts";
import { isOpened } from "./timelinemodel";
import { Transport } from "./transport";

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
