// How a chart looks: colours from the theme, quiet axes, thin lines.
import type uPlot from "uplot";
import { paletteColour, hexOf } from "../state/palette";
import { source, type Theme } from "../state/store";
import type { Series } from "./plotlist";
import { latest, resetZoom, zoomTo } from "./plotwindow";
import { isOpened } from "./timelinemodel";

const DEEPER = 0.68; // on a light ground

export function lineColour(number: number, theme: Theme): string {
  const { hex, rgb } = paletteColour(number);
  return theme === "dark" ? hex : hexOf(rgb.map((part) => part * DEEPER));
}

export function chartOptions(
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
      { ...axis, size: 4.2 * rem, values: (_, splits) => splits.map((at) => `${round(at)}`) },
    ],
    cursor: {
      sync: { key: "paddock-plots" },
      drag: { x: true, y: false, setScale: false },
      points: { size: 0.45 * rem },
      bind: { dblclick: () => () => (resetZoom(), null) },
    },
    series: [{}, ...series.map((one) => lineLook(one, theme))],
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

/** Where a recording stands, among what it knows of before and after. */
function drawNow(plot: uPlot, colour: string): void {
  if (!isOpened(source.peek())) return;
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

/** A little room above and below, also around a constant. */
function roomy(_plot: uPlot, low: number | null, high: number | null): [number, number] {
  if (low === null || high === null) return [0, 1];
  const margin = high > low ? 0.08 * (high - low) : Math.max(1e-3, 0.1 * Math.abs(high));
  return [low - margin, high + margin];
}

function round(value: number): number {
  return Number(value.toPrecision(6));
}
