// Where the panels are and how large, which tab is open; kept from visit to visit.
import { signal } from "@preact/signals";
import { persisted } from "../state/persist";
import { colouring, layers, theme } from "../state/store";

export type Side = "left" | "right" | "bottom";
export type RightTab = "inspect" | "spawn" | "layers" | "mission";
export type BottomTab = "plots" | "events" | "performance" | "log";

export const LIMITS: Readonly<Record<Side, readonly [least: number, most: number]>> = {
  left: [11, 32],
  right: [15, 40],
  bottom: [8, 36],
};

/** In rem, so that a larger screen has larger panels. */
export const sizes = signal<Readonly<Record<Side, number>>>({ left: 17, right: 22, bottom: 15 });
export const folded = signal<Readonly<Record<Side, boolean>>>({ left: false, right: false, bottom: false });
export const rightTab = signal<RightTab>("inspect");
export const bottomTab = signal<BottomTab>("plots");
export const helpOpen = signal(false);

export function resize(side: Side, size: number): void {
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
const LOW = 800; // px: below, the world needs the height more than plots that nobody has asked for yet

/** What is folded before the person says otherwise. */
export function foldedAtFirst(width: number, height: number): Readonly<Record<Side, boolean>> {
  const narrow = width < NARROW;
  return { left: narrow, right: narrow, bottom: narrow || height < LOW };
}

/** Remember all of it; on a narrow window the sides begin folded each time, because they lie over the world. */
export function rememberLayout(): void {
  folded.value = foldedAtFirst(window.innerWidth, window.innerHeight);
  if (window.innerWidth >= NARROW) persisted(folded, "panels.folded");
  persisted(sizes, "panels.sizes");
  persisted(rightTab, "panels.right");
  persisted(bottomTab, "panels.bottom");
  if (window.matchMedia("(prefers-color-scheme: light)").matches) theme.value = "light";
  persisted(theme, "theme");
  persisted(layers, "layers");
  persisted(colouring, "colouring");
}
