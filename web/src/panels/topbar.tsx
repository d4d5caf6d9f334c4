// The bar at the top: who we are, what runs, how time passes, and how the connection is.
import { connection, metadata, pulse, source, theme } from "../state/store";
import { ClockReadout } from "./clock";
import { editorDoor, galleryDoor, recordingDoor } from "./doors";
import { Logo } from "./icons";
import { helpOpen } from "./layout";
import { chooseRecording } from "./recordings";
import { Button } from "./parts";
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
  const { name, description } = metadata.value ?? { name: "", description: "" };
  const shown = source.value && source.value.kind !== "live" ? source.value.label : name;
  return (
    <div class="scenario" title={description}>
      <h1 class="ellipsis">{shown || "No scenario yet"}</h1>
      {description !== "" && <p class="ellipsis">{description}</p>}
    </div>
  );
}

function State() {
  const now = connection.value;
  const recording = source.value?.kind === "recording" || metadata.value?.recording != null;
  return (
    <div class="state">
      {now.state === "open" && pulse.value.slowed && <SlowChip />}
      {recording && now.state === "open" && <span class="chip">recording</span>}
      <span class={`chip ${CHIPS[now.state].look}`} title={CHIPS[now.state].title} role="status">
        <span class="dot" />
        <span class={now.state === "open" ? "text" : ""}>{CHIPS[now.state].text}</span>
        <span class="visually-hidden">{CHIPS[now.state].title}</span>
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

function SlowChip() {
  const title = `This page cannot keep up: it asks for ${pulse.value.granted.toFixed(0)} moments a second now`;
  return (
    <span class="chip warn" title={title}>
      <span class="dot" />
      slowed to {pulse.value.granted.toFixed(0)} Hz
    </span>
  );
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
