// The plots panel: a chart per unit on one time axis, series picker, CSV export.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { download } from "../state/files";
import type { Roster } from "../state/roster";
import { focus, roster, showNotice } from "../state/store";
import { Chart } from "./chart";
import { Icon } from "./icons";
import { liveColumns } from "./inspected";
import {
  feedPlots,
  held,
  latest,
  plotBuffer,
  readShare,
  resetZoom,
  shownRange,
  WINDOWS,
  windowLength,
  zoom,
} from "./plot-data";
import { addSeries, groupByUnit, keyOf, plotted, type Series, shownSeries } from "./plot-list";
import { Button, Empty } from "./widgets";

export function csvOf(series: readonly Series[], data: readonly (readonly (number | null)[])[]): string {
  const [times = [], ...columns] = data;
  const head = ["time [s]", ...series.map(({ name, column, unit }) => `${name} ${column}${unit ? ` [${unit}]` : ""}`)];
  const lines = times.map((time, at) => [time, ...columns.map((column) => column[at] ?? "")].join(","));
  return [head.map(quoted).join(","), ...lines, ""].join("\n");
}

/** Quote names that a spreadsheet would split or treat as a formula. */
function quoted(text: string): string {
  const safe = /^[=+\-@]/.test(text) ? `'${text}` : text;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

// series picker ------------------------------------------------------------------------------------------------------

const MOST_SUGGESTED = 60;
const MOST_TRIED = 400; // vehicles of a fleet

function PlotPicker() {
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
    if (chosen === "") showNotice("warning", "Select a vehicle first");
    else if (id === undefined) showNotice("warning", `Unknown vehicle “${chosen}”`);
    else if (column.value === "") showNotice("warning", "Select a column first");
    else if (!columns.includes(column.value)) showNotice("warning", `${chosen} has no column “${column.value}”`);
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

/** Vehicle names with this prefix; the first ones of each fleet. */
function suggestNames(present: Roster, typed: string): string[] {
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

// panel --------------------------------------------------------------------------------------------------------------

export function PlotsPanel() {
  useEffect(feedPlots, []);
  const groups = groupByUnit(shownSeries.value);
  return (
    <div class="plots">
      <PlotBar />
      {groups.size === 0 ? (
        <Empty icon="plot" title="No plots">
          <p>Press the plot button beside a value in the inspector, or select a vehicle and a column above.</p>
        </Empty>
      ) : (
        <div class="charts">
          {[...groups].map(([unit, series]) => (
            <Chart key={`${unit} ${series.map(keyOf).join()}`} unit={unit} series={series} />
          ))}
        </div>
      )}
    </div>
  );
}

function PlotBar() {
  const some = shownSeries.value.length > 0;
  return (
    <div class="bar">
      <PlotPicker />
      <span class="grow" />
      {readShare.value < 1 && (
        <span class="faint number" role="status">
          Reading the recording: {Math.floor(100 * readShare.value)} %
        </span>
      )}
      {some && (
        <>
          {zoom.value !== null && <Button look="small" label="Reset the zoom" text="Reset zoom" onClick={resetZoom} />}
          <WindowSelect />
          <Button
            look="small"
            icon="freeze"
            label={held.value === null ? "Freeze the plots" : "Unfreeze the plots"}
            pressed={held.value !== null}
            onClick={() => (held.value = held.value === null ? latest() : null)}
          />
          <Button look="small" icon="download" label="Download the shown range as CSV" onClick={downloadCsv} />
          <Button look="small bare" icon="trash" label="Remove all plots" onClick={removeAll} />
        </>
      )}
    </div>
  );
}

function WindowSelect() {
  return (
    <select
      class="select small"
      aria-label="Time range"
      value={String(windowLength.value)}
      onChange={(event) => (windowLength.value = Number(event.currentTarget.value))}>
      {WINDOWS.map((seconds) => (
        <option key={seconds} value={String(seconds)}>
          {seconds < 60 ? `${seconds} s` : `${seconds / 60} min`}
        </option>
      ))}
    </select>
  );
}

function downloadCsv(): void {
  const [start, end] = shownRange();
  const text = csvOf(shownSeries.value, plotBuffer.between(start, end, shownSeries.value.map(keyOf)));
  download(new Blob([text], { type: "text/csv" }), "plots.csv");
}

function removeAll(): void {
  const away = new Set(shownSeries.value);
  plotted.value = plotted.value.filter((series) => !away.has(series));
}
