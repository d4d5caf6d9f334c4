// Choosing what to plot: a vehicle and one of its columns, completed while typing.
import { useSignal } from "@preact/signals";
import type { Roster } from "../state/roster";
import { focus, roster, tell } from "../state/store";
import { Icon } from "./icons";
import { liveColumns } from "./inspected";
import { addSeries } from "./plotlist";

const MOST_SUGGESTED = 60;
const MOST_TRIED = 400; // members of a fleet

export function PlotPicker() {
  const typed = useSignal("");
  const column = useSignal("");
  const present = roster.value;
  const focused = focus.value === null ? undefined : present.rowOfId(focus.value);
  const chosen = typed.value || (focused === undefined ? "" : present.nameAt(focused));
  const row = present.rowOfName(chosen);
  const id = row === undefined ? undefined : present.idAt(row);
  const columns = id === undefined ? [] : liveColumns(id);
  const submit = (event: Event) => {
    event.preventDefault();
    if (chosen === "") tell("warning", "Choose a vehicle first");
    else if (id === undefined) tell("warning", `There is no vehicle called ${chosen}`);
    else if (column.value === "") tell("warning", "Choose a column first");
    else if (!columns.includes(column.value)) tell("warning", `${chosen} has no column called ${column.value}`);
    else {
      addSeries(id, column.value);
      column.value = "";
    }
  };
  return (
    <form class="row" onSubmit={submit}>
      <input
        class="field small"
        style={{ width: "10rem" }}
        list="plot-vehicles"
        aria-label="Vehicle to plot"
        placeholder={chosen || "Vehicle"}
        value={typed.value}
        onInput={(event) => (typed.value = event.currentTarget.value)}
      />
      <Suggestions id="plot-vehicles" words={suggestNames(present, typed.value)} />
      <input
        class="field small"
        style={{ width: "10rem" }}
        list="plot-columns"
        aria-label="Column to plot"
        placeholder="Column"
        value={column.value}
        onInput={(event) => (column.value = event.currentTarget.value)}
      />
      <Suggestions id="plot-columns" words={columns} />
      <button type="submit" class="button small" title="Add to the plots (Enter)">
        <Icon name="plus" />
        <span class="text">Plot</span>
      </button>
    </form>
  );
}

function Suggestions({ id, words }: { id: string; words: readonly string[] }) {
  return (
    <datalist id={id}>
      {words.map((word) => (
        <option key={word} value={word} />
      ))}
    </datalist>
  );
}

/** Names of vehicles that begin like what was typed; the first ones of each fleet. */
export function suggestNames(present: Roster, typed: string): string[] {
  const wanted = typed.toLowerCase();
  const names: string[] = [];
  for (const fleet of present.fleets) {
    const last = fleet.first + Math.min(fleet.count, MOST_TRIED);
    for (let row = fleet.first; row < last && names.length < MOST_SUGGESTED; row++) {
      const name = present.nameAt(row);
      if (name.toLowerCase().startsWith(wanted)) names.push(name);
    }
  }
  return names;
}
