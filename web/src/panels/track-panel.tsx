// The track editor's panel: colours, start pose, undo, problems, and saving.
import { useEffect } from "preact/hooks";
import { startTrackTool } from "../control/tools/track";
import { loading, startScenario } from "../editor/files";
import { call, reasonOf } from "../net/connection";
import { download, fileName, selectFile } from "../state/files";
import { groundAt } from "../state/scenery";
import { metadata, showNotice, tool } from "../state/store";
import {
  CONE_COLOURS,
  type ConeColour,
  canRedo,
  canUndo,
  check,
  checkFailure,
  chooseColour,
  chosenCone,
  colour,
  draft,
  fileFailure,
  fileNotes,
  format,
  openTrackFile,
  placingStart,
  redo,
  removeCone,
  type TrackFormat,
  trackText,
  unchecked,
  undo,
  withTrack,
} from "../state/track-draft";
import { newTrack, stage } from "./actions";
import { Icon } from "./icons";
import { Button } from "./widgets";

const NAMES: Readonly<Record<ConeColour, string>> = {
  blue: "Blue",
  yellow: "Yellow",
  orange: "Orange",
  big_orange: "Large orange",
  unknown: "Unknown",
};

const FORMATS: readonly [TrackFormat, string][] = [
  ["csv", "CSV with covariances"],
  ["csv4", "CSV, four columns"],
  ["cones", "YAML by colour"],
  ["lanes", "YAML with lanes"],
];

export function TrackPanel() {
  const view = stage.value;
  useEffect(() => {
    if (view === null) return;
    const fresh = newTrack.peek();
    newTrack.value = false;
    return startTrackTool(view, fresh);
  }, [view]);
  return (
    <section class="floating legend track-editor" aria-label="Track editor">
      <header>
        <b class="grow">Track editor</b>
        <Button
          look="bare small"
          icon="undo"
          label="Undo"
          title="Undo (Ctrl Z)"
          disabled={!canUndo.value}
          onClick={undo}
        />
        <Button
          look="bare small"
          icon="redo"
          label="Redo"
          title="Redo (Ctrl Shift Z)"
          disabled={!canRedo.value}
          onClick={redo}
        />
        <Button look="bare small" icon="close" label="Close the track editor" onClick={() => (tool.value = "select")} />
      </header>
      <Palette />
      <Status />
      <Save />
    </section>
  );
}

function Palette() {
  const cone = chosenCone.value;
  return (
    <div class="palette" role="group" aria-label="Place">
      {CONE_COLOURS.map((name, k) => (
        <button
          key={name}
          type="button"
          class={`cone ${name}`}
          aria-label={`${NAMES[name]} cones`}
          title={`${NAMES[name]} (${k + 1})`}
          aria-pressed={!placingStart.value && colour.value === name}
          onClick={() => chooseColour(name)}>
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <path d="M6.8 2h2.4l3.6 10.5H3.2z" />
            <path class="band" d="M5.5 6.6h5l1 3h-7z" />
            <path d="M1.8 12.5h12.4v1.6H1.8z" />
          </svg>
        </button>
      ))}
      <Button
        look="bare small"
        icon="go"
        label="Set the start pose"
        title="Set the start pose: click, or drag ahead (S)"
        pressed={placingStart.value}
        onClick={() => (placingStart.value = !placingStart.value)}
      />
      <Button
        look="bare small"
        icon="trash"
        label="Remove the chosen cone"
        title="Remove the chosen cone (Delete)"
        disabled={cone === null}
        onClick={() => cone !== null && removeCone(cone)}
      />
    </div>
  );
}

function Status() {
  const checked = check.value;
  const cone = chosenCone.value;
  const { cones, colours, startless } = draft.value;
  const place = cone === null ? undefined : cones[cone];
  const problems = checkFailure.value === "" ? (checked?.problems ?? []) : [checkFailure.value];
  const track = checked?.track;
  return (
    <div class="status" role="status">
      <p class="faint number">
        {cones.length === 1 ? "1 cone" : `${cones.length} cones`}
        {track && ` · ${track.length.toFixed(0)} m ${track.closed ? "lap" : "open"}`}
        {place && ` · ${NAMES[colours[cone as number] ?? "unknown"]} at ${place[0].toFixed(2)}, ${place[1].toFixed(2)}`}
      </p>
      {placingStart.value && <p>Click the start, or drag from it in the driving direction.</p>}
      <ul>
        {fileFailure.value !== "" && <Problem text={`Not opened: ${fileFailure.value}`} look="red" />}
        {startless && <Problem text="The file has no start pose: set it (S)" look="red" />}
        {problems.map((text) => (
          <Problem key={text} text={text} look="red" />
        ))}
        {(checked?.warnings ?? []).map((text) => (
          <Problem key={text} text={text} look="amber" />
        ))}
        {fileNotes.value.map((text) => (
          <li key={text} class="faint">
            {text}
          </li>
        ))}
      </ul>
      {unchecked.value && <p class="faint">Checking …</p>}
      {!unchecked.value && checked && !startless && problems.length + checked.warnings.length === 0 && (
        <p class="green row">
          <Icon name="check" /> A track within the rules
        </p>
      )}
    </div>
  );
}

/** A problem with a place, "at (12.5, 3.0)", can be looked at. */
function Problem({ text, look }: { text: string; look: "red" | "amber" }) {
  const at = /\((-?[\d.]+), (-?[\d.]+)\)/.exec(text);
  if (!at) return <li class={look}>{text}</li>;
  const [x, y] = [Number(at[1]), Number(at[2])];
  return (
    <li>
      <button type="button" class={look} onClick={() => stage.value?.lookAtPoint(x, y, groundAt(x, y), 30)}>
        {text}
      </button>
    </li>
  );
}

function Save() {
  const blocked = metadata.value?.can_load === false ? "Scenario switching is disabled for this run" : noTrack();
  return (
    <div class="save">
      <select
        class="select small"
        aria-label="Format of the file"
        value={format.value}
        onChange={(event) => (format.value = event.currentTarget.value as TrackFormat)}>
        {FORMATS.map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </select>
      <Button
        look="small"
        icon="open"
        label="Open a track file"
        title="Open a track file: CSV or YAML"
        onClick={() => selectFile(".csv,.yaml,.yml,text/csv,text/yaml", (file) => void open(file))}
      />
      <Button
        look="small"
        icon="download"
        label="Download the track"
        disabled={draft.value.cones.length === 0}
        onClick={() => void save(format.value)}
      />
      <Button
        look="small primary"
        label="Use this track in the run"
        text={loading.value === null ? "Use in this run" : "Starting …"}
        title={blocked || "Restart the scenario with this track"}
        disabled={blocked !== "" || loading.value !== null}
        onClick={() => void use()}
      />
    </div>
  );
}

/** Why the track cannot be driven; "": it can. */
function noTrack(): string {
  if (draft.value.startless) return "The track has no start pose yet";
  return check.value?.track ? "" : "The cones form no track yet";
}

function trackName(): string {
  return fileName(`${metadata.peek()?.name ?? "track"}-edited`, "track");
}

async function open(file: File): Promise<void> {
  if (await openTrackFile(file)) lookAtCones();
}

function lookAtCones(): void {
  const { cones } = draft.peek();
  if (cones.length === 0) return;
  const [[left, right], [low, high]] = [0, 1].map((axis) => {
    const places = cones.map((cone) => cone[axis] as number);
    return [places.reduce((a, b) => Math.min(a, b)), places.reduce((a, b) => Math.max(a, b))];
  }) as [[number, number], [number, number]];
  const [x, y] = [(left + right) / 2, (low + high) / 2];
  stage.value?.lookAtPoint(x, y, groundAt(x, y), Math.max(1.1 * Math.hypot(right - left, high - low), 20));
}

async function save(format: TrackFormat): Promise<void> {
  try {
    const text = await trackText(format);
    const csv = format.startsWith("csv");
    download(new Blob([text], { type: csv ? "text/csv" : "text/yaml" }), `${trackName()}.${csv ? "csv" : "yaml"}`);
  } catch (error) {
    showNotice("error", `Cannot write the track: ${reasonOf(error)}`);
  }
}

async function use(): Promise<void> {
  try {
    const [text, { name, text: scenario }] = await Promise.all([trackText("csv"), call("running_scenario", {})]);
    const section = metadata.peek()?.scenario["track"] as { surface?: unknown } | string | undefined;
    const surface = typeof section === "object" ? section.surface : null;
    const reason = await startScenario(name, { text: withTrack(scenario, `${trackName()}.csv`, text, surface) });
    if (reason === null) tool.value = "select";
    else showNotice("error", `Cannot use the track: ${reason}`);
  } catch (error) {
    showNotice("error", `Cannot use the track: ${reasonOf(error)}`);
  }
}
