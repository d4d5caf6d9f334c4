// Names of vehicles, words of markers and handles of waypoints, written on the overlay.
import { transforms, worldPose } from "../state/frames";
import type { Sample } from "../state/source";
import * as store from "../state/store";
import { traitsOf } from "./kinds";
import type { Overlay } from "./overlay";
import { toScreen } from "./projection";
import { cssOf } from "./skin";
import type { ViewState } from "./viewState";
import type { World } from "./world";

const NEAREST = 60;
const SELECTED = 12; // more names than that tell nothing

export function drawLabels(overlay: Overlay, view: ViewState, world: World, sample: Sample): void {
  const layers = store.layers.peek();
  if (layers.markers) markerWords(overlay, view, world, sample);
  if (layers.axes) frameNames(overlay, view, world, sample);
  names(overlay, view, world);
  handles(overlay, view, world);
}

function names(overlay: Overlay, view: ViewState, world: World): void {
  const strong = new Set<number>([...store.selection.peek()].slice(0, SELECTED));
  const hovered = store.hovered.peek();
  const rows = new Map<number, boolean>();
  if (hovered !== null) strong.add(hovered);
  if (world.rig.shown === "chase") strong.delete(store.focus.peek() ?? -1); // it is plain who that is
  for (const id of strong) {
    const row = world.rowOf(id);
    if (row !== undefined) rows.set(row, true);
  }
  if (store.layers.peek().names) for (const row of nearestRows(view, world)) if (!rows.has(row)) rows.set(row, false);
  for (const [row, loud] of rows) name(overlay, view, world, row, loud);
}

function name(overlay: Overlay, view: ViewState, world: World, row: number, strong: boolean): void {
  const at = world.crowd.blend.position(row);
  const fleet = world.crowd.roster?.fleetAt(row);
  const screen = [0, 0, 0];
  if (!at || !fleet) return;
  const { size, height } = traitsOf(fleet.kind);
  if (!toScreen(view.matrix, at[0], at[1], at[2] + 2 * height, view.size, screen)) return;
  const [x = 0, y = 0, depth = 1] = screen;
  const above = Math.max(8, Math.min(60, (0.12 * size * view.focal) / depth));
  overlay.plate(world.crowd.roster?.nameAt(row) ?? "", x, y - above, view.skin, strong);
}

/** Rows on the screen, nearest first. */
function nearestRows(view: ViewState, world: World): number[] {
  const { positions, count } = world.crowd.blend;
  const found: [row: number, depth: number][] = [];
  const screen = [0, 0, 0];
  for (let row = 0; row < count; row++) {
    const k = 3 * row;
    if (!toScreen(view.matrix, positions[k] as number, positions[k + 1] as number, positions[k + 2] as number,
      view.size, screen)) continue;
    const [x = 0, y = 0, depth = 0] = screen;
    if (x > 0 && y > 0 && x < view.size.width && y < view.size.height) found.push([row, depth]);
  }
  found.sort((a, b) => a[1] - b[1]);
  return found.slice(0, NEAREST).map(([row]) => row);
}

function markerWords(overlay: Overlay, view: ViewState, world: World, sample: Sample): void {
  const roster = world.crowd.roster;
  const screen = [0, 0, 0];
  for (const { text, position, height, colour } of roster ? world.markers.words(sample, roster) : []) {
    if (!toScreen(view.matrix, ...position, view.size, screen)) continue;
    const [x = 0, y = 0, depth = 1] = screen;
    const [r, g, b, a] = colour;
    const px = (height * view.focal) / depth;
    overlay.words(text, x, y, px, `rgb(${r} ${g} ${b} / ${a / 255})`, cssOf(view.skin.background, 0.8));
  }
}

function frameNames(overlay: Overlay, view: ViewState, world: World, sample: Sample): void {
  const screen = [0, 0, 0];
  for (const frame of world.crowd.roster ? transforms.peek().keys() : []) {
    const pose = worldPose(frame, sample, world.crowd.roster ?? store.roster.peek());
    if (!pose || !toScreen(view.matrix, ...pose.position, view.size, screen)) continue;
    overlay.words(frame, screen[0] as number, (screen[1] as number) + 12, 11, cssOf(view.skin.text),
      cssOf(view.skin.background, 0.8));
  }
}

function handles(overlay: Overlay, view: ViewState, world: World): void {
  const screen = [0, 0, 0];
  const put = (at: readonly [number, number, number], label: string, colour: string): void => {
    if (!toScreen(view.matrix, ...at, view.size, screen)) return;
    overlay.handle(screen[0] as number, screen[1] as number, label, colour, view.skin);
  };
  for (const { at, index } of world.routes.knobs) put(at, String(index + 1), cssOf(view.skin.accent));
  world.routes.draft.forEach((at, index) => put(at, String(index + 1), cssOf(view.skin.amber)));
}
