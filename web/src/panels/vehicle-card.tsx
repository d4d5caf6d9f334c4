// The head of the inspector: name, kind, control mode, and actions.
import { drive, driving, release } from "../control/driving";
import { setOverride } from "../control/overrides";
import { removeIds } from "../control/tools/remove";
import { autopilots, blockedReason, nameOfClient, otherDriver } from "../state/controllers";
import { pendingOverrideOf } from "../state/overrides";
import { fleetColour } from "../state/palette";
import { camera, overrides, roster, select, tool } from "../state/store";
import type { InspectedTree } from "../wire/schema";
import { attempt, lookAt, setCamera } from "./actions";
import { KindIcon } from "./icons";
import { clearView } from "./layout";
import { Button } from "./widgets";

export function VehicleHead({ tree }: { tree: InspectedTree }) {
  const fleet = roster.value.fleet(tree.fleet);
  return (
    <div class="vehicle">
      <div class="title">
        <span class="tinted" style={{ "--tint": fleetColour(fleet).hex, fontSize: "1.5rem" }}>
          <KindIcon kind={tree.kind} />
        </span>
        <h2 class="grow ellipsis">{tree.name}</h2>
        <span class="chip number">id {tree.id}</span>
        <SystemChip id={tree.id} />
        <Button
          look="small bare danger"
          icon="trash"
          label={`Remove ${tree.name}`}
          onClick={() => void removeIds([tree.id])}
        />
      </div>
      <dl>
        <Fact name="Kind" value={tree.kind} />
        <Fact name="Model" value={tree.preset === null ? tree.model : `${tree.model}, ${tree.preset}`} />
        <Fact name="Control" value={driverOf(tree)} />
        <Fact name="Substeps" value={tree.substeps === null ? "" : `${tree.substeps} per tick`} />
        <OverrideFact id={tree.id} />
        <AutopilotFacts id={tree.id} />
      </dl>
      <Buttons tree={tree} />
    </div>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  if (value === "") return null;
  return (
    <>
      <dt>{name}</dt>
      <dd class="ellipsis" title={value}>
        {value}
      </dd>
    </>
  );
}

/** MAVLink's number of the vehicle, which differs from its id. */
function SystemChip({ id }: { id: number }) {
  const autopilot = autopilots.value.get(id);
  if (!autopilot) return null;
  return (
    <span class="chip number" title="MAVLink system id">
      system {autopilot.system}
    </span>
  );
}

function AutopilotFacts({ id }: { id: number }) {
  const autopilot = autopilots.value.get(id);
  if (!autopilot) return null;
  const { mode, armed, item, waypoints, link, note } = autopilot;
  const places = `${waypoints.length} ${waypoints.length === 1 ? "waypoint" : "waypoints"}`;
  return (
    <>
      <Fact name="Mode" value={`${mode || "unknown"}, ${armed ? "armed" : "disarmed"}`} />
      <Fact name="Mission" value={item === "" ? "" : `item ${item}, ${places}`} />
      <Fact name="MAVLink" value={link} />
      <Fact name="Status" value={note} />
    </>
  );
}

/** Its override, or the pending one. */
function OverrideFact({ id }: { id: number }) {
  const sent = pendingOverrideOf(id);
  return <Fact name="Override" value={sent === "" ? overrideOf(id) : `${sent} (pending)`} />;
}

export function isExternal(tree: InspectedTree): boolean {
  return tree.driven_by === null || tree.driven_by === "external";
}

function driverOf(tree: InspectedTree): string {
  if (driving.value?.id === tree.id) return "you";
  const autopilot = autopilots.value.get(tree.id);
  if (autopilot) return `${autopilot.autopilot} autopilot`;
  const other = otherDriver(tree.id);
  if (other !== "") return nameOfClient(other);
  return isExternal(tree) ? "manual" : (tree.driven_by ?? "");
}

function overrideOf(id: number): string {
  const mine = overrides.value.find(({ ids }) => ids.some(([first, count]) => id >= first && id < first + count));
  return mine?.behaviour ?? "";
}

function Buttons({ tree }: { tree: InspectedTree }) {
  const { id } = tree;
  const mine = driving.value?.id === id;
  const follows = camera.value === "chase";
  const goes = tool.value === "go";
  const overridden = overrideOf(id) !== "";
  const blocked = blockedReason(id);
  const why = blocked === "" ? "" : sentence(blocked);
  const other = otherDriver(id) !== "";
  const word = mine ? "Release" : other ? "Take over" : "Drive";
  return (
    <div class="buttons">
      <Button look="small" icon="chase" label="Follow" text="Follow" pressed={follows} onClick={() => follow(id)} />
      <Button
        look="small"
        icon="fpv"
        label="First-person view"
        text="FPV"
        pressed={camera.value === "fpv"}
        onClick={() => ride(id)}
      />
      <Button
        look={`small ${mine ? "" : "primary"}`}
        icon="wheel"
        label={word}
        title={mine ? "Release (G)" : why || "Drive this vehicle (G)"}
        text={word}
        disabled={why !== "" && !other}
        onClick={() => {
          if (!mine) clearView(); // of the touch controls
          void (mine ? release() : drive(id, other));
        }}
      />
      {tree.kind === "quad" && isExternal(tree) && <Arm tree={tree} blocked={why} />}
      <Button
        look="small"
        icon="go"
        label="Go to"
        title={why || "Go to: click in the world"}
        text="Go to"
        pressed={goes}
        disabled={why !== ""}
        onClick={() => (tool.value = goes ? "select" : "go")}
      />
      {overridden && (
        <Button
          look="small"
          icon="back"
          label="End override: return to the scenario behaviour"
          text="End override"
          title={why || "End override: return to the scenario behaviour"}
          disabled={why !== ""}
          onClick={() => void setOverride([id], null)}
        />
      )}
    </div>
  );
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

function Arm({ tree, blocked }: { tree: InspectedTree; blocked: string }) {
  const armed = tree.command.find(({ name }) => name === "armed");
  if (armed === undefined) return null;
  const on = autopilots.value.get(tree.id)?.armed ?? (armed.value ?? 0) > 0.5;
  const arm = () => void attempt("Arm", "set_control", { vehicle_id: tree.id, armed: on ? 0 : 1 });
  const word = on ? "Disarm" : "Arm";
  return (
    <Button
      look="small"
      icon="power"
      label={word}
      title={blocked || word}
      text={word}
      pressed={on}
      disabled={blocked !== ""}
      onClick={arm}
    />
  );
}

function follow(id: number): void {
  if (camera.value === "chase") return setCamera("orbit");
  select([id]);
  lookAt(id);
  setCamera("chase");
}

function ride(id: number): void {
  if (camera.value === "fpv") return setCamera("orbit");
  select([id]);
  setCamera("fpv");
}
