// One line of the fleet tree: a fleet, or one of its members.
import { removeIds } from "../control";
import { fleetColour } from "../state/palette";
import type { Fleet } from "../state/roster";
import { live, roster } from "../state/store";
import { idsOf, lookAt, pickIds } from "./actions";
import { formatCount } from "./format";
import { Icon, KindIcon } from "./icons";
import { Button } from "./parts";

const SURELY = { always: true }; // the next line slides under the pointer: a second click must not remove that as well

interface Chosen {
  id: string; // of the element
  active: boolean; // has the keys
  top: string;
  chosen: ReadonlySet<number>;
  focused: number | null;
}

interface FleetProps extends Chosen {
  fleet: Fleet;
  expanded: boolean;
  onToggle(): void;
}

export function FleetLine({ fleet, id, active, top, chosen, focused, expanded, onToggle }: FleetProps) {
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
      aria-level={1}
    >
      {fleet.single ? <span class="twist" /> : <Twist name={fleet.name} expanded={expanded} onToggle={onToggle} />}
      <button
        type="button"
        class="pick"
        tabIndex={-1}
        title={`${fleet.name}: ${fleet.kind}, ${fleet.model}`}
        onClick={(event) => pickIds(ids(), adds(event))}
        onDblClick={() => lookAtRow(fleet.first)}
      >
        <span class="tinted" style={{ "--tint": fleetColour(fleet.name).hex }}>
          <KindIcon kind={fleet.kind} />
        </span>
        <span class="ellipsis">{fleet.name}</span>
        <span class="model ellipsis">{fleet.model}</span>
      </button>
      {!fleet.single && <span class={`count number ${live.value ? "hides" : ""}`}>{formatCount(fleet.count)}</span>}
      {live.value && <RemoveButton name={fleet.name} onRemove={() => void removeIds(ids(), SURELY)} />}
    </div>
  );
}

function Twist({ name, expanded, onToggle }: { name: string; expanded: boolean; onToggle(): void }) {
  return (
    <button
      type="button"
      class="twist"
      tabIndex={-1}
      aria-label={`Members of ${name}`}
      aria-expanded={expanded}
      onClick={onToggle}
    >
      <Icon name="chevron" />
    </button>
  );
}

export function MemberLine({ row, id: element, active, top, chosen, focused }: Chosen & { row: number }) {
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
      aria-level={2}
    >
      <button
        type="button"
        class="pick"
        tabIndex={-1}
        onClick={(event) => pickIds([id], adds(event))}
        onDblClick={() => lookAt(id)}
      >
        <span class="ellipsis">{name}</span>
      </button>
      <span class={`count number ${live.value ? "hides" : ""}`}>{id}</span>
      {live.value && <RemoveButton name={name} onRemove={() => void removeIds([id], SURELY)} />}
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

/** Whether all of a fleet are chosen, looking only at the ends first: most of the time that settles it. */
function wholeChosen(fleet: Fleet, chosen: ReadonlySet<number>): boolean {
  if (fleet.count === 0 || chosen.size < fleet.count) return false;
  return fleet.ids.every(([first, count]) => {
    for (let id = first; id < first + count; id++) if (!chosen.has(id)) return false;
    return true;
  });
}
