// The scene: draws one frame from a sample of the source and the user's choices.
import { Color, type Object3D, Scene, SRGBColorSpace, type WebGLRenderer } from "three";
import { shownRoutes } from "../state/controllers";
import { fleetColour } from "../state/palette";
import { timeOf } from "../state/poses";
import type { Roster } from "../state/roster";
import { draftTrack, groundAt } from "../state/scenery";
import type { FrameSource, Sample } from "../state/source";
import * as store from "../state/store";
import type { BehaviourOverride } from "../wire/schema";
import { Axes, drawLabels } from "./annotations";
import { CameraRig, type Followed } from "./camera-rig";
import { ContactMarks } from "./contacts";
import { Framing } from "./framing";
import { Ground, gridFor, gridHeight, Sky } from "./ground";
import { MarkerLayer } from "./markers";
import { MissionLayer } from "./mission";
import type { showOsd } from "./osd";
import { gridLabels, Overlay } from "./overlay";
import { coherent, PreciseState } from "./poses";
import { RadioLayer } from "./radio";
import { type Rgba, type Ringed, Rings } from "./ribbons";
import { RouteLayer } from "./routes";
import { SceneryLayer, sceneryLoaded } from "./scenery";
import { SensingLayer } from "./sensing";
import type { ShadowMap } from "./shadows";
import { readSkin, type Skin } from "./skin";
import { Trails } from "./trails";
import { VehicleLayer } from "./vehicles";
import { drawingLoaded, type Size, traitsOf, type ViewState } from "./view";

const NO_ROWS: ReadonlySet<number> = new Set();
const NO_OVERRIDES: readonly BehaviourOverride[] = [];
const CONE_FLEETS = "cones_"; // names of the fleets of a track's cones

/** Something drawn by another part of the page. */
export interface Attached {
  object: Object3D;
  update(view: ViewState): void;
  dispose(): void;
}

export class World {
  readonly rig = new CameraRig();
  readonly vehicles = new VehicleLayer(false);
  readonly overlay = new Overlay();
  readonly routes = new RouteLayer();
  readonly markers = new MarkerLayer();
  view: ViewState;
  following: number | null = null; // id that the orbit camera follows
  ghostSources: readonly FrameSource[] | null = null; // instead of the store's
  private readonly scene = new Scene();
  readonly mission = new MissionLayer(this.scene);
  readonly scenery = new SceneryLayer(this.scene);
  readonly sensing = new SensingLayer(this.scene);
  readonly radio = new RadioLayer(this.scene);
  private readonly contacts = new ContactMarks();
  private readonly attached = new Set<Attached>();
  private shadows: ShadowMap | null = null;
  private shadowsRequested = false;
  private osd: typeof showOsd | null = null;
  private osdRequested = false;
  private readonly dome = new Sky();
  private readonly ground = new Ground();
  private readonly trails = new Trails();
  private readonly rings = new Rings();
  private readonly axes = new Axes();
  private readonly precise = new PreciseState();
  private readonly ghosts = new Map<FrameSource, VehicleLayer>();
  private readonly framing = new Framing(this.rig, this.vehicles);
  private trailsChosen = 0; // performance.now()
  private routed: unknown[] = [];
  private skin: Skin;

  constructor(
    readonly renderer: WebGLRenderer,
    private readonly host: HTMLElement,
  ) {
    this.skin = readSkin(host, store.theme.peek());
    this.view = this.viewState(this.size(), 1, 0);
    const objects = [
      this.dome.object,
      this.ground.group,
      this.vehicles.group,
      this.trails.ribbons.object,
      this.routes.ribbons.object,
    ];
    this.scene.add(
      ...objects,
      this.markers.group,
      this.contacts.ribbons.object,
      this.rings.ribbons.object,
      this.rings.points,
      this.axes.ribbons.object,
    );
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

  /** Draw one frame; `shadowed`: with shadows. */
  draw(latest: Sample | null, now: number, seconds: number, scale: number, shadowed = false): void {
    const source = store.source.peek();
    const sample = latest && coherent(latest);
    const size = this.size();
    if (sample && source) this.beginWith(source, sample, size, now);
    const followed = sample ? this.followed(sample) : null;
    this.rig.update(store.camera.peek(), followed, size, seconds, groundAt);
    this.view = this.viewState(size, scale, now);
    this.dome.view(this.view);
    this.scenery.draw(this.view);
    this.ground.view(this.view, store.layers.peek().grid && !this.scenery.uneven);
    for (const layer of this.attached) layer.update(this.view);
    this.overlay.begin(this.view.size);
    if (sample && source) this.drawSource(source, sample);
    else this.vehicles.clear();
    this.drawGhosts(now);
    this.drawShadows(shadowed);
    this.renderer.render(this.scene, this.rig.camera);
    this.overlay.end();
  }

  /** Draw something more; return a function that removes it. */
  attach(layer: Attached): () => void {
    this.attached.add(layer);
    this.scene.add(layer.object);
    return () => {
      this.attached.delete(layer);
      this.scene.remove(layer.object);
      layer.dispose();
    };
  }

  get contactsShown(): number {
    return this.contacts.shown.length;
  }

  rowOf(id: number | null): number | undefined {
    return this.vehicles.rowOf(id);
  }

  place(id: number | null): [number, number, number] | null {
    return this.vehicles.place(id);
  }

  /** Frame everything; return false if there is nothing. */
  frameAll(): boolean {
    this.following = null;
    return this.framing.frameAll(this.size(), performance.now());
  }

  /** Frame these vehicles. */
  frameIds(ids: Iterable<number>): void {
    this.following = null;
    const rows = [...ids].map((id) => this.rowOf(id)).filter((row) => row !== undefined);
    this.framing.frameRows(rows, this.size());
  }

  dispose(): void {
    for (const part of [
      this.vehicles,
      ...this.ghosts.values(),
      this.trails,
      this.rings,
      this.axes,
      this.routes,
      this.markers,
      this.contacts,
      this.mission,
      this.scenery,
      this.sensing,
      this.radio,
      this.dome,
      this.ground,
    ]) {
      part.dispose();
    }
    this.shadows?.dispose();
    this.precise.release();
    this.renderer.dispose();
  }

  private beginWith(source: FrameSource, sample: Sample, size: Size, now: number): void {
    const roster = source.roster.peek();
    this.vehicles.take(sample, roster);
    if (this.rowOf(this.following) === undefined) this.following = null; // removed vehicles are not followed
    if (this.framing.frameNewWorld(source, roster, sample, size, now)) this.following = null;
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
      hidden: this.hiddenRows(roster),
    };
    this.vehicles.update(sample, roster, this.view, look);
    this.drawTrails(sample, layers.trails);
    this.rings.update(this.view, this.ringed());
    this.contacts.update(source, sample, this.view, layers.contacts);
    this.sensing.draw(this.view, timeOf(sample));
    this.radio.draw(this.view, this.vehicles, timeOf(sample));
    this.drawRoutes(layers.routes);
    this.mission.draw(this.view, source.kind !== "recording"); // missions are not recorded
    this.markers.group.visible = layers.markers;
    if (layers.markers) this.markers.update(source.markers, sample, roster, this.view);
    this.axes.update(this.view, sample, roster, layers.axes ? this.rowOf(store.focus.peek()) : null);
    this.drawOverlay(sample);
  }

  /** The vehicle of the first-person camera, and cones while their track is edited. */
  private hiddenRows(roster: Roster): ReadonlySet<number> {
    const rows = new Set<number>();
    const aboard = this.rig.shown === "fpv" ? this.rowOf(store.focus.peek()) : undefined;
    if (aboard !== undefined) rows.add(aboard);
    if (draftTrack.peek() === null) return rows;
    for (const { name, first, count } of roster.fleets) {
      if (name.startsWith(CONE_FLEETS)) for (let k = 0; k < count; k++) rows.add(first + k);
    }
    return rows;
  }

  private drawOverlay(sample: Sample): void {
    const layers = store.layers.peek();
    if (this.rig.shown === "fpv") return this.drawOsd(sample);
    if (layers.grid)
      gridLabels(this.overlay, this.view, gridFor(gridHeight(this.view)).cell, this.rig.target, groundAt);
    this.mission.label(this.overlay, this.view);
    this.contacts.label(this.overlay, this.view);
    this.radio.label(this.overlay, this.view);
    drawLabels(this.overlay, this.view, this, sample);
  }

  private drawOsd(sample: Sample): void {
    if (!this.osdRequested) void this.loadOsd();
    this.osd?.(this.overlay, this.view, this.vehicles, this.precise, sample);
  }

  private async loadOsd(): Promise<void> {
    this.osdRequested = true;
    this.osd = (await import("./osd")).showOsd;
    drawingLoaded.value += 1;
  }

  private drawShadows(wanted: boolean): void {
    const needed = wanted && (this.vehicles.shaped || this.scenery.casts); // points cast none
    if (needed && !this.shadowsRequested) void this.loadShadows();
    if (!needed || !this.shadows) return this.shadows?.clear();
    const [x, y] = this.rig.target;
    this.shadows.draw(
      this.renderer,
      this.scene,
      this.view,
      this.rig.target,
      this.scenery.uneven ? null : groundAt(x, y),
    );
  }

  private async loadShadows(): Promise<void> {
    this.shadowsRequested = true;
    const { ShadowMap } = await import("./shadows");
    this.shadows = new ShadowMap();
    this.scene.add(this.shadows.floor);
    sceneryLoaded.value += 1;
  }

  private drawGhosts(now: number): void {
    const sources = this.ghostSources ?? store.ghosts.peek();
    for (const [source, vehicles] of this.ghosts) {
      if (sources.includes(source)) continue;
      this.scene.remove(vehicles.group);
      vehicles.dispose();
      this.ghosts.delete(source);
    }
    for (const source of sources) this.drawGhost(source, source.sample(now));
  }

  private drawGhost(source: FrameSource, sample: Sample | null): void {
    let vehicles = this.ghosts.get(source);
    if (vehicles === undefined) {
      vehicles = new VehicleLayer(true);
      this.ghosts.set(source, vehicles);
      this.scene.add(vehicles.group);
    }
    if (!sample) return vehicles.clear();
    const look = {
      colouring: "fleet",
      headings: false,
      emphasised: NO_ROWS,
      budget: { detailed: 60, simple: 300 },
      faded: source.standing?.peek() !== undefined && source.standing.peek() !== "",
    } as const;
    const shown = coherent(sample);
    vehicles.take(shown, source.roster.peek());
    vehicles.update(shown, source.roster.peek(), this.view, look);
  }

  private followed(sample: Sample): Followed | null {
    const mode = store.camera.peek();
    const id = mode === "chase" || mode === "fpv" ? store.focus.peek() : null;
    const row = this.rowOf(id);
    const fleet = row === undefined ? undefined : this.vehicles.roster?.fleetAt(row);
    this.precise.follow(id, fleet);
    const orbited = this.place(this.following);
    if (orbited && mode !== "chase" && mode !== "fpv") this.rig.target = orbited;
    if (row === undefined || !fleet) return null;
    const pose = this.precise.pose(sample, row);
    return pose.position.every(Number.isFinite) ? { pose, traits: traitsOf(fleet) } : null;
  }

  private drawTrails(sample: Sample, shown: boolean): void {
    if (!shown) return this.trails.hide();
    const where = (id: number) => this.place(id);
    if (this.view.now - this.trailsChosen > 700) {
      this.trailsChosen = this.view.now;
      this.trails.store.keep([...store.selection.peek(), ...this.vehicles.nearIds()]);
    }
    this.trails.store.sample(timeOf(sample), sample.to.run, where);
    this.trails.update(this.view, where, (id) => this.colourOf(id));
  }

  private colourOf(id: number): Rgba {
    const fleet = this.vehicles.roster?.fleetAt(this.rowOf(id) ?? -1);
    const [r, g, b] = fleetColour(fleet).rgb;
    return [255 * r, 255 * g, 255 * b, 255];
  }

  private ringed(): Ringed[] {
    const ids = new Map<number, Ringed["kind"]>();
    for (const id of store.selection.peek()) ids.set(id, "selected");
    const [hovered, focus] = [store.hovered.peek(), store.focus.peek()];
    if (hovered !== null && !ids.has(hovered)) ids.set(hovered, "hovered");
    const aboard = this.rig.shown === "chase" || this.rig.shown === "fpv"; // the followed vehicle needs no label
    if (focus !== null && !aboard) ids.set(focus, "focus");
    if (focus !== null && aboard) ids.delete(focus);
    const rings: Ringed[] = [];
    for (const [id, kind] of ids) {
      const position = this.place(id);
      const fleet = position && this.vehicles.roster?.fleetAt(this.rowOf(id) ?? -1);
      if (position && fleet) rings.push({ position, kind, size: traitsOf(fleet).size });
    }
    return rings;
  }

  private drawRoutes(shown: boolean): void {
    const roster = this.vehicles.roster;
    const [routes, served] = [shownRoutes.peek(), store.source.peek()?.routes === undefined];
    const overrides = served ? store.overrides.peek() : NO_OVERRIDES;
    const selected = store.selection.peek();
    const basis = [routes, overrides, roster, this.skin, shown, this.routes.draft, selected];
    if (roster && basis.some((item, k) => item !== this.routed[k])) {
      this.routes.rebuild(routes, overrides, roster, this.skin, shown, selected);
      this.routed = basis;
    }
    this.routes.ribbons.view(this.view);
  }

  private size(): Size {
    return { width: Math.max(this.host.clientWidth, 1), height: Math.max(this.host.clientHeight, 1) };
  }

  private viewState(size: Size, scale: number, now: number): ViewState {
    const { camera } = this.rig;
    const focal = size.height / 2 / Math.tan((camera.fov * Math.PI) / 360);
    const matrix = camera.projectionMatrix.clone().multiply(camera.matrixWorldInverse).elements;
    return {
      camera,
      matrix,
      eye: camera.position.toArray(),
      focal,
      ratio: scale,
      size,
      unit: this.overlay.unit,
      skin: this.skin,
      now,
    };
  }
}
