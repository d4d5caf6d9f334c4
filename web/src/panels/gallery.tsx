// The gallery: the server's scenarios as cards with previews; start or edit one, or open a recording.

import { signal } from "@preact/signals";
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { copyText, loading, startScenario } from "../editor/files";
import { linkTo } from "../editor/share";
import { call, connection, reasonOf } from "../net/connection";
import { formatVehicles } from "../state/format";
import { live, metadata, notices, showNotice, tool } from "../state/store";
import type { ScenarioCardTree } from "../wire/schema";
import { chooseRecording, newTrack, recordingOpener } from "./actions";
import { Button, Empty } from "./widgets";

type Cards =
  | { state: "asking" }
  | { state: "loaded"; cards: readonly ScenarioCardTree[] }
  | { state: "failed"; reason: string };

const cards = signal<Cards>({ state: "asking" });
let host: HTMLElement | null = null;

export function openGallery(): void {
  void askCards();
  if (host) return;
  host = document.createElement("div");
  document.body.append(host);
  render(<Gallery />, host);
}

function closeGallery(): void {
  if (!host) return;
  render(null, host);
  host.remove();
  host = null;
}

async function askCards(): Promise<void> {
  try {
    cards.value = { state: "loaded", cards: (await call("list_scenarios", {})).scenarios };
  } catch (error) {
    cards.value = { state: "failed", reason: reasonOf(error) };
  }
}

function Gallery() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog class="gallery" ref={dialog} aria-label="Scenario gallery" onClose={closeGallery}>
      <header class="dialog-head">
        <h2>Scenarios</h2>
        <Button look="bare" icon="close" label="Close" onClick={closeGallery} />
      </header>
      <Content />
      <Foot />
    </dialog>
  );
}

function Content() {
  const now = cards.value;
  if (now.state === "asking") return <Empty icon="gallery" title="Loading scenarios …" />;
  if (now.state === "failed") {
    return (
      <Empty icon="gallery" title="Cannot list the scenarios">
        <p>{now.reason}</p>
        <Button label="Try again" text="Try again" onClick={() => void askCards()} />
      </Empty>
    );
  }
  if (now.cards.length === 0) return <Empty icon="gallery" title="No scenarios available" />;
  return (
    <ul class="gallery-cards">
      {now.cards.map((card) => (
        <Card key={card.name} {...card} />
      ))}
    </ul>
  );
}

function Card({ name, description, vehicles, picture }: ScenarioCardTree) {
  const runs = metadata.value?.name === name;
  return (
    <li class={runs ? "gallery-card running" : "gallery-card"}>
      {picture === null ? (
        <div class="picture" aria-hidden="true">
          {name}
        </div>
      ) : (
        <img class="picture" src={picture} alt={`Preview of ${name}`} loading="lazy" />
      )}
      <div class="body">
        <h3>
          {name}
          <span class="faint">{formatVehicles(vehicles)}</span>
        </h3>
        <p>{description}</p>
        <div class="row">
          <StartButton name={name} runs={runs} />
          <Button label={`Edit ${name}`} text="Edit" onClick={() => void withText(name, edit)} />
          <Button
            look="bare"
            label={`Copy a link to ${name}`}
            text="Copy link"
            onClick={() => void withText(name, copy)}
          />
        </div>
      </div>
    </li>
  );
}

function StartButton({ name, runs }: { name: string; runs: boolean }) {
  const starting = loading.value === name;
  const why = startBlocker();
  return (
    <Button
      look="primary"
      label={runs ? `Restart ${name}` : `Start ${name}`}
      text={starting ? "Starting …" : runs ? "Restart" : "Start"}
      title={why || `Stop this run and start ${name}`}
      disabled={why !== "" || loading.value !== null}
      onClick={() => void start(name)}
    />
  );
}

function startBlocker(): string {
  if (connection.value.state !== "open") return "Not connected to a server";
  return metadata.value?.can_load === false ? "Scenario switching is disabled for this run" : "";
}

function Foot() {
  const starting = loading.value;
  const notice = startBlocker() || (notices.value.at(-1)?.text ?? ""); // an open dialog covers the notices
  return (
    <footer class="gallery-foot">
      <span class="grow faint" role="status">
        {starting === null ? notice : `Starting ${starting}; the page reconnects automatically`}
      </span>
      <Button
        icon="track"
        label="Draw a new track"
        text="New track"
        disabled={!live.value}
        onClick={() => {
          closeGallery();
          newTrack.value = true;
          tool.value = "track";
        }}
      />
      <Button
        icon="open"
        label="Open a recording"
        text="Open a recording"
        disabled={recordingOpener.value === null}
        onClick={() => {
          closeGallery();
          chooseRecording();
        }}
      />
    </footer>
  );
}

async function start(name: string): Promise<void> {
  const reason = await startScenario(name, { name });
  if (reason === null) closeGallery();
  else showNotice("error", `Cannot start ${name}: ${reason}`);
}

async function withText(name: string, use: (name: string, text: string) => Promise<void>): Promise<void> {
  try {
    const { text } = await call("get_scenario", { name });
    await use(name, text);
  } catch (error) {
    showNotice("error", `Cannot read ${name}: ${reasonOf(error)}`);
  }
}

async function edit(name: string, text: string): Promise<void> {
  const { openEditor } = await import("../editor/dialog"); // loads the code editor
  closeGallery();
  openEditor({ name, text });
}

async function copy(name: string, text: string): Promise<void> {
  await copyText(await linkTo(text), `Link to ${name} copied to the clipboard`);
}
