// The head of the inspector: who it is, what drives it, and what can be done with it.
import { drive, driving, release } from "../control/driving";
import { giveOrder } from "../control/overrides";
import { removeIds } from "../control/tools/remove";
import { orderedNow } from "../state/overrides";
import { fleetColour } from "../state/palette";
import { camera, orders, roster, select, tool } from "../state/store";
import type { InspectedTree } from "../wire/schema";
import { attempt, lookAt, setCamera } from "./actions";
import { KindIcon } from "./icons";
import { Button } from "./widgets";

export function VehicleHead({ tree }: { tree: InspectedTree }) {
  const fleet = roster.value.fleet(tree.fleet);
  return (
    <div class="vehicle">
      <div class="title">
        <span class="tinted" style={{ "--tint": fleetColour(fleet?.name ?? "").hex, fontSize: "1.5rem" }}>
          <KindIcon kind={tree.kind} />
        </span>
        <h2 class="grow ellipsis">{tree.name}</h2>
        <span class="chip number">id {tree.id}</span>
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
        <Fact name="Driven by" value={driverOf(tree)} />
        <OrderFact id={tree.id} />
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

/** What it follows; while an order is on its way, that. */
function OrderFact({ id }: { id: number }) {
  const sent = orderedNow(id);
  return <Fact name="Order" value={sent === "" ? orderOf(id) : `ordered ${sent} …`} />;
}

export function isExternal(tree: InspectedTree): boolean {
  return tree.driven_by === null || tree.driven_by === "external";
}

function driverOf(tree: InspectedTree): string {
  if (driving.value?.id === tree.id) return "you";
  return isExternal(tree) ? "commands from outside" : (tree.driven_by ?? "");
}

function orderOf(id: number): string {
  const mine = orders.value.find(({ ids }) => ids.some(([first, count]) => id >= first && id < first + count));
  return mine?.behaviour ?? "";
}

function Buttons({ tree }: { tree: InspectedTree }) {
  const { id } = tree;
  const mine = driving.value?.id === id;
  const follows = camera.value === "chase";
  const goes = tool.value === "go";
  const ordered = orderOf(id) !== "";
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
        label={mine ? "Release" : "Drive"}
        title={mine ? "Release (G)" : "Drive it yourself (G)"}
        text={mine ? "Release" : "Drive"}
        onClick={() => void (mine ? release() : drive(id))}
      />
      {tree.kind === "quad" && isExternal(tree) && <Arm tree={tree} />}
      <Button
        look="small"
        icon="go"
        label="Go to"
        title="Go to: click in the world"
        text="Go to"
        pressed={goes}
        onClick={() => (tool.value = goes ? "select" : "go")}
      />
      {ordered && (
        <Button
          look="small"
          icon="back"
          label="Back to its own behaviour"
          text="End order"
          onClick={() => void giveOrder([id], null)}
        />
      )}
    </div>
  );
}

function Arm({ tree }: { tree: InspectedTree }) {
  const armed = tree.command.find(({ name }) => name === "armed");
  if (armed === undefined) return null;
  const on = (armed.value ?? 0) > 0.5;
  const arm = () => void attempt("Arm", "set_control", { vehicle_id: tree.id, armed: on ? 0 : 1 });
  const word = on ? "Disarm" : "Arm";
  return <Button look="small" icon="power" label={word} text={word} pressed={on} onClick={arm} />;
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
