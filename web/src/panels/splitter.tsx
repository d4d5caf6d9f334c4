// The line between two rooms: drag it, or move it with the arrow keys; a double click folds the panel.
import type { TargetedPointerEvent } from "preact";
import { useRef } from "preact/hooks";
import { fold, LIMITS, resize, type Side, sizes } from "./layout";

const NAMES: Readonly<Record<Side, string>> = { left: "fleets", right: "inspector", bottom: "plots" };

/** Which way the pointer goes when the panel grows. */
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
