// The inspector: one vehicle in full, several in sum, or the advice to choose one.
import { useEffect } from "preact/hooks";
import { focus, live, roster, selection } from "../state/store";
import { inspected, inspectFailure, watchVehicle } from "./inspected";
import { InspectorColumns } from "./columns";
import { VehicleHead } from "./vehicle";
import { Several } from "./several";
import { Empty } from "./parts";
import { PastVehicle } from "./past";

export function Inspector() {
  const chosen = selection.value;
  const id = focus.value ?? chosen.values().next().value ?? null;
  if (chosen.size > 1) return <Several />;
  if (id === null) return <NothingChosen />;
  if (roster.value.rowOfId(id) === undefined) return <Gone id={id} />;
  return live.value ? <LiveVehicle key={id} id={id} /> : <PastVehicle key={id} id={id} />;
}

function LiveVehicle({ id }: { id: number }) {
  // the columns that frames carry belong to the roster
  const number = roster.value.number;
  useEffect(() => watchVehicle(id), [id, number]);
  const tree = inspected.value;
  if (tree === null || tree.id !== id) {
    if (inspectFailure.value !== "") {
      return (
        <Empty icon="warn" title="The server does not tell">
          <p>{inspectFailure.value}</p>
        </Empty>
      );
    }
    return <Empty icon="inspect" title={`Asking about ${roster.value.nameAt(roster.value.rowOfId(id) ?? -1)}`} />;
  }
  return (
    <div class="panel-body">
      <VehicleHead tree={tree} />
      <InspectorColumns tree={tree} />
    </div>
  );
}

function NothingChosen() {
  return (
    <Empty icon="select" title="Nothing selected">
      <p>Click a vehicle in the world or in the fleets panel; drag a box with the box tool to take several.</p>
    </Empty>
  );
}

function Gone({ id }: { id: number }) {
  return (
    <Empty icon="select" title="That vehicle is gone">
      <p>The vehicle with id {id} is no longer in the world.</p>
    </Empty>
  );
}
