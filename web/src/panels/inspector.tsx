// The inspector: one vehicle in detail, or a summary of several.

import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { setOverride } from "../control/overrides";
import { removeIds } from "../control/tools/remove";
import { blockedAmong } from "../state/controllers";
import { formatCount } from "../state/format";
import { fleetColour } from "../state/palette";
import type { Fleet } from "../state/roster";
import { focus, live, roster, select, selection, source, tool } from "../state/store";
import { lookAtSelection } from "./actions";
import { InspectorColumns } from "./columns";
import { inspected, inspectFailure, type Summary, summarise, watchVehicle } from "./inspected";
import { RecordedVehicle } from "./recorded-columns";
import { VehicleHead } from "./vehicle-card";
import { Button, Empty } from "./widgets";

export function Inspector() {
  const chosen = selection.value;
  const id = focus.value ?? chosen.values().next().value ?? null;
  if (chosen.size > 1) return <Several />;
  if (id === null) return <NothingSelected />;
  if (roster.value.rowOfId(id) === undefined) return <RemovedVehicle id={id} />;
  return live.value ? <LiveVehicle key={id} id={id} /> : <RecordedVehicle key={id} id={id} />;
}

function LiveVehicle({ id }: { id: number }) {
  // column names belong to the roster
  const number = roster.value.number;
  useEffect(() => watchVehicle(id), [id, number]);
  const tree = inspected.value;
  if (tree === null || tree.id !== id) {
    if (inspectFailure.value !== "") {
      return (
        <Empty icon="warn" title="Details unavailable">
          <p>{inspectFailure.value}</p>
        </Empty>
      );
    }
    return <Empty icon="inspect" title={`Loading ${roster.value.nameAt(roster.value.rowOfId(id) ?? -1)} …`} />;
  }
  return (
    <div class="panel-body">
      <VehicleHead tree={tree} />
      <InspectorColumns tree={tree} />
    </div>
  );
}

function NothingSelected() {
  return (
    <Empty icon="select" title="Nothing selected">
      <p>Click a vehicle in the world or in the fleets panel. Drag a box with the box tool to select several.</p>
    </Empty>
  );
}

function RemovedVehicle({ id }: { id: number }) {
  return (
    <Empty icon="select" title="Vehicle removed">
      <p>The vehicle with id {id} no longer exists.</p>
    </Empty>
  );
}

// several vehicles ---------------------------------------------------------------------------------------------------

const EVERY = 200; // ms
const EVERY_OF_MANY = 1000;
const MANY = 5000;

function Several() {
  const chosen = selection.value;
  const counts = useMemo(() => countByFleet(chosen), [chosen, roster.value]);
  return (
    <div class="panel-body">
      <div class="vehicle">
        <div class="title">
          <h2 class="grow">{formatCount(chosen.size)} vehicles</h2>
          <Button look="small bare" icon="close" label="Clear the selection" onClick={() => select([])} />
        </div>
        <BulkButtons />
      </div>
      <Figures ids={chosen} />
      <ul class="form">
        {counts.map(([fleet, count]) => (
          <li key={fleet.name} class="row">
            <span class="swatch tint-fill" style={{ "--tint": fleetColour(fleet).hex }} />
            <span class="grow ellipsis">{fleet.name}</span>
            <span class="faint">{fleet.kind}</span>
            <span class="number">{formatCount(count)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function BulkButtons() {
  const ids = () => [...selection.value];
  const blocked = blockedAmong(selection.value);
  const off = { disabled: blocked !== "", ...(blocked !== "" && { title: blocked }) };
  return (
    <div class="buttons">
      <Button look="small" icon="frame" label="Look at the selected vehicles" text="Look" onClick={lookAtSelection} />
      {live.value && (
        <>
          <Button
            look="small"
            icon="go"
            label="Go to"
            text="Go to"
            pressed={tool.value === "go"}
            {...off}
            onClick={() => (tool.value = "go")}
          />
          <Button
            look="small"
            icon="route"
            label="Route"
            text="Route"
            pressed={tool.value === "route"}
            {...off}
            onClick={() => (tool.value = "route")}
          />
          <Button
            look="small"
            icon="back"
            label="End overrides: return to the scenario behaviour"
            text="End overrides"
            {...off}
            onClick={() => void setOverride(ids(), null)}
          />
          <Button
            look="small"
            icon="inspect"
            label="Switch to manual control"
            text="Manual control"
            {...off}
            onClick={() => void setOverride(ids(), "external")}
          />
          <Button
            look="small danger"
            icon="trash"
            label="Remove the selected vehicles"
            text="Remove"
            onClick={() => void removeIds(ids())}
          />
        </>
      )}
    </div>
  );
}

/** Updated at a low rate, not with each frame. */
function Figures({ ids }: { ids: ReadonlySet<number> }) {
  const summary = useSignal<Summary | null>(null);
  useEffect(() => {
    const rows = rowsOf(ids);
    const look = () => {
      const sample = source.value?.sample(performance.now());
      summary.value = sample ? summarise(sample, rows) : null;
    };
    look();
    const timer = setInterval(look, ids.size > MANY ? EVERY_OF_MANY : EVERY);
    return () => clearInterval(timer);
  }, [ids, roster.value]);
  return summary.value && <Facts summary={summary.value} />;
}

function Facts({ summary }: { summary: Summary }) {
  const facts: [string, string][] = [
    ["speed", `${fixed(summary.speed)} m/s`],
    ["fastest", `${fixed(summary.fastest)} m/s`],
    ["spread", `${fixed(summary.spread)} m`],
    ["lowest", `${fixed(summary.lowest)} m`],
    ["highest", `${fixed(summary.highest)} m`],
    ["nowhere", formatCount(summary.nowhere)],
  ];
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name} class="fact">
          <dt class="label">{name}</dt>
          <dd>
            <b>{value}</b>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function fixed(value: number): string {
  return Number.isFinite(value) ? value.toFixed(2).replace("-", "−") : "–";
}

function rowsOf(ids: ReadonlySet<number>): number[] {
  const present = roster.value;
  return [...ids].map((id) => present.rowOfId(id)).filter((row) => row !== undefined);
}

function countByFleet(ids: ReadonlySet<number>): [Fleet, number][] {
  const counts = new Map<Fleet, number>();
  for (const row of rowsOf(ids)) {
    const fleet = roster.value.fleetAt(row);
    if (fleet) counts.set(fleet, (counts.get(fleet) ?? 0) + 1);
  }
  return [...counts];
}
