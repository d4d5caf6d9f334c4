// One chart: lines of the same unit, what they are under the cursor, zoom by dragging.
import { effect, signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { theme } from "../state/store";
import { chartOptions, lineColour } from "./chartlook";
import { formatUnit, formatValue } from "./format";
import { Button } from "./parts";
import { memory, moments } from "./plotfeed";
import { keyOf, removeSeries, type Series } from "./plotlist";
import { latest, shownRange } from "./plotwindow";

const EVERY = 33; // ms between two drawings

interface Props {
  unit: string;
  series: readonly Series[];
}

export function Chart({ unit, series }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const readings = useSignal<readonly (number | null)[]>([]);
  const look = theme.value;
  const shared = series.every(({ id }) => id === series[0]?.id) ? (series[0]?.name ?? null) : null; // told once
  useEffect(() => {
    if (host.current === null) return undefined;
    return drawIn(host.current, series, (values) => (readings.value = values));
  }, [look]);
  return (
    <section class="chart" aria-label={unit === "" ? "Chart" : `Chart in ${formatUnit(unit)}`}>
      <ul class="chart-keys">
        {shared !== null && <li class="soft">{shared}</li>}
        {series.map((one, at) => (
          <li key={keyOf(one)} class="chart-key">
            <span class="swatch" style={{ background: lineColour(one.colour, look) }} />
            <span>
              {shared === null && `${one.name} `}
              <b>{one.column}</b>
            </span>
            <span class="number">{formatValue(readings.value[at])}</span>
            <Button
              look="bare small"
              icon="close"
              label={`Remove ${one.name} ${one.column} from the plots`}
              onClick={() => removeSeries(one.id, one.column)}
            />
          </li>
        ))}
        <li class="faint">{formatUnit(unit)}</li>
      </ul>
      <div class="chart-host" ref={host} />
    </section>
  );
}

/** Draw until the returned function is called. */
function drawIn(host: HTMLElement, series: readonly Series[], tell: (values: (number | null)[]) => void) {
  const keys = series.map(keyOf);
  const cursor = signal<number | null>(null);
  const options = chartOptions(host, series, theme.value, (at) => (cursor.value = at));
  const plot = new uPlot(options, memory.between(0, 0, keys), host);
  const watcher = new ResizeObserver(() => plot.setSize({ width: host.clientWidth, height: host.clientHeight }));
  watcher.observe(host);
  const read = () => {
    const at = cursor.value ?? indexNow(plot.data[0] ?? [], latest());
    tell(keys.map((_, k) => plot.data[k + 1]?.[at] ?? null));
  };
  const draw = () => {
    const [start, end] = shownRange();
    plot.batch(() => {
      plot.setData(memory.between(start, end, keys), false);
      plot.setScale("x", { min: start, max: end });
    });
    read(); // of what is drawn now
  };
  const stopDrawing = atMostEvery(EVERY, draw);
  const stopReading = effect(read); // also when only the cursor moves
  return () => {
    stopDrawing();
    stopReading();
    watcher.disconnect();
    plot.destroy();
  };
}

/** The last moment that is not after a time; the first, if all are. */
function indexNow(times: ArrayLike<number>, time: number): number {
  let at = times.length - 1;
  while (at > 0 && (times[at] as number) > time) at -= 1;
  return at;
}

/** Draw when what is read has changed, with the screen, not too often. */
function atMostEvery(least: number, draw: () => void): () => void {
  let last = 0;
  let waiting = 0;
  const stop = effect(() => {
    moments.value;
    void [shownRange(), latest()]; // their signals count too
    if (waiting !== 0) return;
    const soon = (now: number) => {
      if (now - last < least - 4) {
        waiting = requestAnimationFrame(soon);
        return;
      }
      waiting = 0;
      last = now;
      draw();
    };
    waiting = requestAnimationFrame(soon);
  });
  return () => {
    stop();
    cancelAnimationFrame(waiting);
  };
}
