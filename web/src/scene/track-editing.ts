// The track editor in the world view: boundaries, middle line, start pose, and the cone under the pointer.
import { groundAt } from "../state/scenery";
import { check, chosenCone, draft } from "../state/track-draft";
import { bytes, type Rgba, Ribbons } from "./ribbons";
import { CONE_PAINTS } from "./shapes/cone";
import { raw } from "./skin";
import type { ViewState } from "./view";

const LEFT = raw("#3d8bff");
const RIGHT = raw("#ffd21f");
const ARROW = 3; // m, length of the start arrow
const SIDES = 24;
const LIFT = 0.05; // m

type Place = readonly [number, number];

export class TrackEditDrawing {
  private readonly ribbons = new Ribbons(7, false);
  readonly object = this.ribbons.object;
  hovered: number | null = null; // cone under the pointer

  update(view: ViewState): void {
    const { skin } = view;
    const { cones, colours, start } = draft.peek();
    const track = check.peek()?.track;
    this.ribbons.clear();
    if (track) {
      this.line(track.left, track.closed, 1.4, bytes(LEFT, 150));
      this.line(track.right, track.closed, 1.4, bytes(RIGHT, 150));
      this.dashes(track.centre, bytes(skin.text, 120));
    }
    cones.forEach((cone, k) => this.mark(cone, colours[k]));
    const at = chosenCone.peek();
    if (at !== null && cones[at]) this.ring(cones[at], 0.45, 2.6, bytes(skin.accent, 255));
    const near = this.hovered;
    if (near !== null && near !== at && cones[near]) this.ring(cones[near], 0.4, 1.6, bytes(skin.text, 200));
    this.arrow(start, bytes(skin.green, 255));
    this.ribbons.view(view);
    this.ribbons.show();
  }

  dispose(): void {
    this.ribbons.dispose();
  }

  /** A stroke that is visible from afar, where the cone is smaller than a pixel. */
  private mark(cone: Place, colour = "unknown"): void {
    const [x, y, z] = up(cone);
    const ink = bytes(raw(CONE_PAINTS[colour]?.body ?? "#9aa4ae"), 255);
    this.ribbons.add([x, y, z], [x, y, z + 0.45], 3, ink);
  }

  private line(points: readonly Place[], closed: boolean, width: number, ink: Rgba): void {
    const count = closed ? points.length : points.length - 1;
    for (let k = 0; k < count; k++) {
      this.ribbons.add(up(points[k] as Place), up(points[(k + 1) % points.length] as Place), width, ink);
    }
  }

  private dashes(points: readonly Place[], ink: Rgba): void {
    for (let k = 0; k + 1 < points.length; k += 4) {
      this.ribbons.add(up(points[k] as Place), up(points[Math.min(k + 2, points.length - 1)] as Place), 1.4, ink);
    }
  }

  private ring([x, y]: Place, radius: number, width: number, ink: Rgba): void {
    const point = (k: number): [number, number, number] => {
      const angle = (2 * Math.PI * k) / SIDES;
      return up([x + radius * Math.cos(angle), y + radius * Math.sin(angle)]);
    };
    for (let k = 0; k < SIDES; k++) this.ribbons.add(point(k), point(k + 1), width, ink);
  }

  private arrow([x, y, yaw]: readonly [number, number, number], ink: Rgba): void {
    const [c, s] = [Math.cos(yaw), Math.sin(yaw)];
    const point = (a: number, b: number): [number, number, number] => up([x + a * c - b * s, y + a * s + b * c]);
    this.ribbons.add(point(0, 0), point(ARROW, 0), 3, ink);
    for (const side of [1, -1]) this.ribbons.add(point(ARROW, 0), point(ARROW - 0.9, 0.6 * side), 3, ink);
    this.ring([x, y], 0.5, 3, ink);
  }
}

function up([x, y]: Place): [number, number, number] {
  return [x, y, groundAt(x, y) + LIFT];
}
