// Everything that is drawn, put together: takes a moment of the source and the person's choices, and draws one picture.
import { Color, Scene, SRGBColorSpace, Vector3, type WebGLRenderer } from "three";
import { timeOf } from "../state/interpolate";
import { fleetColour } from "../state/palette";
import type { FrameSource, Sample } from "../state/source";
import * as store from "../state/store";
import { Axes } from "./axes";
import { CameraRig, type Followed } from "./cameraRig";
import { Crowd } from "./crowd";
import { Dome } from "./dome";
import { Ground, gridFor, gridHeight } from "./ground";
import { traitsOf } from "./kinds";
import { drawLabels } from "./labels";
import { MarkerLayer } from "./markers/layer";
import { gridLabels, Overlay } from "./overlay";
import { showOsd } from "./osdData";
import { Precise } from "./precise";
import type { Rgba } from "./ribbons";
import { type Ringed, Rings } from "./rings";
import { RouteLayer } from "./routes";
import { readSkin, type Skin } from "./skin";
import { Trails } from "./trails";
import type { ViewState } from "./viewState";

export class World {
  readonly rig = new CameraRig();
  readonly crowd = new Crowd(false);
  readonly overlay = new Overlay();
  readonly routes = new RouteLayer();
  readonly markers = new MarkerLayer();
  view: ViewState;
  following: number | null = null; // id that the orbit camera stays with
  ghostSources: readonly FrameSource[] | null = null; // in place of the store's
  private readonly scene = new Scene();
  private readonly dome = new Dome();
  private readonly ground = new Ground();
  private readonly trails = new Trails();
  private readonly rings = new Rings();
  private readonly axes = new Axes();
  private readonly precise = new Precise();
  private readonly ghosts = new Map<FrameSource, Crowd>();
  private framed: FrameSource | null = null; // the source whose first frame the camera was set to
  private trailsChosen = 0; // performance.now()
  private routed: unknown[] = [];
  private skin: Skin;

  constructor(
    readonly renderer: WebGLRenderer,
    private readonly host: HTMLElement,
  ) {
    this.skin = readSkin(host, store.theme.peek());
    this.view = this.viewState(1, 0);
    const objects = [this.dome.object, this.ground.group, this.crowd.group, this.trails.ribbons.object,
      this.routes.ribbons.object];
    this.scene.add(...objects, this.markers.group, this.rings.ribbons.object, this.rings.points,
      this.axes.ribbons.object);
    this.dress();
  }

  /** The theme has changed. */
  dress(): void {
    this.skin = readSkin(this.host, store.theme.peek());
    this.dome.dress(this.skin);
    const { r, g, b } = this.skin.ground;
    this.renderer.setClearColor(new Color().setRGB(r, g, b, SRGBColorSpace));
    this.routed = [];
  }

  draw(sample: Sample | null, now: number, seconds: number, scale: number): void {
    const source = store.source.peek();
    if (sample && source) this.beginWith(source, sample);
    const followed = sample ? this.followed(sample) : null;
    this.rig.update(store.camera.peek(), followed, this.aspect(), seconds);
    this.view = this.viewState(scale, now);
    this.dome.view(this.view);
    this.ground.view(this.view, store.layers.peek().grid);
    this.overlay.begin(this.view.size);
    if (sample && source) this.drawSource(source, sample);
    else this.crowd.clear();
    this.drawGhosts(now);
    this.renderer.render(this.scene, this.rig.camera);
    this.overlay.end();
  }

  rowOf(id: number | null): number | undefined {
    return id === null ? undefined : this.crowd.roster?.rowOfId(id);
  }

  place(id: number | null): [number, number, number] | null {
    const row = this.rowOf(id);
    return row === undefined ? null : this.crowd.blend.position(row);
  }

  /** The camera sees everything; false when there is nothing. */
  frameAll(): boolean {
    const low = new Vector3().setScalar(Number.POSITIVE_INFINITY);
    const high = low.clone().negate();
    const point = new Vector3();
    const { positions, count } = this.crowd.blend;
    for (let row = 0; row < count; row++) {
      point.fromArray(positions, 3 * row);
      if (!Number.isFinite(point.x + point.y + point.z)) continue;
      low.min(point);
      high.max(point);
    }
    if (!(low.x <= high.x)) return false;
    const middle = low.clone().add(high).multiplyScalar(0.5);
    this.following = null;
    this.rig.frame([middle.x, middle.y, middle.z], Math.max(0.5 * high.distanceTo(low), 3));
    return true;
  }

  dispose(): void {
    for (const one of [this.crowd, ...this.ghosts.values(), this.trails, this.rings, this.axes, this.routes,
      this.markers, this.dome, this.ground]) {
      one.dispose();
    }
    this.precise.release();
    this.renderer.dispose();
  }

  private beginWith(source: FrameSource, sample: Sample): void {
    this.crowd.blend.update(sample);
    if (this.framed === source || sample.to.count === 0) return;
    const first = this.framed === null;
    this.framed = source;
    if (first) this.frameAll(); // another source of the same world is looked at from where one is
  }

  private drawSource(source: FrameSource, sample: Sample): void {
    const roster = source.roster.peek();
    const layers = store.layers.peek();
    const hovered = this.rowOf(store.hovered.peek());
    const look = {
      colouring: store.colouring.peek(),
      headings: layers.headings,
      emphasised: new Set(hovered === undefined ? [] : [hovered]),
      budget: { detailed: 160, simple: 1200 },
      hidden: this.rig.shown === "fpv" ? this.rowOf(store.focus.peek()) : undefined,
    };
    this.crowd.update(sample, roster, this.view, look);
    this.drawTrails(sample, layers.trails);
    this.rings.update(this.view, this.ringed());
    this.drawRoutes(layers.routes);
    this.markers.group.visible = layers.markers;
    if (layers.markers) this.markers.update(source.markers, sample, roster, this.view);
    this.axes.update(this.view, sample, roster, layers.axes ? this.rowOf(store.focus.peek()) : null);
    this.drawOverlay(sample);
  }

  private drawOverlay(sample: Sample): void {
    const layers = store.layers.peek();
    if (this.rig.shown === "fpv") return showOsd(this.overlay, this.view, this.crowd, this.precise, sample);
    if (layers.grid) gridLabels(this.overlay, this.view, gridFor(gridHeight(this.view)).cell, this.rig.target);
    drawLabels(this.overlay, this.view, this, sample);
  }

  private drawGhosts(now: number): void {
    const sources = this.ghostSources ?? store.ghosts.peek();
    for (const [source, crowd] of this.ghosts) {
      if (sources.includes(source)) continue;
      this.scene.remove(crowd.group);
      crowd.dispose();
      this.ghosts.delete(source);
    }
    for (const source of sources) this.drawGhost(source, source.sample(now));
  }

  private drawGhost(source: FrameSource, sample: Sample | null): void {
    let crowd = this.ghosts.get(source);
    if (crowd === undefined) {
      crowd = new Crowd(true);
      this.ghosts.set(source, crowd);
      this.scene.add(crowd.group);
    }
    const look = { colouring: "fleet", headings: false, emphasised: new Set<number>(), budget: { detailed: 60,
      simple: 300 } } as const;
    if (sample) crowd.update(sample, source.roster.peek(), this.view, look);
    else crowd.clear();
  }

  private followed(sample: Sample): Followed | null {
    const mode = store.camera.peek();
    const id = mode === "chase" || mode === "fpv" ? store.focus.peek() : null;
    const row = this.crowd.roster ? this.rowOf(id) : store.source.peek()?.roster.peek().rowOfId(id ?? -1);
    const fleet = row === undefined ? undefined : store.source.peek()?.roster.peek().fleetAt(row);
    this.precise.follow(id, fleet);
    const orbited = this.place(this.following);
    if (orbited && mode !== "chase" && mode !== "fpv") this.rig.target = orbited;
    if (row === undefined || !fleet) return null;
    const pose = this.precise.pose(sample, row);
    return pose.position.every(Number.isFinite) ? { pose, traits: traitsOf(fleet.kind) } : null;
  }

  private drawTrails(sample: Sample, shown: boolean): void {
    if (!shown) return this.trails.hide();
    const where = (id: number) => this.place(id);
    if (this.view.now - this.trailsChosen > 700) {
      this.trailsChosen = this.view.now;
      this.trails.store.keep([...store.selection.peek(), ...this.crowd.nearIds()]);
    }
    this.trails.store.sample(timeOf(sample), sample.to.run, where);
    this.trails.update(this.view, where, (id) => this.colourOf(id));
  }

  private colourOf(id: number): Rgba {
    const fleet = this.crowd.roster?.fleetAt(this.rowOf(id) ?? -1);
    const [r, g, b] = fleetColour(fleet?.index ?? 0).rgb;
    return [255 * r, 255 * g, 255 * b, 255];
  }

  private ringed(): Ringed[] {
    const ids = new Map<number, Ringed["kind"]>();
    for (const id of store.selection.peek()) ids.set(id, "selected");
    const [hovered, focus] = [store.hovered.peek(), store.focus.peek()];
    if (hovered !== null && !ids.has(hovered)) ids.set(hovered, "hovered");
    const aboard = this.rig.shown === "chase" || this.rig.shown === "fpv"; // it is plain who that is
    if (focus !== null && !aboard) ids.set(focus, "focus");
    if (focus !== null && aboard) ids.delete(focus);
    const rings: Ringed[] = [];
    for (const [id, kind] of ids) {
      const position = this.place(id);
      const fleet = position && this.crowd.roster?.fleetAt(this.rowOf(id) ?? -1);
      if (position && fleet) rings.push({ position, kind, size: traitsOf(fleet.kind).size });
    }
    return rings;
  }

  private drawRoutes(shown: boolean): void {
    const roster = this.crowd.roster;
    const basis = [store.routes.peek(), store.orders.peek(), roster, this.skin, shown, this.routes.draft];
    if (roster && basis.some((one, k) => one !== this.routed[k])) {
      this.routes.rebuild(store.routes.peek(), store.orders.peek(), roster, this.skin, shown);
      this.routed = basis;
    }
    this.routes.ribbons.view(this.view);
  }

  private aspect(): number {
    return Math.max(this.host.clientWidth, 1) / Math.max(this.host.clientHeight, 1);
  }

  private viewState(scale: number, now: number): ViewState {
    const { camera } = this.rig;
    const size = { width: Math.max(this.host.clientWidth, 1), height: Math.max(this.host.clientHeight, 1) };
    const focal = size.height / 2 / Math.tan((camera.fov * Math.PI) / 360);
    const matrix = camera.projectionMatrix.clone().multiply(camera.matrixWorldInverse).elements;
    return { camera, matrix, eye: camera.position.toArray(), focal, ratio: scale, size, skin: this.skin, now };
  }
}
