// One chart: lines of the same unit, cursor values, zoom by dragging.

import { effect, signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { formatUnit, formatValue } from "../state/format";
import { hexOf, paletteColour } from "../state/palette";
import { source, type Theme, theme } from "../state/store";
import { additions, latest, plotBuffer, resetZoom, shownRange, zoomTo } from "./plot-data";
import { keyOf, removeSeries, type Series } from "./plot-list";
import { Button } from "./widgets";

const DEEPER = 0.68; // on light backgrounds

function lineColour(number: number, theme: Theme): string {
  const { hex, rgb } = paletteColour(number);
  return theme === "dark" ? hex : hexOf(rgb.map((part) => part * DEEPER));
}

function chartOptions(
  host: HTMLElement,
  series: readonly Series[],
  theme: Theme,
  onCursor: (index: number | null) => void,
): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const rem = Number.parseFloat(style.fontSize) || 14;
  const axis = axisLook(style, rem);
  return {
    width: Math.max(host.clientWidth, 50),
    height: Math.max(host.clientHeight, 50),
    legend: { show: false },
    padding: [0.5 * rem, 0.8 * rem, 0, 0],
    scales: { x: { time: false, auto: false }, y: { range: roomy } },
    axes: [
      { ...axis, size: 1.9 * rem, values: (_, splits) => splits.map((at) => `${round(at)} s`) },
      { ...axis, size: 4.2 * rem, values: (_, splits) => labels(splits) },
    ],
    cursor: {
      sync: { key: "paddock-plots" },
      drag: { x: true, y: false, setScale: false },
      points: { size: 0.45 * rem },
      bind: {
        dblclick: () => () => {
          resetZoom();
          return null;
        },
      },
    },
    series: [{}, ...series.map((curve) => lineLook(curve, theme))],
    hooks: {
      setCursor: [(plot) => onCursor(plot.cursor.idx ?? null)],
      setSelect: [takeSelection],
      draw: [(plot) => drawNow(plot, style.getPropertyValue("--accent").trim())],
    },
  };
}

function lineLook({ column, colour }: Series, theme: Theme): uPlot.Series {
  return { label: column, stroke: lineColour(colour, theme), width: 1.5, points: { show: false } };
}

function axisLook(style: CSSStyleDeclaration, rem: number): Partial<uPlot.Axis> {
  const line = style.getPropertyValue("--line").trim();
  return {
    stroke: style.getPropertyValue("--faint").trim(),
    font: `${Math.round(0.79 * rem)}px system-ui, sans-serif`,
    grid: { stroke: line, width: 1 },
    ticks: { stroke: line, width: 1, size: 4 },
  };
}

/** The position of a recording among its past and future values. */
function drawNow(plot: uPlot, colour: string): void {
  if (source.peek()?.kind !== "recording") return;
  const { ctx, bbox } = plot;
  const x = Math.round(plot.valToPos(latest(), "x", true));
  if (x < bbox.left || x > bbox.left + bbox.width) return;
  ctx.fillStyle = colour;
  ctx.fillRect(x, bbox.top, Math.max(1, Math.round(devicePixelRatio)), bbox.height);
}

function takeSelection(plot: uPlot): void {
  const { left, width } = plot.select;
  if (width < 4) return;
  zoomTo(plot.posToVal(left, "x"), plot.posToVal(left + width, "x"));
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
}

/** Some margin above and below, also around a constant. */
function roomy(_plot: uPlot, low: number | null, high: number | null): [number, number] {
  if (low === null || high === null) return [0, 1];
  const margin = high > low ? 0.08 * (high - low) : Math.max(1e-3, 0.1 * Math.abs(high));
  return [low - margin, high + margin];
}

/** Labels with enough digits to differ. */
function labels(splits: readonly number[]): string[] {
  const step = splits.length > 1 ? Math.abs((splits[1] ?? 0) - (splits[0] ?? 0)) : 0;
  const largest = Math.max(...splits.map(Math.abs));
  const digits = step > 0 ? Math.ceil(Math.log10(largest / step)) + 2 : 6;
  return splits.map((at) => `${Number(at.toPrecision(Math.min(Math.max(digits, 6), 15)))}`);
}

function round(value: number): number {
  return Number(value.toPrecision(6));
}

// chart --------------------------------------------------------------------------------------------------------------

const EVERY = 33; // ms between drawings

interface Props {
  unit: string;
  series: readonly Series[];
}

export function Chart({ unit, series }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const readings = useSignal<readonly (number | null)[]>([]);
  const look = theme.value;
  const shared = series.every(({ id }) => id === series[0]?.id) ? (series[0]?.name ?? null) : null; // reported once
  useEffect(() => {
    if (host.current === null) return undefined;
    return drawIn(host.current, series, (values) => (readings.value = values));
  }, [look]);
  return (
    <section class="chart" aria-label={unit === "" ? "Chart" : `Chart in ${formatUnit(unit)}`}>
      <ul class="chart-keys">
        {shared !== null && <li class="soft">{shared}</li>}
        {series.map((curve, at) => (
          <li key={keyOf(curve)} class="chart-key">
            <span class="swatch" style={{ background: lineColour(curve.colour, look) }} />
            <span>
              {shared === null && `${curve.name} `}
              <b>{curve.column}</b>
            </span>
            <span class="number">{formatValue(readings.value[at])}</span>
            <Button
              look="bare small"
              icon="close"
              label={`Remove ${curve.name} ${curve.column} from the plots`}
              onClick={() => removeSeries(curve.id, curve.column)}
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
function drawIn(host: HTMLElement, series: readonly Series[], show: (values: (number | null)[]) => void) {
  const keys = series.map(keyOf);
  const cursor = signal<number | null>(null);
  const options = chartOptions(host, series, theme.value, (at) => (cursor.value = at));
  const plot = new uPlot(options, plotBuffer.between(0, 0, keys), host);
  const watcher = new ResizeObserver(() => plot.setSize({ width: host.clientWidth, height: host.clientHeight }));
  watcher.observe(host);
  const read = () => {
    const at = cursor.value ?? indexNow(plot.data[0] ?? [], latest());
    show(keys.map((_, k) => plot.data[k + 1]?.[at] ?? null));
  };
  const draw = () => {
    const [start, end] = shownRange();
    plot.batch(() => {
      plot.setData(plotBuffer.between(start, end, keys), false);
      plot.setScale("x", { min: start, max: end });
    });
    read(); // of the drawn data
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

/** The last index at or before a time, otherwise the first. */
function indexNow(times: ArrayLike<number>, time: number): number {
  let at = times.length - 1;
  while (at > 0 && (times[at] as number) > time) at -= 1;
  return at;
}

/** Draw when the read signals change, with the display, at a limited rate. */
function atMostEvery(least: number, draw: () => void): () => void {
  let last = 0;
  let waiting = 0;
  const stop = effect(() => {
    additions.value;
    void [shownRange(), latest()]; // their signals count, too
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
