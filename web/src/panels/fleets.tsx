// The fleet tree: who is there, found by name, chosen by clicking.
import { connection, focus, live, roster, selection } from "../state/store";
import { formatCount } from "./format";
import { FleetLine, MemberLine } from "./fleetrow";
import { useTree } from "./fleettree";
import { fold, showRight } from "./layout";
import { Button, Empty, Search } from "./parts";
import { VirtualList } from "./virtual";

const LINE = 2; // rem

export function FleetPanel() {
  const tree = useTree();
  const { lines, query, active } = tree;
  // read here, so that the lines are drawn anew when they change
  const chosen = selection.value;
  const focused = focus.value;
  const line = (index: number, top: string) => {
    const one = lines.at(index);
    if (one === undefined) return null;
    const common = { id: lineId(index), top, chosen, focused, active: index === active.value };
    const { fleet, row } = one;
    if (row !== null) return <MemberLine key={`m${row}`} row={row} {...common} />;
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
          label="Find fleets and vehicles (Enter: select the first; again: look at it)"
          value={query.value}
          onChange={(value) => (query.value = value)}
          onEnter={tree.onFound}
        />
        <Button look="bare" icon="fold" label="Fold the fleets panel" onClick={() => fold("left")} />
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
        <NobodyThere query={query.value} />
      )}
      <Foot found={lines.found} query={query.value} />
    </>
  );
}

function lineId(line: number): string {
  return `fleet-line-${line}`;
}

function NobodyThere({ query }: { query: string }) {
  if (query !== "") {
    return (
      <Empty icon="search" title="Nothing found">
        <p>No fleet or vehicle matches “{query}”.</p>
      </Empty>
    );
  }
  if (connection.value.state !== "open" && roster.value.number < 0) {
    return <Empty icon="tree" title="Waiting for the server" />;
  }
  return (
    <Empty icon="tree" title="No vehicles">
      <p>The world is empty.</p>
      {live.value && <Button label="Spawn a vehicle" text="Spawn one" icon="plus" onClick={() => showRight("spawn")} />}
    </Empty>
  );
}

function Foot({ found, query }: { found: number; query: string }) {
  const { size, fleets } = roster.value;
  const chosen = selection.value.size;
  const all = `${formatCount(size)} in ${fleets.length} ${fleets.length === 1 ? "fleet" : "fleets"}`;
  const words = query === "" ? all : `${formatCount(found)} found`;
  return (
    <div class="panel-foot">
      <span class="grow">{words}</span>
      {chosen > 0 && <span>{formatCount(chosen)} selected</span>}
    </div>
  );
}
