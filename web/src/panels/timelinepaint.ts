// Paints the strip's track: the extent, ticks where something happened, and where the run began anew.
import type { TimedEvent } from "../state/events";
import { colourOf } from "./timelinecolours";
import type { Extent } from "./timelinemodel";

export interface Picture {
  extent: Extent;
  events: readonly TimedEvent[];
  restarts: readonly number[];
}

const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600];
const APART = 70; // px between two marks of the scale at least

export function paint(canvas: HTMLCanvasElement, { extent, events, restarts }: Picture): void {
  const context = canvas.getContext("2d");
  const { clientWidth: width, clientHeight: height } = canvas;
  if (context === null || width === 0) return;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  context.scale(ratio, ratio);
  const style = getComputedStyle(canvas);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const place = (time: number) => ((time - extent.start) / Math.max(extent.end - extent.start, 1e-9)) * width;
  paintScale(context, extent, place, height, colour("--line-strong"));
  paintEvents(context, events, place, height, colour);
  context.fillStyle = colour("--amber");
  for (const time of restarts) for (let y = 0; y < height; y += 4) context.fillRect(Math.round(place(time)), y, 1, 2);
}

type Place = (time: number) => number;

function paintScale(
  context: CanvasRenderingContext2D,
  extent: Extent,
  place: Place,
  height: number,
  line: string,
): void {
  const pixels = place(extent.end) / Math.max(extent.end - extent.start, 1e-9); // per s
  const step = STEPS.find((seconds) => seconds * pixels >= APART) ?? 7200;
  context.fillStyle = line;
  if (!(extent.end > extent.start)) return;
  for (let k = Math.ceil(extent.start / step); k * step <= extent.end; k++) {
    context.fillRect(Math.round(place(k * step)), height - 5, 1, 5);
  }
}

/** One tick for each pixel at which something happened: thousands of events cost no more than some hundred. */
function paintEvents(
  context: CanvasRenderingContext2D,
  events: readonly TimedEvent[],
  place: Place,
  height: number,
  colour: (name: string) => string,
): void {
  const columns = new Map<number, string>();
  for (const { time, kind } of events) columns.set(Math.round(place(time)), colourOf(kind));
  for (const [x, name] of columns) {
    context.fillStyle = colour(name);
    context.fillRect(x - 1, 3, 2, height - 10);
  }
}
