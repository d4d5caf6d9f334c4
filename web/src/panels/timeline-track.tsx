// The timeline's track: a slider over time with event ticks.

import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { TimedEvent } from "../state/events";
import { formatTime } from "../state/format";
import { source, theme } from "../state/store";
import {
  type Extent,
  extentOf,
  jumpToEvent,
  positionOf,
  restartsOf,
  seek,
  stepSample,
  timedEvents,
} from "./timeline-model";

const KINDS: Readonly<Record<string, string>> = {
  spawned: "--green",
  removed: "--faint",
  failsafe: "--amber",
  recovered: "--accent",
  refused: "--red",
  contact: "--amber",
  crashed: "--red",
  barrier_timeout: "--red",
  target_lost: "--amber",
  link_up: "--green",
  link_down: "--amber",
  contact_lost: "--amber",
  contact_regained: "--green",
  lost_link: "--amber",
  missing: "--red",
  network_joined: "--green",
  network_split: "--amber",
  jammed: "--red",
  unjammed: "--green",
  gnss_spoofed: "--red",
  gnss_released: "--green",
};
const OTHERS = ["--accent", "--green", "--amber", "--soft"];

export function colourOf(kind: string): string {
  let sum = 0;
  for (const letter of kind) sum += letter.charCodeAt(0);
  return KINDS[kind] ?? (OTHERS[sum % OTHERS.length] as string);
}

// painting -----------------------------------------------------------------------------------------------------------

interface Picture {
  extent: Extent;
  events: readonly TimedEvent[];
  restarts: readonly number[];
}

const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600];
const APART = 70; // minimum px between scale marks

function paint(canvas: HTMLCanvasElement, { extent, events, restarts }: Picture): void {
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

/** One tick per pixel with events: thousands of events cost no more than a few hundred. */
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

// track --------------------------------------------------------------------------------------------------------------

const NEAR = 5; // px around the pointer in which events are listed
const LISTED = 5; // listed at most
const PAINT_EVERY = 100; // ms

export function TimelineTrack() {
  const box = useRef<HTMLDivElement>(null);
  const hover = useSignal<number | null>(null); // px
  const resume = useRef(false);
  const timeAt = (x: number) => {
    const { start, end } = extentOf(source.peek());
    const width = box.current?.clientWidth || 1;
    return start + (Math.min(Math.max(x, 0), width) / width) * (end - start);
  };
  const xOf = (event: PointerEvent) => event.clientX - (box.current?.getBoundingClientRect().left ?? 0);
  const onDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    box.current?.setPointerCapture(event.pointerId);
    const timeline = source.peek()?.timeline;
    resume.current = timeline?.playing.peek() === true;
    timeline?.pause();
    seek(timeAt(xOf(event)));
  };
  const onMove = (event: PointerEvent) => {
    hover.value = xOf(event);
    if (box.current?.hasPointerCapture(event.pointerId)) seek(timeAt(xOf(event)));
  };
  const onUp = (event: PointerEvent) => {
    box.current?.releasePointerCapture(event.pointerId);
    if (resume.current) source.peek()?.timeline?.play();
    resume.current = false;
  };
  return (
    <div
      class="timeline-track"
      ref={box}
      role="slider"
      tabIndex={0}
      aria-label="Time"
      {...useAria()}
      onPointerDown={onDown}
      onPointerMove={onMove}
      onPointerUp={onUp}
      onPointerLeave={() => (hover.value = null)}
      onKeyDown={onKey}>
      <Ticks />
      <Head />
      {hover.value !== null && (
        <Hint x={hover.value} time={timeAt(hover.value)} width={box.current?.clientWidth ?? 1} />
      )}
    </div>
  );
}

/** For screen readers; in steps of 0.1 s, to limit rendering. */
function useAria() {
  const start = useComputed(() => tenths(extentOf(source.value).start)).value;
  const end = useComputed(() => tenths(extentOf(source.value).end)).value;
  const now = useComputed(() => tenths(positionOf(source.value))).value;
  const words = `${now.toFixed(1)} s`;
  return { "aria-valuemin": start, "aria-valuemax": end, "aria-valuenow": now, "aria-valuetext": words };
}

function tenths(time: number): number {
  return Math.round(10 * time) / 10;
}

function onKey(event: KeyboardEvent): void {
  const { start, end } = extentOf(source.peek());
  const now = positionOf(source.peek());
  const far = event.shiftKey ? 10 : 1;
  const step = (far * Math.max(end - start, 0)) / 100;
  const acts: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => seek(now - step),
    ArrowRight: () => seek(now + step),
    ArrowDown: () => seek(now - step),
    ArrowUp: () => seek(now + step),
    Home: () => seek(start),
    End: () => seek(end),
    PageUp: () => jumpToEvent(-1),
    PageDown: () => jumpToEvent(1),
    ",": () => stepSample(-1),
    ".": () => stepSample(1),
  };
  const act = acts[event.key];
  if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  event.stopPropagation();
  act();
}

/** The painted part; repainted on changes, but not with each frame. */
function Ticks() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSignal(0);
  const due = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    const watch = new ResizeObserver(() => (size.value += 1));
    if (canvas.current !== null) watch.observe(canvas.current);
    return () => {
      watch.disconnect();
      clearTimeout(due.current);
    };
  }, []);
  useSignalEffect(() => {
    void [size.value, theme.value, source.value?.events.value, extentOf(source.value)]; // dependencies
    due.current ??= setTimeout(() => {
      due.current = undefined;
      if (canvas.current !== null) paint(canvas.current, pictureNow());
    }, PAINT_EVERY);
  });
  return <canvas ref={canvas} aria-hidden="true" />;
}

function pictureNow(): Picture {
  const shown = source.peek();
  return { extent: extentOf(shown), events: timedEvents(shown), restarts: restartsOf(shown) };
}

/** The position mark, moved without rendering anything else. */
function Head() {
  const head = useRef<HTMLDivElement>(null);
  useSignalEffect(() => {
    const { start, end } = extentOf(source.value);
    const share = end > start ? (positionOf(source.value) - start) / (end - start) : 1;
    head.current?.style.setProperty("--at", `${(100 * Math.min(Math.max(share, 0), 1)).toFixed(3)}%`);
  });
  return (
    <div class="timeline-head" ref={head}>
      <div class="done" />
      <div class="needle" />
    </div>
  );
}

function Hint({ x, time, width }: { x: number; time: number; width: number }) {
  const { start, end } = extentOf(source.value);
  const near = (NEAR * (end - start)) / Math.max(width, 1);
  const nearby = timedEvents(source.value).filter((event) => Math.abs(event.time - time) <= near);
  const side = x > width / 2 ? { right: `${width - x}px` } : { left: `${x}px` };
  return (
    <div class="timeline-hint" style={side}>
      <div class="number">{formatTime(time)}</div>
      {nearby.slice(0, LISTED).map(({ number, kind, subject, detail }) => (
        <div key={number} class="ellipsis">
          <i style={{ background: `var(${colourOf(kind)})` }} />
          {kind} <span class="faint">{[subject, detail].filter(Boolean).join(", ")}</span>
        </div>
      ))}
      {nearby.length > LISTED && <div class="faint">and {nearby.length - LISTED} more</div>}
    </div>
  );
}
