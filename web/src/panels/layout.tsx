// Sizes and open tabs of the panels, stored between visits; splitters.
import { signal } from "@preact/signals";
import type { TargetedPointerEvent } from "preact";
import { useRef } from "preact/hooks";
import { persisted } from "../state/persist";
import { colouring, layers, shadows, theme } from "../state/store";

type Side = "left" | "right" | "bottom";
export type RightTab = "inspect" | "spawn" | "layers" | "mission" | "radio";
export type BottomTab = "plots" | "events" | "performance" | "log";

const LIMITS: Readonly<Record<Side, readonly [least: number, most: number]>> = {
  left: [11, 32],
  right: [15, 40],
  bottom: [8, 36],
};

/** In rem: panels scale with the screen. */
export const sizes = signal<Readonly<Record<Side, number>>>({ left: 17, right: 22, bottom: 15 });
export const folded = signal<Readonly<Record<Side, boolean>>>({ left: false, right: false, bottom: false });
export const rightTab = signal<RightTab>("inspect");
export const bottomTab = signal<BottomTab>("plots");
export const helpOpen = signal(false);

function resize(side: Side, size: number): void {
  const [least, most] = LIMITS[side];
  sizes.value = { ...sizes.value, [side]: Math.min(Math.max(size, least), most) };
}

export function fold(side: Side, on = !folded.value[side]): void {
  folded.value = { ...folded.value, [side]: on };
}

export function showRight(tab: RightTab): void {
  rightTab.value = tab;
  fold("right", false);
}

export function showBottom(tab: BottomTab): void {
  bottomTab.value = tab;
  fold("bottom", false);
}

const NARROW = 900; // px
const LOW = 800; // px: on lower windows the world needs the space more than the plots

/** Collapse the side panels where they cover the world. */
export function clearView(): void {
  if (window.innerWidth < NARROW) folded.value = { ...folded.value, left: true, right: true };
}

/** Whether the page is part of another one, e.g. of a notebook's cell: `?embed=1`. */
export function isEmbedded(search = window.location.search): boolean {
  return new URLSearchParams(search).get("embed") === "1";
}

/** Panels that start collapsed. */
export function foldedAtFirst(width: number, height: number, embedded = false): Readonly<Record<Side, boolean>> {
  const narrow = width < NARROW || embedded;
  return { left: narrow, right: narrow, bottom: narrow || height < LOW };
}

/**
 * Restore and store the layout. In a narrow window the side panels always start collapsed, because they cover the
 * world. In another page the world needs all the space: panels and minimap start hidden, which is not stored.
 */
export function rememberLayout(): void {
  const embedded = isEmbedded();
  folded.value = foldedAtFirst(window.innerWidth, window.innerHeight, embedded);
  if (window.innerWidth >= NARROW && !embedded) persisted(folded, "panels.folded");
  persisted(sizes, "panels.sizes");
  persisted(rightTab, "panels.right");
  persisted(bottomTab, "panels.bottom");
  if (window.matchMedia("(prefers-color-scheme: light)").matches) theme.value = "light";
  persisted(theme, "theme");
  if (embedded) layers.value = { ...layers.value, minimap: false };
  else persisted(layers, "layers");
  persisted(shadows, "shadows");
  persisted(colouring, "colouring");
}

// splitters ----------------------------------------------------------------------------------------------------------

const NAMES: Readonly<Record<Side, string>> = { left: "fleets", right: "inspector", bottom: "plots" };

/** Pointer direction that enlarges the panel. */
const GROWS: Readonly<Record<Side, 1 | -1>> = { left: 1, right: -1, bottom: -1 };

export function Splitter({ side }: { side: Side }) {
  const held = useRef<{ from: number; size: number } | null>(null);
  const along = (event: PointerEvent) => (side === "bottom" ? event.clientY : event.clientX);
  const down = (event: TargetedPointerEvent<HTMLDivElement>) => {
    held.current = { from: along(event), size: sizes.value[side] };
    event.currentTarget.setPointerCapture(event.pointerId);
    event.currentTarget.classList.add("held");
  };
  const move = (event: PointerEvent) => {
    const start = held.current;
    if (start) resize(side, start.size + (GROWS[side] * (along(event) - start.from)) / remSize());
  };
  const up = (event: TargetedPointerEvent<HTMLDivElement>) => {
    held.current = null;
    event.currentTarget.classList.remove("held");
  };
  const [least, most] = LIMITS[side];
  return (
    <div
      class={`splitter ${side === "bottom" ? "lying" : "upright"}`}
      role="separator"
      tabIndex={0}
      aria-orientation={side === "bottom" ? "horizontal" : "vertical"}
      aria-label={`Size of the ${NAMES[side]} panel`}
      aria-valuemin={least}
      aria-valuemax={most}
      aria-valuenow={Math.round(sizes.value[side])}
      onPointerDown={down}
      onPointerMove={move}
      onPointerUp={up}
      onPointerCancel={up}
      onDblClick={() => fold(side)}
      onKeyDown={(event) => onKey(event, side)}
    />
  );
}

function onKey(event: KeyboardEvent, side: Side): void {
  const [back, forth] = side === "bottom" ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
  const way = event.key === forth ? 1 : event.key === back ? -1 : 0;
  if (way !== 0) resize(side, sizes.value[side] + GROWS[side] * way * (event.shiftKey ? 4 : 1));
  else if (event.key === "Enter") fold(side);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

function remSize(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 14;
}

export function toggleHelp(): void {
  helpOpen.value = !helpOpen.value;
}
