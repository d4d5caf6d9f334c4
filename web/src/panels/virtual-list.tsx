// A list with lines of equal height that renders only the visible ones, for up to 100,000 lines.
import { useSignal } from "@preact/signals";
import type { AriaRole, ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface Visible {
  first: number;
  last: number; // exclusive
}

const BEYOND = 6; // extra lines beyond the edges for scrolling
const TALLEST = 8_000_000; // px: browsers limit the height of elements

/** The visible lines. */
export function visibleLines(scroll: number, height: number, line: number, count: number): Visible {
  const first = Math.max(0, Math.floor(scroll / line) - BEYOND);
  const last = Math.min(count, Math.ceil((scroll + height) / line) + BEYOND);
  return { first: Math.min(first, last), last };
}

interface Props {
  label: string;
  count: number;
  lineRem: number;
  role?: AriaRole;
  class?: string;
  /** Render a line; `top`: its position as a CSS length. */
  line(index: number, top: string): ComponentChildren;
  stickToEnd?: boolean; // follow new lines while scrolled to the end
  /** A line to scroll to; a new object scrolls again. */
  reveal?: { readonly line: number } | null;
  /** With it the list is one tab stop, and keys move within it. */
  onKey?(event: KeyboardEvent): void;
  activeId?: string | undefined; // of the line with the keyboard focus
}

/** The scroll position that makes a line visible, moving as little as possible. */
export function scrollFor(line: number, px: number, scroll: number, height: number): number {
  if (line * px < scroll) return line * px;
  return Math.max(scroll, (line + 1) * px - height);
}

function pixels(rem: number): number {
  return rem * (Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 14);
}

export function VirtualList(props: Props) {
  const { label, count, lineRem, role, class: look = "", line, stickToEnd, reveal, onKey, activeId } = props;
  const box = useRef<HTMLDivElement>(null);
  const range = useSignal<Visible>({ first: 0, last: 0 });
  const atEnd = useRef(true);
  const measure = () => {
    const { current } = box;
    if (!current) return;
    const px = pixels(lineRem);
    const next = visibleLines(current.scrollTop, current.clientHeight || 600, px, count);
    atEnd.current = current.scrollTop + current.clientHeight > current.scrollHeight - 2 * px;
    if (next.first !== range.value.first || next.last !== range.value.last) range.value = next;
  };
  useLayoutEffect(() => {
    if (stickToEnd && atEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight;
    measure();
  }, [count]);
  useLayoutEffect(() => {
    const watcher = new ResizeObserver(measure);
    if (box.current) watcher.observe(box.current);
    return () => watcher.disconnect();
  }, [count]);
  useLayoutEffect(() => {
    const { current } = box;
    if (!current || !reveal || reveal.line < 0) return;
    current.scrollTop = scrollFor(reveal.line, pixels(lineRem), current.scrollTop, current.clientHeight || 600);
    measure();
  }, [reveal]);
  const { first, last } = range.value;
  const lines = Array.from({ length: Math.max(0, Math.min(last, count) - first) }, (_, k) => first + k);
  return (
    <div
      class={`panel-body ${look}`}
      ref={box}
      role={role ?? "list"}
      aria-label={label}
      aria-activedescendant={activeId}
      tabIndex={onKey ? 0 : -1}
      onScroll={measure}
      onKeyDown={onKey}>
      <div class="tree" role="presentation" style={{ height: `min(${count * lineRem}rem, ${TALLEST}px)` }}>
        {lines.map((index) => line(index, `${index * lineRem}rem`))}
      </div>
    </div>
  );
}
