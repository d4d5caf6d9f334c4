// The middle of the page: the world, and what floats over it.
import { DrivingHud } from "../control";
import { camera, connection, layers, preparing, roster, source } from "../state/store";
import { galleryDoor } from "./doors";
import { showRight } from "./layout";
import { Legend } from "./legend";
import { Minimap } from "./minimap";
import { Boundary } from "./boundary";
import { Icon } from "./icons";
import { Button } from "./parts";
import { stageFailure } from "./stage";
import { Toasts } from "./toasts";
import { ToolBar } from "./toolbar";

/** `host` is the element that main gave to the scene: it is put in here once and never made anew. */
export function Viewport({ host }: { host: HTMLElement }) {
  return (
    <section class="viewport" aria-label="World view">
      <div
        class={camera.value === "fpv" ? "stage fpv" : "stage"}
        ref={(slot) => void (slot && host.parentElement !== slot && slot.append(host))}
      />
      <Boundary name="The tool bar">
        <ToolBar />
        <Legend />
      </Boundary>
      <Boundary name="The driving display">
        <DrivingHud />
      </Boundary>
      {layers.value.minimap && (
        <Boundary name="The minimap">
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
        <h2>The world cannot be drawn here</h2>
        <p>{reason.replace(/^(THREE\.\w+: )+/, "")}</p>
        <p>The view needs WebGL2. Everything else on this page works: fleets, inspector, plots and time.</p>
      </div>
    </div>
  );
}

function Connecting() {
  return (
    <div class="view-note" role="status">
      <div>
        <h2>{preparing.value === "" ? "Connecting" : "Preparing the simulation"}</h2>
        <p>{preparing.value || "Looking for the simulation behind this page."}</p>
      </div>
    </div>
  );
}

function EmptyWorld() {
  return (
    <div class="view-note">
      <div>
        <h2>The world is empty</h2>
        <p>Nobody drives or flies here yet.</p>
        <div class="row">
          <Button
            look="primary"
            icon="plus"
            label="Spawn a vehicle"
            text="Spawn a vehicle"
            onClick={() => showRight("spawn")}
          />
          {galleryDoor.value && (
            <Button
              icon="gallery"
              label="Choose a scenario"
              text="Choose a scenario"
              onClick={() => galleryDoor.value?.()}
            />
          )}
        </div>
      </div>
    </div>
  );
}
