// The stage: canvas, overlay and draw loop of the world view. Other folders use the scene only through it.
import { effect, signal } from "@preact/signals";
import { Vector3, WebGLRenderer } from "three";
import { shownRoutes } from "../state/controllers";
import { chosenTask, mission, pendingTasks } from "../state/mission";
import { transforms } from "../state/poses";
import { radio, radioChanged } from "../state/radio";
import { groundAt, relief } from "../state/scenery";
import type { FrameSource } from "../state/source";
import * as store from "../state/store";
import { expose, showNotice } from "../state/store";
import { controlCamera } from "./camera-controls";
import { DrawLoop } from "./loop";
import { missionLoaded } from "./mission";
import { sceneryBasis } from "./scenery";
import { bodiesLoaded } from "./shapes";
import { drawingLoaded, onPlane, rowAt, rowsIn, toScreen, traitsOf } from "./view";
import { type Attached, World } from "./world";

function restoreLostContext(canvas: HTMLCanvasElement, restored: () => void): () => void {
  const over = new AbortController();
  const { signal } = over;
  const lost = (event: Event): void => {
    event.preventDefault(); // required for the browser to restore the context
    showNotice("warning", "Graphics context lost; restoring it");
  };
  const back = (): void => {
    showNotice("info", "Graphics context restored");
    restored();
  };
  canvas.addEventListener("webglcontextlost", lost, { signal });
  canvas.addEventListener("webglcontextrestored", back, { signal });
  return () => over.abort();
}

/** Whether rendering is done in software: then antialiasing doubles the cost. */
function rendersInSoftware(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) return false;
  const about = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(about ? gl.getParameter(about.UNMASKED_RENDERER_WEBGL) : gl.getParameter(gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

// screenshots and videos ---------------------------------------------------------------------------------------------

class Capture {
  private readonly film = document.createElement("canvas");
  private filming = 0; // active streams

  constructor(
    private readonly world: HTMLCanvasElement,
    private readonly overlay: HTMLCanvasElement,
  ) {}

  /** Must run in the task of the drawing: the browser clears the canvas afterwards. */
  png(): Promise<Blob> {
    const canvas = document.createElement("canvas");
    this.compose(canvas);
    return new Promise((resolve, reject) => {
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the browser returned no image"))), "image/png");
    });
  }

  stream(fps: number): MediaStream {
    this.compose(this.film);
    const stream = this.film.captureStream(fps);
    this.filming += 1;
    for (const track of stream.getTracks()) this.untilStopped(track);
    return stream;
  }

  /** Called after each drawing while recording. */
  frame(): void {
    if (this.filming > 0) this.compose(this.film);
  }

  private untilStopped(track: MediaStreamTrack): void {
    const stop = track.stop.bind(track);
    track.stop = () => {
      if (track.readyState === "live") this.filming -= 1; // stopping a track from the page emits no event
      stop();
    };
  }

  private compose(canvas: HTMLCanvasElement): void {
    const { width, height } = this.overlay.width > 0 ? this.overlay : this.world;
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    const pen = canvas.getContext("2d");
    pen?.drawImage(this.world, 0, 0, width, height);
    if (this.overlay.style.display !== "none") pen?.drawImage(this.overlay, 0, 0, width, height);
  }
}

// stage --------------------------------------------------------------------------------------------------------------

/** A waypoint of an override: `override` is an index into store.overrides, `index` into its points. */
export interface Handle {
  override: number;
  index: number;
}

/** The camera's state, for tests and for sharing a view. */
interface View {
  mode: string;
  position: [number, number, number];
  target: [number, number, number];
  fov: number; // degrees, vertical
}

export interface Stage {
  readonly canvas: HTMLCanvasElement;
  /** Canvas position of a vehicle in CSS px; null if unknown, without position or behind the camera. */
  project(id: number): [number, number] | null;
  /** Canvas position of a world point. */
  projectPoint(x: number, y: number, z: number): [number, number] | null;
  /** The vehicle at a canvas position (CSS px), within 14 px. */
  pick(x: number, y: number): number | null;
  pickBox(x0: number, y0: number, x1: number, y1: number): number[];
  /** The waypoint handle at a canvas position. */
  pickHandle(x: number, y: number): Handle | null;
  /** The mission task at a canvas position; only changeable ones unless `all`. */
  pickTask(x: number, y: number, all?: boolean): string | null;
  /** Where the ray through a canvas position meets the ground, or the plane z = height; null: nowhere. */
  groundPoint(x: number, y: number, height?: number): [number, number, number] | null;
  frameAll(): void;
  /** Frame these vehicles. */
  frameIds(ids: Iterable<number>): void;
  lookAt(id: number): void;
  /** Look at a world point; distance in m, unchanged if omitted. */
  lookAtPoint(x: number, y: number, z: number, distance?: number): void;
  /** Points placed by a tool (a route being drawn), shown with handles and a dashed line. */
  setDraft(points: readonly (readonly [number, number, number])[]): void;
  /** Translucent runs drawn beside the source instead of store.ghosts; null: store.ghosts. */
  setGhosts(ghosts: readonly FrameSource[] | null): void;
  /** Draw something more; returns a function that removes it. */
  attach(layer: Attached): () => void;
  invalidate(): void;
  capturePng(): Promise<Blob>;
  captureStream(fps: number): MediaStream;
  /** Call back after each drawn frame with performance.now(); returns a stop function. */
  onDrawn(callback: (now: number) => void): () => void;
  view(): View;
  /** Whether shadows are drawn now. */
  readonly shadowed: boolean;
  /** Number of contacts that are marked now. */
  readonly contactsShown: number;
  /** Drawn points of lidars, cone detections, and true cones. */
  readonly sensed: Readonly<Record<"points" | "detections" | "truth", number>>;
  /** Draw frames without and with shadows, each until the graphics card has finished; ms per frame. */
  measureFrames(count?: number): Promise<FrameTimes>;
  dispose(): void;
}

/** Median durations of a frame, ms. */
export interface FrameTimes {
  without: number;
  with: number;
}

/**
 * Create the world view inside an element. Left drag orbits, right, middle or shift drag pans, the wheel zooms. The
 * camera ignores drags whose pointerdown was default-prevented by an earlier listener (capture on the host), and all
 * drags while the tool is "box".
 */
export function createStage(host: HTMLElement): Stage {
  return new WorldStage(host);
}

const MOST_RATIO = 2; // canvas px per CSS px

class WorldStage implements Stage {
  readonly canvas: HTMLCanvasElement;
  private readonly world: World;
  private readonly loop: DrawLoop;
  private readonly capture: Capture;
  private readonly drawn = new Set<(now: number) => void>();
  private readonly endings: (() => void)[] = [];
  private readonly software = rendersInSoftware();
  private pictures = 0; // frames drawn with content since the page was opened

  constructor(private readonly host: HTMLElement) {
    this.canvas = makeCanvas();
    if (getComputedStyle(host).position === "static") host.style.position = "relative";
    host.append(this.canvas);
    const renderer = new WebGLRenderer({
      canvas: this.canvas,
      antialias: !this.software,
      alpha: false,
      powerPreference: "high-performance",
    });
    this.world = new World(renderer, host);
    host.append(this.world.overlay.canvas);
    this.capture = new Capture(this.canvas, this.world.overlay.canvas);
    this.loop = new DrawLoop({
      sample: (now) => store.source.peek()?.sample(now) ?? null,
      settling: () => this.world.rig.settling,
      shadowed: () => this.shadowed && store.shadows.peek() === "auto",
      draw: (sample, now, seconds, scale) => this.draw(sample, now, seconds, scale),
      resized: () => this.resize(),
      failed: (error) => store.showNotice("error", `Cannot draw the view: ${String(error)}`),
    });
    this.resize();
    this.listen();
    current.value = { stage: this, world: this.world };
    expose({
      project: (id: number) => this.project(id),
      camera: () => this.view(),
      drawn: () => this.pictures,
      mission,
      pendingTasks,
      chosenTask,
      radio,
      radioShown: () => this.world.radio.shown,
      stage: this,
    });
  }

  project(id: number): [number, number] | null {
    const at = this.world.place(id);
    return at && this.projectPoint(...at);
  }

  projectPoint(x: number, y: number, z: number): [number, number] | null {
    const screen = [0, 0, 0];
    const { matrix, size } = this.world.view;
    return toScreen(matrix, x, y, z, size, screen) ? [screen[0] as number, screen[1] as number] : null;
  }

  pick(x: number, y: number): number | null {
    const { matrix, size } = this.world.view;
    const row = rowAt(this.places(), matrix, size, x, y);
    return row < 0 ? null : (this.world.vehicles.roster?.idAt(row) ?? null);
  }

  pickBox(x0: number, y0: number, x1: number, y1: number): number[] {
    const { matrix, size } = this.world.view;
    const rows = rowsIn(this.places(), matrix, size, [x0, y0], [x1, y1]);
    return rows.flatMap((row) => this.world.vehicles.roster?.idAt(row) ?? []);
  }

  pickHandle(x: number, y: number): Handle | null {
    const knob = this.world.routes.handleAt(this.world.view.matrix, this.world.view.size, x, y);
    return knob && { override: knob.override, index: knob.index };
  }

  pickTask(x: number, y: number, all = false): string | null {
    return this.world.mission.taskAt(this.world.view.matrix, this.world.view.size, x, y, all);
  }

  groundPoint(x: number, y: number, height?: number): [number, number, number] | null {
    const { camera, size } = this.world.view;
    const beyond = new Vector3((2 * x) / size.width - 1, 1 - (2 * y) / size.height, 0.5).unproject(camera).toArray();
    const eye = camera.position.toArray();
    if (height === undefined && relief.peek()) return relief.peek()?.hit(eye, beyond) ?? null;
    return onPlane(eye, beyond, height ?? groundAt(0, 0));
  }

  get shadowed(): boolean {
    const wanted = store.shadows.peek();
    return wanted === "on" || (wanted === "auto" && !this.software && this.loop.shadows);
  }

  get contactsShown(): number {
    return this.world.contactsShown;
  }

  get sensed(): Stage["sensed"] {
    return this.world.sensing.shown;
  }

  async measureFrames(count = 20): Promise<FrameTimes> {
    const sample = store.source.peek()?.sample(performance.now()) ?? null;
    const gl = this.world.renderer.getContext();
    const took: [number[], number[]] = [[], []]; // without, with
    for (let k = -4; k < 2 * count; k++) {
      const started = performance.now();
      this.world.draw(sample, started, 0, this.loop.scale * baseRatio(), k % 2 !== 0);
      gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)); // waits for the picture
      if (k >= 0) took[k % 2 === 0 ? 0 : 1].push(performance.now() - started); // the first ones compile shaders
      if (k < 0 || k % 8 === 7) await new Promise((resolve) => setTimeout(resolve)); // the page stays responsive
    }
    this.loop.now();
    return { without: median(took[0]), with: median(took[1]) };
  }

  frameAll(): void {
    this.world.frameAll();
    this.invalidate();
  }

  frameIds(ids: Iterable<number>): void {
    this.world.frameIds(ids);
    this.invalidate();
  }

  lookAt(id: number): void {
    const at = this.world.place(id);
    if (!at) return;
    const fleet = this.world.vehicles.roster?.fleetAt(this.world.rowOf(id) ?? -1);
    const size = traitsOf(fleet).size;
    this.world.rig.target = at;
    this.world.rig.distance = Math.min(this.world.rig.distance, Math.max(5 * size, 4));
    this.world.following = id;
    this.invalidate();
  }

  lookAtPoint(x: number, y: number, z: number, distance?: number): void {
    this.world.following = null;
    this.world.rig.target = [x, y, z];
    if (distance !== undefined) this.world.rig.distance = distance;
    this.invalidate();
  }

  setDraft(points: readonly (readonly [number, number, number])[]): void {
    this.world.routes.draft = points.map(([x, y, z]) => [x, y, z]);
    this.invalidate();
  }

  setGhosts(ghosts: readonly FrameSource[] | null): void {
    this.world.ghostSources = ghosts;
    this.invalidate();
  }

  attach(layer: Attached): () => void {
    const detach = this.world.attach(layer);
    this.invalidate();
    return () => {
      detach();
      this.invalidate();
    };
  }

  invalidate(): void {
    this.loop.invalidate();
  }

  capturePng(): Promise<Blob> {
    this.loop.sharpen();
    return this.capture.png();
  }

  captureStream(fps: number): MediaStream {
    this.loop.now();
    return this.capture.stream(fps);
  }

  onDrawn(callback: (now: number) => void): () => void {
    this.drawn.add(callback);
    return () => this.drawn.delete(callback);
  }

  view(): View {
    const { camera, target, shown } = this.world.rig;
    return { mode: shown, position: camera.position.toArray(), target: [...target], fov: camera.fov };
  }

  dispose(): void {
    this.loop.stop();
    for (const end of this.endings) end();
    this.world.dispose();
    this.canvas.remove();
    this.world.overlay.canvas.remove();
    if (current.peek()?.stage === this) current.value = null;
  }

  private draw(...[sample, now, seconds, scale]: Parameters<World["draw"]>): void {
    this.world.draw(sample, now, seconds, scale * baseRatio(), this.shadowed);
    this.capture.frame();
    if (sample !== null) this.pictures += 1;
    for (const callback of [...this.drawn]) callback(now);
  }

  private places(): Parameters<typeof rowAt>[0] {
    const { blend, roster } = this.world.vehicles;
    const radiusOf = (row: number): number => traitsOf(roster?.fleetAt(row)).size / 2;
    return { positions: blend.positions, count: blend.count, focal: this.world.view.focal, radiusOf };
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.host;
    this.world.renderer.setPixelRatio(baseRatio() * this.loop.scale);
    this.world.renderer.setSize(Math.max(clientWidth, 1), Math.max(clientHeight, 1), false);
    this.loop.now(); // a resized canvas is empty
  }

  private listen(): void {
    const observer = new ResizeObserver(() => this.resize());
    observer.observe(this.host);
    const input = {
      rig: this.world.rig,
      groundAt: (x: number, y: number) => this.groundPoint(x, y, relief.peek() ? undefined : this.world.rig.target[2]),
      moved: (target: boolean) => {
        const { rig } = this.world;
        if (target) this.world.following = null;
        if (target && relief.peek()) rig.target[2] = groundAt(rig.target[0], rig.target[1]); // pans along the ground
        this.invalidate();
      },
    };
    this.endings.push(
      () => observer.disconnect(),
      controlCamera(this.canvas, input),
      restoreLostContext(this.canvas, () => {
        this.world.dress(); // the clear colour is lost, too
        this.invalidate();
      }),
      effect(() => void [store.theme.value, this.world.dress(), this.loop.invalidate()]),
      effect(() => void [...chosen(), this.loop.invalidate()]),
      effect(
        () => void [mission.value, chosenTask.value, pendingTasks.value, missionLoaded.value, this.loop.invalidate()],
      ),
      effect(() => void [sceneryBasis(), bodiesLoaded.value, store.shadows.value, this.loop.invalidate()]),
      effect(() => void [drawingLoaded.value, this.loop.invalidate()]),
      effect(() => void [radio.value, radioChanged.value, this.loop.invalidate()]),
      effect(() => void [store.source.value?.markers.version.value, transforms.value, this.loop.invalidate()]),
    );
  }
}

/** Read the signals that affect the drawing, so that an effect depends on them. */
function chosen(): unknown[] {
  const { camera, layers, colouring, selection, focus, hovered, overrides, ghosts, roster } = store;
  return [camera, layers, colouring, selection, focus, hovered, shownRoutes, overrides, ghosts, roster].map(
    (setting) => setting.value,
  );
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1] ?? 0;
}

function baseRatio(): number {
  return Math.min(globalThis.devicePixelRatio || 1, MOST_RATIO);
}

function makeCanvas(): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.setAttribute("aria-label", "World view");
  canvas.setAttribute("role", "img");
  canvas.tabIndex = 0;
  Object.assign(canvas.style, {
    position: "absolute",
    inset: "0",
    width: "100%",
    height: "100%",
    display: "block",
    outlineOffset: "-2px",
  });
  return canvas;
}

export interface Current {
  stage: Stage;
  world: World;
}

export const current = signal<Current | null>(null);
