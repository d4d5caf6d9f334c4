// Names of vehicles, marker texts and waypoint handles on the overlay; axes of transform frames.
import { formatCount } from "../state/format";
import { type Pose, poseAt, rotated, transforms, worldPose } from "../state/poses";
import type { Roster } from "../state/roster";
import type { Sample } from "../state/source";
import * as store from "../state/store";
import type { Overlay } from "./overlay";
import { type Rgba, Ribbons } from "./ribbons";
import { cssOf } from "./skin";
import { toScreen, traitsOf, type ViewState } from "./view";
import type { World } from "./world";

const TRIED = 1500; // names; the nearest vehicles first
const SELECTED = 12; // more names would not be readable

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
  if (world.rig.shown === "chase") strong.delete(store.focus.peek() ?? -1); // the followed vehicle needs no label
  for (const id of strong) {
    const row = world.rowOf(id);
    if (row !== undefined) rows.set(row, true);
  }
  const near = store.layers.peek().names ? nearestRows(view, world) : [];
  for (const row of near.slice(0, TRIED)) if (!rows.has(row)) rows.set(row, false);
  const shown = new Set([...rows].filter(([row, loud]) => name(overlay, view, world, row, loud)).map(([row]) => row));
  const named = near.reduce((count, row) => count + Number(shown.has(row)), 0);
  if (named < near.length) overlay.note(namesNote(named, near.length), view.size.height, view.skin);
}

/** How many names have space; the others would cover them. */
export function namesNote(named: number, visible: number): string {
  return `Names of ${formatCount(named)} of ${formatCount(visible)} vehicles in view; zoom in for more`;
}

/** Return false if there is no space. */
function name(overlay: Overlay, view: ViewState, world: World, row: number, strong: boolean): boolean {
  const at = world.vehicles.blend.position(row);
  const fleet = world.vehicles.roster?.fleetAt(row);
  const screen = [0, 0, 0];
  if (!at || !fleet) return false;
  const { size, height } = traitsOf(fleet);
  if (!toScreen(view.matrix, at[0], at[1], at[2] + 2 * height, view.size, screen)) return false;
  const [x = 0, y = 0, depth = 1] = screen;
  const above = Math.max(8, Math.min(60, (0.12 * size * view.focal) / depth));
  return overlay.plate(world.vehicles.roster?.nameAt(row) ?? "", x, y - above, view.skin, strong);
}

/** Rows on the screen, nearest first. */
function nearestRows(view: ViewState, world: World): number[] {
  const { positions, count } = world.vehicles.blend;
  const visible: [row: number, depth: number][] = [];
  const screen = [0, 0, 0];
  for (let row = 0; row < count; row++) {
    const k = 3 * row;
    if (
      !toScreen(
        view.matrix,
        positions[k] as number,
        positions[k + 1] as number,
        positions[k + 2] as number,
        view.size,
        screen,
      )
    )
      continue;
    const [x = 0, y = 0, depth = 0] = screen;
    if (x > 0 && y > 0 && x < view.size.width && y < view.size.height) visible.push([row, depth]);
  }
  visible.sort((a, b) => a[1] - b[1]);
  return visible.map(([row]) => row);
}

function markerWords(overlay: Overlay, view: ViewState, world: World, sample: Sample): void {
  const roster = world.vehicles.roster;
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
  for (const frame of world.vehicles.roster ? transforms.peek().keys() : []) {
    const pose = worldPose(frame, sample, world.vehicles.roster ?? store.roster.peek());
    if (!pose || !toScreen(view.matrix, ...pose.position, view.size, screen)) continue;
    overlay.words(
      frame,
      screen[0] as number,
      (screen[1] as number) + 12,
      11,
      cssOf(view.skin.text),
      cssOf(view.skin.background, 0.8),
    );
  }
}

function handles(overlay: Overlay, view: ViewState, world: World): void {
  const screen = [0, 0, 0];
  const put = (at: readonly [number, number, number], label: string, colour: string): void => {
    if (!toScreen(view.matrix, ...at, view.size, screen)) return;
    overlay.handle(screen[0] as number, screen[1] as number, label, colour, view.skin);
  };
  for (const { at, index } of world.routes.handles) put(at, String(index + 1), cssOf(view.skin.accent));
  world.routes.draft.forEach((at, index) => put(at, String(index + 1), cssOf(view.skin.amber)));
}

// axes ---------------------------------------------------------------------------------------------------------------

const COLOURS: readonly Rgba[] = [
  [255, 92, 92, 255],
  [95, 211, 141, 255],
  [88, 150, 255, 255],
];
const LENGTH_PX = 46;

export class Axes {
  readonly ribbons = new Ribbons(8, false);

  /** `focus`: the followed row; null: the layer is off. */
  update(view: ViewState, sample: Sample, roster: Roster, focus: number | undefined | null): void {
    this.ribbons.clear();
    if (focus !== null) {
      this.axesOf({ position: [0, 0, 0], quaternion: [0, 0, 0, 1] }, view);
      for (const name of transforms.peek().keys()) {
        const pose = worldPose(name, sample, roster);
        if (pose) this.axesOf(pose, view);
      }
      if (focus !== undefined) this.axesOf(poseAt(sample, focus), view);
    }
    this.ribbons.view(view);
    this.ribbons.show();
  }

  dispose(): void {
    this.ribbons.dispose();
  }

  private axesOf({ position, quaternion }: Pose, view: ViewState): void {
    const [x, y, z] = position;
    const away = Math.hypot(x - view.eye[0], y - view.eye[1], z - view.eye[2]);
    if (!Number.isFinite(away)) return;
    const length = (LENGTH_PX * away) / view.focal;
    for (let k = 0; k < 3; k++) {
      const tip = rotated(quaternion, [k === 0 ? length : 0, k === 1 ? length : 0, k === 2 ? length : 0]);
      this.ribbons.add(position, [x + tip[0], y + tip[1], z + tip[2]], 2.4, COLOURS[k] as Rgba);
    }
  }
}
