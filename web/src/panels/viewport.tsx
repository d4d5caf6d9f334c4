// The world view with its overlays: legend, minimap, toolbar, notices.
import { useComputed } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { DrivingHud } from "../control/hud";
import { connection } from "../net/connection";
import { rampCss, rampGradient } from "../scene/colour-ramp";
import { shownFriction } from "../scene/scenery";
import { scalars } from "../state/colouring";
import { withLateStyles } from "../state/files";
import { hasRace } from "../state/race";
import { hasRadio } from "../state/radio";
import { camera, colouring, layers, preparing, roster, source, theme, tool } from "../state/store";
import { galleryOpener, stage, stageFailure } from "./actions";
import { Icon } from "./icons";
import { showRight } from "./layout";
import { Toasts } from "./notices";
import { ToolBar } from "./toolbar";
import { Boundary, Button, lazy } from "./widgets";

const TrackPanel = lazy("Track editor", async () => (await withLateStyles(import("./track-panel"))).TrackPanel);
const RadioLegend = lazy("Radio", async () => (await import("./radio-legend")).RadioLegend);
const RaceStrip = lazy("Race", async () => (await withLateStyles(import("./race"))).RaceStrip);

function Legend() {
  // as text, so that it is rendered only on changes
  const name = useComputed(() => scalars.value?.label ?? colouring.value).value;
  const low = useComputed(() => endOf(scalars.value?.low, scalars.value?.unit)).value;
  const high = useComputed(() => endOf(scalars.value?.high, scalars.value?.unit)).value;
  const words = useComputed(() => scalars.value?.categories).value;
  if (colouring.value === "fleet") return null;
  if (low === "") return <div class="floating legend faint">No {name} data for these vehicles</div>;
  if (words) return <WordsLegend name={name} words={words} />;
  return (
    <div class="floating legend" role="img" aria-label={`Colours: ${name} from ${low} to ${high}`}>
      <span class="label">{name}</span>
      <div class="bar-ramp" style={{ background: rampGradient(theme.value) }} />
      <div class="ends number">
        <span>{low}</span>
        <span>{high}</span>
      </div>
    </div>
  );
}

/** Colours of the friction of the ground, if it is not the same everywhere. */
function FrictionLegend() {
  const shown = shownFriction.value;
  if (!shown || !layers.value.friction) return null;
  const { low, high, mu } = shown;
  return (
    <div class="floating legend friction">
      <span class="label">friction</span>
      <ul>
        {low < mu && <FrictionEntry look="slick" words={`slippery, down to ${low.toFixed(2)}`} />}
        <FrictionEntry look="usual" words={`ground ${mu.toFixed(2)}`} />
        {high > mu && <FrictionEntry look="grippy" words={`grippy, up to ${high.toFixed(2)}`} />}
      </ul>
    </div>
  );
}

function FrictionEntry({ look, words }: { look: string; words: string }) {
  return (
    <li>
      <span class={`swatch ${look}`} />
      {words}
    </li>
  );
}

/** A legend of categories. */
function WordsLegend({ name, words }: { name: string; words: readonly string[] }) {
  return (
    <div class="floating legend">
      <span class="label">{name}</span>
      <ul>
        {words.map((word, k) => (
          <li key={word}>
            <span class="swatch" style={{ background: rampCss(k / (words.length - 1), theme.value) }} />
            {word}
          </li>
        ))}
      </ul>
    </div>
  );
}

function endOf(value: number | undefined, unit = ""): string {
  if (value === undefined) return "";
  const digits = Math.abs(value) < 10 ? 1 : 0;
  return `${value.toFixed(digits).replace("-", "−")} ${unit}`.trim();
}

// minimap ------------------------------------------------------------------------------------------------------------

function Minimap() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const ready = stage.value;
  useEffect(() => {
    if (ready === null || canvas.current === null) return undefined;
    const shown = canvas.current;
    const loaded = import("../scene/minimap").then(({ createMinimap }) =>
      shown.isConnected ? createMinimap(shown) : null,
    );
    return () => void loaded.then((map) => map?.dispose());
  }, [ready]);
  if (ready === null) return null;
  return (
    <div class="floating minimap">
      <canvas
        ref={canvas}
        role="button"
        tabIndex={0}
        aria-label="Minimap: click to move the camera, Enter to frame everything"
      />
    </div>
  );
}

// viewport -----------------------------------------------------------------------------------------------------------

/** `host`: the scene's element, inserted once and never recreated. */
export function Viewport({ host }: { host: HTMLElement }) {
  return (
    <section class="viewport" aria-label="World view">
      <div
        class={camera.value === "fpv" ? "stage fpv" : "stage"}
        ref={(slot) => void (slot && host.parentElement !== slot && slot.append(host))}
      />
      <Boundary name="Toolbar">
        <ToolBar />
        <div class="legends">
          <Legend />
          <FrictionLegend />
          {hasRadio.value && <RadioLegend />}
          {tool.value === "track" ? <TrackPanel /> : hasRace.value && <RaceStrip />}
        </div>
      </Boundary>
      <Boundary name="Driving display">
        <DrivingHud />
      </Boundary>
      {layers.value.minimap && (
        <Boundary name="Minimap">
          <Minimap />
        </Boundary>
      )}
      <ViewNote />
      <Toasts />
    </section>
  );
}

function ViewNote() {
  if (stageFailure.value !== "") return <NoWorldView reason={stageFailure.value} />;
  const waiting = source.value === null && connection.value.state === "connecting";
  if (waiting) return <Connecting />;
  if (roster.value.number >= 0 && roster.value.size === 0) return <EmptyWorld />;
  return null;
}

function NoWorldView({ reason }: { reason: string }) {
  return (
    <div class="view-note" role="alert">
      <div>
        <Icon name="warn" />
        <h2>3D view unavailable</h2>
        <p>{reason.replace(/^(THREE\.\w+: )+/, "")}</p>
        <p>The view needs WebGL2. Fleets, inspector, plots and time controls still work.</p>
      </div>
    </div>
  );
}

function Connecting() {
  return (
    <div class="view-note" role="status">
      <div>
        <h2>{preparing.value === "" ? "Connecting" : "Preparing the simulation"}</h2>
        <p>{preparing.value || "Connecting to the server."}</p>
      </div>
    </div>
  );
}

function EmptyWorld() {
  return (
    <div class="view-note">
      <div>
        <h2>No vehicles yet</h2>
        <p>Spawn one or choose a scenario.</p>
        <div class="row">
          <Button
            look="primary"
            icon="plus"
            label="Spawn a vehicle"
            text="Spawn a vehicle"
            onClick={() => showRight("spawn")}
          />
          {galleryOpener.value && (
            <Button
              icon="gallery"
              label="Choose a scenario"
              text="Choose a scenario"
              onClick={() => galleryOpener.value?.()}
            />
          )}
        </div>
      </div>
    </div>
  );
}
