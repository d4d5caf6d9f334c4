// Plots: a chart per unit, all over the same stretch of simulated time.
import { useEffect } from "preact/hooks";
import { download } from "../control";
import { Chart } from "./chart";
import { Button, Empty } from "./parts";
import { PlotPicker } from "./plotpicker";
import { csvOf } from "./plotcsv";
import { feedPlots, memory } from "./plotfeed";
import { groupByUnit, keyOf, plotted, shownSeries } from "./plotlist";
import { held, latest, resetZoom, shownRange, WINDOWS, windowLength, zoom } from "./plotwindow";

export function PlotsPanel() {
  useEffect(feedPlots, []);
  const groups = groupByUnit(shownSeries.value);
  return (
    <div class="plots">
      <PlotBar />
      {groups.size === 0 ? (
        <Empty icon="plot" title="Nothing is plotted">
          <p>Press the small plot button beside a number in the inspector, or choose a vehicle and a column above.</p>
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
      {some && (
        <>
          {zoom.value !== null && <Button look="small" label="Reset the zoom" text="Reset zoom" onClick={resetZoom} />}
          <WindowSelect />
          <Button
            look="small"
            icon={held.value === null ? "pause" : "play"}
            label={held.value === null ? "Hold the plots" : "Let the plots go on"}
            pressed={held.value !== null}
            onClick={() => (held.value = held.value === null ? latest() : null)}
          />
          <Button look="small" icon="download" label="Download what is shown as CSV" onClick={downloadCsv} />
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
      aria-label="Length of time shown"
      value={String(windowLength.value)}
      onChange={(event) => (windowLength.value = Number(event.currentTarget.value))}
    >
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
  const text = csvOf(shownSeries.value, memory.between(start, end, shownSeries.value.map(keyOf)));
  download(new Blob([text], { type: "text/csv" }), "plots.csv");
}

function removeAll(): void {
  const away = new Set(shownSeries.value);
  plotted.value = plotted.value.filter((series) => !away.has(series));
}
