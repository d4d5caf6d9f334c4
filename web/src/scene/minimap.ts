// The minimap: a dot per vehicle and the outline of the view. A click moves the camera, Enter frames everything.
import { groundAt, scenery } from "../state/scenery";
import * as store from "../state/store";
import type { ObstacleTree, TrackTree } from "../wire/schema";
import { bytes } from "./ribbons";
import { cssOf } from "./skin";
import { type Current, current } from "./stage";

interface MapFrame {
  x: number; // m: centre
  y: number;
  half: number; // m: from the centre to an edge
}

/** A square around all positions (x, y, z of each) with a margin; kept while it fits, so that the map stays still. */
export function mapFrame(positions: Float32Array, count: number, before: MapFrame | null): MapFrame | null {
  let [left, right, low, high] = [
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
  ];
  for (let row = 0; row < count; row++) {
    const x = positions[3 * row] as number;
    const y = positions[3 * row + 1] as number;
    if (x < left) left = x;
    if (x > right) right = x;
    if (y < low) low = y;
    if (y > high) high = y;
  }
  if (!(left <= right && low <= high)) return before;
  const needed = Math.max(right - left, high - low) / 2;
  if (before && fits(before, left, right, low, high) && needed > 0.4 * before.half) return before;
  return { x: (left + right) / 2, y: (low + high) / 2, half: Math.max(1.18 * needed, 10) };
}

function fits({ x, y, half }: MapFrame, left: number, right: number, low: number, high: number): boolean {
  return left >= x - half && right <= x + half && low >= y - half && high <= y + half;
}

/** Pixels of a point on a map of `side` px. */
export function toMap({ x, y, half }: MapFrame, side: number, px: number, py: number): [number, number] {
  return [(0.5 + (px - x) / (2 * half)) * side, (0.5 - (py - y) / (2 * half)) * side];
}

/** The world point at map pixels. */
export function fromMap({ x, y, half }: MapFrame, side: number, mx: number, my: number): [number, number] {
  return [x + (mx / side - 0.5) * 2 * half, y - (my / side - 0.5) * 2 * half];
}

// map ----------------------------------------------------------------------------------------------------------------

const EVERY = 150; // ms between drawings
const RINGS = 60; // selected vehicles with rings; more of them get larger dots
const FAR = 4; // map widths: end of the view outline towards the horizon

interface Minimap {
  redraw(): void;
  dispose(): void;
}

export function createMinimap(canvas: HTMLCanvasElement): Minimap {
  const map = new Map2d(canvas);
  const over = new AbortController();
  const { signal } = over;
  canvas.addEventListener("pointerdown", (event) => map.goTo(event), { signal });
  canvas.addEventListener("pointermove", (event) => event.buttons & 1 && map.goTo(event), { signal });
  canvas.addEventListener("keydown", (event) => onKey(event), { signal });
  const timer = setInterval(() => map.redraw(), EVERY);
  map.redraw();
  return {
    redraw: () => map.redraw(),
    dispose: () => {
      clearInterval(timer);
      over.abort();
    },
  };
}

function onKey(event: KeyboardEvent): void {
  if (event.key !== "Enter" && event.key !== " ") return;
  event.preventDefault();
  event.stopPropagation(); // Space is the pause shortcut
  leaveVehicle();
  current.peek()?.stage.frameAll();
}

/** Leave cameras that follow a vehicle. */
function leaveVehicle(): void {
  if (store.camera.peek() === "chase" || store.camera.peek() === "fpv") store.camera.value = "orbit";
}

class Map2d {
  private frame: MapFrame | null = null;
  private image: ImageData | null = null;

  constructor(private readonly canvas: HTMLCanvasElement) {}

  redraw(): void {
    const pen = this.canvas.getContext("2d");
    const now = current.peek();
    if (!pen || !now || document.hidden || this.canvas.clientWidth === 0) return;
    const side = this.fit();
    const { blend } = now.world.vehicles;
    this.frame = mapFrame(blend.positions, blend.count, this.frame);
    const image = this.blank(pen, side, now);
    const track = scenery.peek()?.track ?? null;
    if (this.frame && !track) this.dots(image, side, now);
    pen.putImageData(image, 0, 0);
    if (!this.frame) return;
    if (track) {
      drawTrack(pen, track, this.frame, side, cssOf(now.world.view.skin.faint, 0.35));
      drawCars(pen, this.frame, side, now);
    }
    const obstacles = store.layers.peek().obstacles ? (scenery.peek()?.obstacles ?? []) : [];
    drawObstacles(pen, obstacles, this.frame, side, cssOf(now.world.view.skin.faint, 0.9));
    this.view(pen, side, this.frame, now);
  }

  goTo(event: PointerEvent): void {
    const box = this.canvas.getBoundingClientRect();
    if (!this.frame || box.width === 0) return;
    const [x, y] = fromMap(this.frame, box.width, event.clientX - box.left, event.clientY - box.top);
    leaveVehicle();
    current.peek()?.stage.lookAtPoint(x, y, groundAt(x, y));
  }

  /** The canvas is square, in device pixels. */
  private fit(): number {
    const side = Math.round(this.canvas.clientWidth * (globalThis.devicePixelRatio || 1));
    if (this.canvas.width !== side || this.canvas.height !== side) this.canvas.width = this.canvas.height = side;
    return side;
  }

  private blank(pen: CanvasRenderingContext2D, side: number, { world }: Current): ImageData {
    if (this.image?.width !== side) this.image = pen.createImageData(side, side);
    new Uint32Array(this.image.data.buffer).fill(wordOf(bytes(world.view.skin.ground)));
    return this.image;
  }

  /** Vehicles in the colours of the view; selected ones are emphasised. */
  private dots(image: ImageData, side: number, { world }: Current): void {
    const { positions, count } = world.vehicles.blend;
    const { colours } = world.vehicles;
    const words = new Uint32Array(image.data.buffer);
    const reach = Math.round((count > 2000 ? 1 : count > 300 ? 2 : 4) * (globalThis.devicePixelRatio || 1));
    const { x, y, half } = this.frame as MapFrame;
    const scale = side / (2 * half);
    const dot = (row: number, size: number, colour: number): void => {
      const across = side / 2 + ((positions[3 * row] as number) - x) * scale;
      const down = side / 2 - ((positions[3 * row + 1] as number) - y) * scale;
      square(words, side, Math.round(across - size / 2), Math.round(down - size / 2), size, colour);
    };
    for (let row = 0; row < count; row++) dot(row, reach, wordOf(colours, 4 * row));
    const selected = store.selection.peek();
    const ink = wordOf(bytes(world.view.skin.text));
    if (selected.size > RINGS) for (const id of selected) dot(world.rowOf(id) ?? -1, reach + 1, ink);
  }

  /** Ground outline of the view, and the selected vehicles. */
  private view(pen: CanvasRenderingContext2D, side: number, frame: MapFrame, { stage, world }: Current): void {
    const { accent } = world.view.skin;
    const { width, height } = world.view.size;
    const corners = [
      [0, height],
      [0, 0.02 * height],
      [width, 0.02 * height],
      [width, height],
    ] as const;
    const [ex, ey] = world.view.eye;
    pen.beginPath();
    for (const [x, y] of corners) {
      const ground = stage.groundPoint(x, y) ?? beyond(world, x, y, FAR * frame.half);
      const away = Math.hypot(ground[0] - ex, ground[1] - ey);
      const share = Math.min(1, (FAR * frame.half) / Math.max(away, 1e-9));
      pen.lineTo(...toMap(frame, side, ex + share * (ground[0] - ex), ey + share * (ground[1] - ey)));
    }
    pen.closePath();
    pen.lineWidth = 1.2 * (globalThis.devicePixelRatio || 1);
    pen.strokeStyle = cssOf(accent, 0.9);
    pen.fillStyle = cssOf(accent, 0.08);
    pen.fill();
    pen.stroke();
    const selected = store.selection.peek();
    const ink = cssOf(world.view.skin.text);
    if (selected.size <= RINGS) for (const id of selected) ring(pen, world.place(id), frame, side, ink);
  }
}

const CONES = ["#3d8bff", "#f5c400", "#f26a1b", "#f26a1b", "#9aa4ae"] as const;

/** Asphalt as a band, and cones in their colours. */
function drawTrack(
  pen: CanvasRenderingContext2D,
  { centre, left_width, right_width, closed, cones, colours }: TrackTree,
  frame: MapFrame,
  side: number,
  asphalt: string,
): void {
  const scale = side / (2 * frame.half);
  const wide = (left_width[0] ?? 0) + (right_width[0] ?? 0);
  pen.strokeStyle = asphalt;
  pen.lineWidth = Math.max(wide * scale, 2 * (globalThis.devicePixelRatio || 1));
  pen.lineJoin = "round";
  pen.beginPath();
  for (const [x, y] of centre) pen.lineTo(...toMap(frame, side, x, y));
  if (closed) pen.closePath();
  pen.stroke();
  const dot = Math.max(0.5 * scale, 1.2 * (globalThis.devicePixelRatio || 1));
  cones.forEach(([x, y], k) => {
    const [mx, my] = toMap(frame, side, x, y);
    pen.fillStyle = CONES[colours[k] ?? 4] ?? CONES[4];
    pen.fillRect(mx - dot / 2, my - dot / 2, dot, dot);
  });
}

/** Vehicles in the colours of the view, without the cones of the track. */
function drawCars(pen: CanvasRenderingContext2D, frame: MapFrame, side: number, { world }: Current): void {
  const { vehicles } = world;
  const size = 5 * (globalThis.devicePixelRatio || 1);
  for (const { kind, first, count } of vehicles.roster?.fleets ?? []) {
    for (let row = kind === "cone" ? first + count : first; row < first + count; row++) {
      const at = vehicles.blend.position(row);
      if (!at) continue;
      const [mx, my] = toMap(frame, side, at[0], at[1]);
      pen.fillStyle = `rgb(${vehicles.colours.subarray(4 * row, 4 * row + 3).join(" ")})`;
      pen.fillRect(mx - size / 2, my - size / 2, size, size);
    }
  }
}

/** Boxes and walls as rectangles, round ones as discs, at least a pixel large. */
function drawObstacles(
  pen: CanvasRenderingContext2D,
  obstacles: readonly ObstacleTree[],
  frame: MapFrame,
  side: number,
  colour: string,
): void {
  const scale = side / (2 * frame.half);
  const least = globalThis.devicePixelRatio || 1;
  pen.fillStyle = colour;
  pen.beginPath();
  for (const { x, y, heading, length, width, radius } of obstacles) {
    const [mx, my] = toMap(frame, side, x, y);
    const [along, across] = [length ?? 2 * (radius ?? 0), width ?? 2 * (radius ?? 0)].map((side) => {
      return Math.max(side * scale, least) / 2;
    }) as [number, number];
    if (radius !== null) pen.moveTo(mx + along, my);
    if (radius !== null) pen.arc(mx, my, along, 0, 2 * Math.PI);
    else outline(pen, mx, my, along, across, -heading); // y is down on the map
  }
  pen.fill();
}

function outline(pen: CanvasRenderingContext2D, x: number, y: number, along: number, across: number, turn: number) {
  const [c, s] = [Math.cos(turn), Math.sin(turn)];
  const corner = (a: number, b: number): [number, number] => [x + a * c - b * s, y + a * s + b * c];
  pen.moveTo(...corner(-along, -across));
  for (const [a, b] of [
    [along, -across],
    [along, across],
    [-along, across],
  ] as const) {
    pen.lineTo(...corner(a, b));
  }
  pen.closePath();
}

/** A point far along a ray that does not meet the ground. */
function beyond(world: Current["world"], x: number, y: number, far: number): [number, number] {
  const { camera, size } = world.view;
  const ray = camera.position
    .clone()
    .set((2 * x) / size.width - 1, 1 - (2 * y) / size.height, 0.5)
    .unproject(camera)
    .sub(camera.position);
  const flat = Math.hypot(ray.x, ray.y) || 1;
  return [camera.position.x + (far * ray.x) / flat, camera.position.y + (far * ray.y) / flat];
}

/** Red, green, blue (0 to 255) as a pixel. */
function wordOf(colours: ArrayLike<number>, at = 0): number {
  const [r, g, b] = [colours[at] as number, colours[at + 1] as number, colours[at + 2] as number];
  return (255 << 24) | (b << 16) | (g << 8) | r;
}

function square(words: Uint32Array, side: number, x: number, y: number, reach: number, colour: number): void {
  for (let dy = 0; dy < reach; dy++) {
    for (let dx = 0; dx < reach; dx++) {
      const [px, py] = [x + dx, y + dy];
      if (px >= 0 && py >= 0 && px < side && py < side) words[py * side + px] = colour;
    }
  }
}

function ring(
  pen: CanvasRenderingContext2D,
  at: readonly number[] | null,
  frame: MapFrame,
  side: number,
  colour: string,
): void {
  if (!at) return;
  const [x, y] = toMap(frame, side, at[0] ?? 0, at[1] ?? 0);
  pen.beginPath();
  pen.arc(x, y, 4 * (globalThis.devicePixelRatio || 1), 0, 2 * Math.PI);
  pen.strokeStyle = colour;
  pen.stroke();
}
