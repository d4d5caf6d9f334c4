// The toolbar over the world: cameras, tools, colours, pictures.
import { exportPng, recordingVideo, startVideo, stopVideo } from "../control/controls";
import { canColour } from "../state/colouring";
import { blockedAmong } from "../state/controllers";
import { scenery } from "../state/scenery";
import {
  type CameraMode,
  type ColouringKind,
  camera,
  colouring,
  live,
  readOnlyReason,
  roster,
  selection,
  showNotice,
  type Tool,
  tool,
} from "../state/store";
import { setCamera, stage } from "./actions";
import type { IconName } from "./icons";
import { showRight } from "./layout";
import { Button } from "./widgets";

const CAMERAS: readonly [CameraMode, IconName, string, string][] = [
  ["orbit", "orbit", "Orbit camera", "1"],
  ["chase", "chase", "Chase camera", "2"],
  ["top", "top", "Top view", "3"],
  ["fpv", "fpv", "First-person camera", "4"],
];

const TOOLS: readonly [Tool, IconName, string, string][] = [
  ["select", "select", "Select", "V"],
  ["box", "box", "Select with a box", "B"],
  ["go", "go", "Go to: send the selected vehicles to a place", "T"],
  ["route", "route", "Draw a route for the selected vehicles", "R"],
  ["spawn", "spawn", "Spawn vehicles", "N"],
];

const COLOURINGS: readonly [ColouringKind, string][] = [
  ["fleet", "Fleet"],
  ["speed", "Speed"],
  ["battery", "Battery"],
  ["altitude", "Altitude"],
  ["signal", "Signal"],
  ["state", "State"],
];

export function ToolBar() {
  return (
    <div class="floating toolbar" role="toolbar" aria-label="View">
      <div class="group" role="group" aria-label="Camera">
        {CAMERAS.map(([mode, icon, label, key]) => (
          <Button
            key={mode}
            look="bare"
            icon={icon}
            label={label}
            title={`${label} (${key})`}
            pressed={camera.value === mode}
            onClick={() => setCamera(mode)}
          />
        ))}
      </div>
      <span class="rule" />
      <div class="group" role="group" aria-label="Tool">
        {TOOLS.map(([name, icon, label, key]) => (
          <Button
            key={name}
            look="bare"
            icon={icon}
            label={label}
            title={refusal(name) !== "" ? `${label}: ${refusal(name)}` : `${label} (${key})`}
            pressed={tool.value === name}
            disabled={(needsLive(name) && !live.value) || refusal(name) !== ""}
            onClick={() => chooseTool(name)}
          />
        ))}
        {(scenery.value?.track ?? null) !== null && (
          <Button
            look="bare"
            icon="track"
            label="Edit the track"
            title={readOnlyReason.value !== "" ? `Edit the track: ${readOnlyReason.value}` : "Edit the track (Y)"}
            pressed={tool.value === "track"}
            disabled={!live.value}
            onClick={toggleTrackEditor}
          />
        )}
      </div>
      <span class="rule" />
      <ColouringSelect />
      <span class="rule" />
      <Pictures />
    </div>
  );
}

function needsLive(name: Tool): boolean {
  return name !== "select" && name !== "box";
}

/** Why a tool cannot be used; "": it can. */
function refusal(name: Tool): string {
  if (!needsLive(name)) return "";
  if (readOnlyReason.value !== "") return readOnlyReason.value;
  return name === "spawn" || name === "track" ? "" : blockedAmong(selection.value);
}

export function toggleTrackEditor(): void {
  if (tool.value === "track") tool.value = "select";
  else if (scenery.value?.track) chooseTool("track");
}

/** The spawn tool needs its panel. */
export function chooseTool(name: Tool): void {
  const why = refusal(name);
  if (why !== "") return showNotice("warning", `Commands are disabled: ${why}`);
  tool.value = name;
  if (name === "spawn") showRight("spawn");
}

function ColouringSelect() {
  const offered = COLOURINGS.filter(([kind]) => kind === colouring.value || canColour(kind, roster.value));
  return (
    <label class="row">
      <span class="visually-hidden">Colour by</span>
      <select
        class="select small"
        title="Colour vehicles by"
        value={colouring.value}
        onChange={(event) => (colouring.value = event.currentTarget.value as ColouringKind)}>
        {offered.map(([kind, name]) => (
          <option key={kind} value={kind}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function Pictures() {
  const view = stage.value;
  const film = recordingVideo.value;
  const none = view === null;
  return (
    <div class="group">
      <Button
        look="bare"
        icon="frame"
        label="Frame everything"
        title="Frame everything (H)"
        disabled={none}
        onClick={() => view?.frameAll()}
      />
      <Button
        look="bare"
        icon="camera"
        label="Save a picture"
        title="Save a picture (P)"
        disabled={none}
        onClick={() => void (view && exportPng(view))}
      />
      {film === null ? (
        <Button
          look="bare"
          icon="film"
          label="Record a video"
          disabled={none}
          onClick={() => view && startVideo(view)}
        />
      ) : (
        <Button
          look="recording"
          icon="film"
          label="Stop recording"
          text={`${film.seconds.toFixed(0)} s`}
          onClick={stopVideo}
        />
      )}
    </div>
  );
}
