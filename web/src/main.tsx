// Entry point: state, page, connection, world view, input.
import { effect } from "@preact/signals";
import { render } from "preact";
import { startControls } from "./control/controls";
import { watchSharedLinks } from "./editor/share";
import { connection, reasonOf } from "./net/connection";
import { editorOpener, galleryOpener, recordingOpener, stage, stageFailure } from "./panels/actions";
import { rememberLayout } from "./panels/layout";
import { keepLog } from "./panels/notices";
import { Shell } from "./panels/shell";
import { startShortcuts } from "./panels/shortcuts";
import { createStage } from "./scene/stage";
import { recordFigures } from "./state/clock";
import { withLateStyles } from "./state/files";
import { startSession } from "./state/session";
import * as store from "./state/store";
import { expose, metadata, showNotice, theme } from "./state/store";

/** The server's address, relative to the page, also behind a proxy's path. */
function serverUrl(): string {
  const url = new URL("ws", new URL(".", window.location.href));
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}

function followTheme(): void {
  effect(() => {
    document.documentElement.dataset["theme"] = theme.value;
  });
}

function followTitle(): void {
  effect(() => {
    const name = metadata.value?.name;
    document.title = name ? `${name} – Paddock` : "Paddock";
  });
}

/** Dialogs and code that are loaded on first use. */
function registerOpeners(): void {
  const failed = (what: string) => (error: unknown) => showNotice("error", `Cannot load ${what}: ${reasonOf(error)}`);
  editorOpener.value = () => {
    withLateStyles(import("./editor/dialog"))
      .then((module) => module.openEditor())
      .catch(failed("the editor"));
  };
  galleryOpener.value = () => {
    withLateStyles(import("./panels/gallery"))
      .then((module) => module.openGallery())
      .catch(failed("the gallery"));
  };
  recordingOpener.value = (file) => import("./replay/open").then((module) => module.openRecording(file));
}

/** The world view; the rest of the page works without WebGL2. */
function createWorldView(host: HTMLElement): void {
  try {
    const made = createStage(host);
    stage.value = made;
    expose({ stage: made });
    startControls(made);
  } catch (error) {
    stageFailure.value = reasonOf(error);
    startControls(null);
  }
}

function begin(): void {
  const app = document.getElementById("app");
  if (app === null) return;
  expose({ store: { ...store, connection } });
  rememberLayout();
  followTheme();
  followTitle();
  keepLog();
  recordFigures();
  registerOpeners();
  const host = document.createElement("div");
  host.className = "stage-host";
  app.replaceChildren();
  render(<Shell host={host} />, app);
  startSession(serverUrl());
  createWorldView(host);
  startShortcuts();
  watchSharedLinks(async (scenario) => (await withLateStyles(import("./editor/dialog"))).openEditor(scenario));
}

begin();
