// The strip's track: a slider over time, with ticks where something happened; hovering tells what.
import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { source, theme } from "../state/store";
import { formatTime } from "./format";
import { colourOf } from "./timelinecolours";
import { extentOf, jumpToEvent, positionOf, restartsOf, seek, stepSample, timedEvents } from "./timelinemodel";
import { paint, type Picture } from "./timelinepaint";

const NEAR = 5; // px around the pointer in which events are told
const TOLD = 5; // of them at most
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
      onKeyDown={onKey}
    >
      <Ticks />
      <Head />
      {hover.value !== null && (
        <Hint x={hover.value} time={timeAt(hover.value)} width={box.current?.clientWidth ?? 1} />
      )}
    </div>
  );
}

/** What a screen reader is told; in steps of 0.1 s, so that the page is not written anew with each picture. */
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

/** The painted part; it is painted anew when what it shows has changed, but not with every frame that arrives. */
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
    void [size.value, theme.value, source.value?.events.value, extentOf(source.value)]; // whatever of it changes
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

/** Where it stands; moved without rendering anything else. */
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
  const found = timedEvents(source.value).filter((event) => Math.abs(event.time - time) <= near);
  const side = x > width / 2 ? { right: `${width - x}px` } : { left: `${x}px` };
  return (
    <div class="timeline-hint" style={side}>
      <div class="number">{formatTime(time)}</div>
      {found.slice(0, TOLD).map(({ number, kind, subject, detail }) => (
        <div key={number} class="ellipsis">
          <i style={{ background: `var(${colourOf(kind)})` }} />
          {kind} <span class="faint">{[subject, detail].filter(Boolean).join(", ")}</span>
        </div>
      ))}
      {found.length > TOLD && <div class="faint">and {found.length - TOLD} more</div>}
    </div>
  );
}
