// The layers panel: layers of the view, markers by namespace, and ghosts.

import { MOST_ROUTES } from "../scene/routes";
import { shownFriction } from "../scene/scenery";
import { shownRoutes } from "../state/controllers";
import { formatCount } from "../state/format";
import { skippedMarkers } from "../state/markers";
import { mission } from "../state/mission";
import { hasRadio, radio } from "../state/radio";
import { scenery } from "../state/scenery";
import { hasSensor } from "../state/sensing";
import { ghosts, type Layers, layers, live, type Shadows, shadows, source } from "../state/store";
import { attempt, setLayer } from "./actions";
import { Button, Switch } from "./widgets";

const NAMES: Readonly<Record<keyof Layers, string>> = {
  grid: "Ground grid",
  trails: "Trails",
  headings: "Headings",
  names: "Vehicle names",
  routes: "Routes and overrides",
  tasks: "Tasks",
  zones: "No-fly zones",
  markers: "Markers",
  axes: "Transform axes",
  minimap: "Minimap",
  roads: "Roads",
  friction: "Friction of the ground",
  obstacles: "Obstacles",
  contacts: "Contacts",
  scans: "Lidar scans",
  clouds: "Lidar clouds by height",
  detections: "Cone detections",
  truth: "Visible cones as they are",
  links: "Radio links by SINR",
  stations: "Ground stations",
  ranges: "Radio ranges",
  jamming: "Jammers and their footprints",
  coverage: "Radio coverage",
};

/** Layers that are offered only if there is something to show. */
const ONLY: Readonly<Partial<Record<keyof Layers, () => boolean>>> = {
  tasks: () => mission.value !== null,
  zones: () => mission.value !== null,
  roads: () => (scenery.value?.roads.length ?? 0) > 0,
  friction: () => shownFriction.value !== null,
  obstacles: () => (scenery.value?.obstacles.length ?? 0) > 0,
  scans: () => hasSensor("scan"),
  clouds: () => hasSensor("cloud"),
  detections: () => hasSensor("cones"),
  truth: () => hasSensor("cones"),
  links: () => hasRadio.value,
  stations: () => (radio.value?.stations.length ?? 0) > 0,
  ranges: () => hasRadio.value,
  jamming: () => (radio.value?.jammers.length ?? 0) + (radio.value?.spoofers.length ?? 0) > 0,
  coverage: () => hasRadio.value && live.value,
};

export function LayersPanel() {
  const names = Object.keys(NAMES) as (keyof Layers)[];
  const offered = names.filter((name) => ONLY[name]?.() ?? true);
  return (
    <div class="panel-body">
      <div class="form layers">
        <h3 class="label">Layers</h3>
        <div>
          {offered.map((name) => (
            <Switch
              key={name}
              label={NAMES[name]}
              note={name === "routes" && shownRoutes.value.length > MOST_ROUTES ? "of the selection" : undefined}
              on={layers.value[name]}
              onChange={(on) => setLayer(name, on)}
            />
          ))}
        </div>
        <ShadowChoice />
        <Namespaces />
        <Ghosts />
      </div>
    </div>
  );
}

const SHADOWS: Readonly<Record<Shadows, string>> = { auto: "if fast enough", on: "always", off: "never" };

function ShadowChoice() {
  return (
    <label class="row">
      <span class="grow">Shadows</span>
      <select
        class="select small"
        style={{ width: "auto" }}
        aria-label="Shadows"
        value={shadows.value}
        onChange={(event) => (shadows.value = event.currentTarget.value as Shadows)}>
        {Object.entries(SHADOWS).map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

function Namespaces() {
  const spaces = [...(source.value?.markers.namespaces.value ?? [])].sort(([a], [b]) => a.localeCompare(b));
  return (
    <>
      <h3 class="label">Markers by namespace</h3>
      {spaces.length === 0 && <p class="faint">No markers.</p>}
      <div>
        {spaces.map(([name, { count, hidden }]) => (
          <Switch
            key={name}
            label={name === "" ? "(no namespace)" : name}
            note={formatCount(count)}
            on={!hidden}
            onChange={(visible) => show(name, visible)}
          />
        ))}
      </div>
      {skippedMarkers.value > 0 && (
        <p class="amber">
          {formatCount(skippedMarkers.value)} {skippedMarkers.value === 1 ? "marker" : "markers"} skipped: non-finite
          values
        </p>
      )}
      {spaces.length > 0 && live.value && <p class="faint">Hiding a namespace hides it for all clients.</p>}
    </>
  );
}

/** For all clients in the live run, otherwise only here. */
function show(namespace: string, visible: boolean): void {
  if (live.value) void attempt("Markers", "show_markers", { namespace, visible });
  const board = source.value?.markers;
  board?.hide(namespace, !visible);
  board?.changed();
}

function Ghosts() {
  return (
    <>
      <h3 class="label">Ghosts</h3>
      {ghosts.value.length === 0 && <p class="faint">Open a second recording to compare two runs.</p>}
      <ul>
        {ghosts.value.map((ghost) => (
          <li key={ghost.label} class="row">
            <span class="grow ellipsis">{ghost.label}</span>
            <Button
              look="bare small"
              icon="close"
              label={`Remove the ghost ${ghost.label}`}
              onClick={() => {
                ghosts.value = ghosts.value.filter((shown) => shown !== ghost);
                ghost.close();
              }}
            />
          </li>
        ))}
      </ul>
    </>
  );
}
