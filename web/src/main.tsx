// The page begins here: state first, then what is seen, then the connection, then the hands.
import { effect } from "@preact/signals";
import { render } from "preact";
import { startControls } from "./control/controls";
import { watchSharedLinks } from "./editor/share";
import { reasonOf } from "./net/rpc";
import { editorDoor, galleryDoor, recordingDoor, stage, stageFailure } from "./panels/actions";
import { rememberLayout } from "./panels/layout";
import { keepLog } from "./panels/notices";
import { Shell } from "./panels/shell";
import { startShortcuts } from "./panels/shortcuts";
import { createStage } from "./scene/stage";
import { keepHistory } from "./state/clock";
import { startSession } from "./state/session";
import * as store from "./state/store";
import { expose, metadata, tell, theme } from "./state/store";

/** Where the server is: beside the page, also behind a proxy's path. */
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

/** Doors to what is loaded when it is opened; one that does not load says so. */
function hangDoors(): void {
  const failed = (what: string) => (error: unknown) => tell("error", `${what} could not be loaded: ${reasonOf(error)}`);
  editorDoor.value = () => {
    import("./editor/dialog").then((module) => module.openEditor()).catch(failed("The editor"));
  };
  galleryDoor.value = () => {
    import("./panels/gallery").then((module) => module.openGallery()).catch(failed("The gallery"));
  };
  recordingDoor.value = (file) => import("./replay/open").then((module) => module.openRecording(file));
}

/** The world view; without WebGL2 the rest of the page works all the same. */
function raiseStage(host: HTMLElement): void {
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
  expose({ store });
  rememberLayout();
  followTheme();
  followTitle();
  keepLog();
  keepHistory();
  hangDoors();
  const host = document.createElement("div");
  host.className = "stage-host";
  app.replaceChildren();
  render(<Shell host={host} />, app);
  startSession(serverUrl());
  raiseStage(host);
  startShortcuts();
  watchSharedLinks(async (scenario) => (await import("./editor/dialog")).openEditor(scenario));
}

begin();
