// The fleet tree.

import { removeIds } from "../control/tools/remove";
import { connection } from "../net/connection";
import { autopilots } from "../state/controllers";
import { formatCount, formatVehicles } from "../state/format";
import { fleetColour } from "../state/palette";
import type { Fleet } from "../state/roster";
import { focus, live, roster, selection } from "../state/store";
import { idsOf, lookAt, pickIds } from "./actions";
import { useTree } from "./fleet-tree";
import { Icon, KindIcon } from "./icons";
import { fold, showRight } from "./layout";
import { VirtualList } from "./virtual-list";
import { Button, Empty, Search } from "./widgets";

const CONFIRM = { always: true }; // the next line moves under the pointer: a second click must not remove it

interface Chosen {
  id: string; // of the element
  active: boolean; // keyboard focus
  top: string;
  chosen: ReadonlySet<number>;
  focused: number | null;
}

interface FleetProps extends Chosen {
  fleet: Fleet;
  expanded: boolean;
  onToggle(): void;
}

function FleetLine({ fleet, id, active, top, chosen, focused, expanded, onToggle }: FleetProps) {
  const alone = fleet.single || fleet.count === 1 ? roster.value.idAt(fleet.first) : undefined;
  const ids = () => idsOf(fleet.ids);
  const looks = alone === undefined ? wholeChosen(fleet, chosen) : chosen.has(alone);
  const focusLook = alone !== undefined && alone === focused ? "focused" : "";
  return (
    <div
      id={id}
      class={`tree-row ${looks ? "selected" : ""} ${focusLook} ${active ? "active" : ""}`}
      style={{ top }}
      role="treeitem"
      aria-selected={looks}
      aria-expanded={fleet.single ? undefined : expanded}
      aria-level={1}>
      {fleet.single ? <span class="twist" /> : <Expander name={fleet.name} expanded={expanded} onToggle={onToggle} />}
      <button
        type="button"
        class="pick"
        tabIndex={-1}
        title={`${fleet.name}: ${fleet.kind}, ${fleet.model}`}
        onClick={(event) => pickIds(ids(), adds(event))}
        onDblClick={() => lookAtRow(fleet.first)}>
        <span class="tinted" style={{ "--tint": fleetColour(fleet).hex }}>
          <KindIcon kind={fleet.kind} />
        </span>
        <span class="ellipsis">{fleet.name}</span>
        <span class="model ellipsis">{fleet.model}</span>
      </button>
      {!fleet.single && <span class={`count number ${live.value ? "hides" : ""}`}>{formatCount(fleet.count)}</span>}
      {live.value && <RemoveButton name={fleet.name} onRemove={() => void removeIds(ids(), CONFIRM)} />}
    </div>
  );
}

function Expander({ name, expanded, onToggle }: { name: string; expanded: boolean; onToggle(): void }) {
  return (
    <button
      type="button"
      class="twist"
      tabIndex={-1}
      aria-label={`Vehicles of ${name}`}
      aria-expanded={expanded}
      onClick={onToggle}>
      <Icon name="chevron" />
    </button>
  );
}

function VehicleLine({ row, id: element, active, top, chosen, focused }: Chosen & { row: number }) {
  const present = roster.value;
  const id = present.idAt(row);
  if (id === undefined) return null;
  const looks = `${chosen.has(id) ? "selected" : ""} ${id === focused ? "focused" : ""} ${active ? "active" : ""}`;
  const name = present.nameAt(row);
  return (
    <div
      id={element}
      class={`tree-row member ${looks}`}
      style={{ top }}
      role="treeitem"
      aria-selected={chosen.has(id)}
      aria-level={2}>
      <button
        type="button"
        class="pick"
        tabIndex={-1}
        onClick={(event) => pickIds([id], adds(event))}
        onDblClick={() => lookAt(id)}>
        <span class="ellipsis">{name}</span>
        <span class="model ellipsis">{autopilots.value.get(id)?.mode}</span>
      </button>
      <span class={`count number ${live.value ? "hides" : ""}`}>{id}</span>
      {live.value && <RemoveButton name={name} onRemove={() => void removeIds([id], CONFIRM)} />}
    </div>
  );
}

function RemoveButton({ name, onRemove }: { name: string; onRemove(): void }) {
  return (
    <span class="quiet">
      <Button look="bare small" icon="trash" label={`Remove ${name}`} onClick={onRemove} />
    </span>
  );
}

function adds(event: MouseEvent): boolean {
  return event.shiftKey || event.ctrlKey || event.metaKey;
}

function lookAtRow(row: number): void {
  const id = roster.value.idAt(row);
  if (id !== undefined) lookAt(id);
}

/** Whether a whole fleet is selected; its ends are checked first, which usually decides. */
function wholeChosen(fleet: Fleet, chosen: ReadonlySet<number>): boolean {
  if (fleet.count === 0 || chosen.size < fleet.count) return false;
  return fleet.ids.every(([first, count]) => {
    for (let id = first; id < first + count; id++) if (!chosen.has(id)) return false;
    return true;
  });
}

// tree ---------------------------------------------------------------------------------------------------------------

const LINE = 2; // rem

export function FleetPanel() {
  const tree = useTree();
  const { lines, query, active } = tree;
  // read here, so that the lines are rendered again on changes
  const chosen = selection.value;
  const focused = focus.value;
  const line = (index: number, top: string) => {
    const line = lines.at(index);
    if (line === undefined) return null;
    const common = { id: lineId(index), top, chosen, focused, active: index === active.value };
    const { fleet, row } = line;
    if (row !== null) return <VehicleLine key={`m${row}`} row={row} {...common} />;
    const expanded = tree.isOpen(fleet.name);
    return (
      <FleetLine
        key={fleet.name}
        fleet={fleet}
        expanded={expanded}
        onToggle={() => tree.toggle(fleet.name)}
        {...common}
      />
    );
  };
  return (
    <>
      <div class="panel-head">
        <Search
          label="Find fleets and vehicles (Enter: select the first match; Esc: leave)"
          value={query.value}
          onChange={(value) => (query.value = value)}
          onEnter={tree.onFound}
        />
        <Button look="bare" icon="fold" label="Collapse the fleets panel" onClick={() => fold("left")} />
      </div>
      {lines.count > 0 ? (
        <VirtualList
          label="Fleets"
          role="tree"
          count={lines.count}
          lineRem={LINE}
          line={line}
          reveal={tree.reveal.value}
          onKey={tree.onKey}
          activeId={active.value < 0 ? undefined : lineId(active.value)}
        />
      ) : (
        <NoVehicles query={query.value} />
      )}
      <Foot hits={lines.hits} query={query.value} />
    </>
  );
}

function lineId(line: number): string {
  return `fleet-line-${line}`;
}

function NoVehicles({ query }: { query: string }) {
  if (query !== "") {
    return (
      <Empty icon="search" title="No matches">
        <p>No fleet or vehicle matches “{query}”.</p>
      </Empty>
    );
  }
  if (connection.value.state !== "open" && roster.value.number < 0) {
    return <Empty icon="tree" title="Waiting for the server" />;
  }
  return (
    <Empty icon="tree" title="No vehicles">
      <p>Spawn a vehicle or load a scenario.</p>
      {live.value && <Button label="Spawn a vehicle" text="Spawn" icon="plus" onClick={() => showRight("spawn")} />}
    </Empty>
  );
}

function Foot({ hits, query }: { hits: number; query: string }) {
  const { size, fleets } = roster.value;
  const chosen = selection.value.size;
  const all = `${formatVehicles(size)} in ${fleets.length} ${fleets.length === 1 ? "fleet" : "fleets"}`;
  const words = query === "" ? all : `${formatCount(hits)} found`;
  return (
    <div class="panel-foot">
      <span class="grow">{words}</span>
      {chosen > 0 && <span>{formatCount(chosen)} selected</span>}
    </div>
  );
}
