// The session with the server: subscribes, passes arriving data to the state modules, requests what has changed.
import {
  type Connection,
  connection,
  type Port,
  RpcError,
  reasonOf,
  server,
  type TransformTree,
  UNKNOWN_METHOD,
} from "../net/connection";
import type { Frame } from "../wire/frame";
import type { EventRecord, FiguresTree, MissionTree, RosterTree } from "../wire/schema";
import { clockFromFigures, clockFromMetadata, clockLost, clockRestarted } from "./clock";
import { startColouring } from "./colouring";
import { applyAutopilots } from "./controllers";
import { addEvents, clearEvents } from "./events";
import { applyMarkers } from "./markers";
import { applyMission, clearPendingTasks } from "./mission";
import { setTransforms } from "./poses";
import { applyStandings } from "./race";
import { applyRadio, applyVisualization } from "./radio";
import { vehiclesReplaced, watchRemoved } from "./removed-vehicles";
import { drawnCount, enterRoster, frames, markers, onDrawn, runRestarted, showServed, takeFrame } from "./run";
import { applyScenery, SIDE } from "./scenery";
import { shownReadings, startSensing } from "./sensing";
import { expose, figures, metadata, overrides, routes, showNotice } from "./store";
import { Subscription } from "./subscription";

const CHECK_EVERY = 250; // ms
const CHECKS_PER_UPDATE = 4;
const PLANS_DELAY = 200; // ms: overrides often change in bursts
const CHANGES_PLANS = new Set(["ordered", "order_ended", "spawned", "removed"]);

/** Connect to `ws://host/ws` and stay connected; once per page. */
export function startSession(url: string): void {
  const session = new Session(server);
  const worker = new URL("./worker.js", import.meta.url); // built beside the page's script
  session.begin(new Worker(worker, { type: "module", name: "paddock-net" }), url);
  startColouring();
  watchRemoved();
  startSensing();
  expose({
    measureDecode: (count: number) => server.measureDecode(count),
    setRate: (rate: number | null) => session.subscription.pacing.setRate(rate),
    reconnectNow: () => server.reconnectNow(),
    readings: shownReadings,
  });
}

export class Session {
  readonly subscription: Subscription;
  private cleanup: (() => unknown)[] = [];
  private plansTimer: ReturnType<typeof setTimeout> | undefined;
  private checks = 0;
  private seenDrawn = 0;
  private invalidShown = false;
  private requestedRoster = -1;

  constructor(private readonly server: Connection) {
    this.subscription = new Subscription(server);
  }

  begin(port: Port, url: string): void {
    const visible = () => {
      if (!document.hidden && connection.peek().state === "lost") this.server.reconnectNow();
    };
    document.addEventListener("visibilitychange", visible);
    const timer = setInterval(() => this.check(), CHECK_EVERY);
    this.cleanup = [
      onDrawn(() => this.server.requestFrame()),
      this.subscription.watch(),
      () => clearInterval(timer),
      () => document.removeEventListener("visibilitychange", visible),
    ];
    this.server.begin(port, url, {
      subscribe: () => this.subscribe(),
      opened: () => this.requestAll(),
      lost: () => {
        clearTimeout(this.plansTimer);
        clockLost();
      },
      frame: (frame, arrived, skipped) => this.frame(frame, arrived, skipped),
      markers: (changes) => applyMarkers(markers, changes),
      events: (events) => this.events(events),
      notification: (method, params) => this.notification(method, params),
      invalid: (reason) => this.invalid(reason),
    });
  }

  close(): void {
    for (const end of this.cleanup.splice(0)) end();
    this.server.close();
  }

  private async subscribe(): Promise<void> {
    this.subscription.reset();
    this.requestedRoster = -1;
    vehiclesReplaced();
    clearEvents(); // the server sends its whole history again
    const vehicles = await this.requestMetadata();
    this.subscription.pacing.opened(vehicles);
    markers.clear(); // all markers come with the subscription
    markers.changed();
    await this.subscription.subscribe();
  }

  // what arrives ------------------------------------------------------------------------------------------------------

  private frame(frame: Frame, arrived: number, skipped: number): void {
    this.subscription.renumber(frame);
    this.subscription.pacing.frame(arrived, skipped, Math.max(Date.now() / 1000 - frame.wall, 0));
    if (takeFrame(frame, performance.now())) return;
    this.server.requestFrame();
    void this.requestRoster(frame.roster);
  }

  /** Keep frames coming slowly while nothing is drawn: plots and the buffer use them, too. */
  private check(): void {
    if (drawnCount() === this.seenDrawn) this.server.requestFrame();
    this.seenDrawn = drawnCount();
    this.checks = (this.checks + 1) % CHECKS_PER_UPDATE;
    const due = this.checks === 0 && connection.peek().state === "open";
    if (!due) return;
    this.subscription.pacing.update(performance.now(), document.hidden);
    if (metadata.peek()?.scenario?.["sitl"]) void this.requestAutopilots();
    if (metadata.peek()?.scenario?.["rules"]) void this.requestStandings();
    if (metadata.peek()?.scenario?.["radio"]) void this.requestRadio();
  }

  private events(events: readonly EventRecord[]): void {
    if (!metadata.peek()?.recording) addEvents(events); // those of a recording came with the metadata
    if (events.some(({ kind }) => CHANGES_PLANS.has(kind))) this.requestPlansSoon();
    if (events.some(({ kind }) => kind === "jammer" || kind === "spoofer")) void this.requestRadio();
  }

  private notification(method: string, params: Record<string, unknown>): void {
    if (method === "roster") this.roster(params as unknown as RosterTree);
    else if (method === "figures") takeFigures(params);
    else if (method === "mission") this.mission(params);
    else if (method === "restart") this.restart();
    else if (method === "frames") setTransforms((params["frames"] ?? []) as TransformTree[]);
    else if (method === "refused" || method === "command_refused") showRefusal(params);
  }

  private roster(tree: RosterTree): void {
    if (!Array.isArray(tree.fleets)) throw new Error("fleets missing");
    enterRoster(tree);
    const known = new Set(metadata.peek()?.fleets.map(({ name }) => name));
    if (!tree.fleets.every(({ name }) => known.has(name))) void optional(() => this.requestMetadata());
  }

  private mission(params: Record<string, unknown>): void {
    if (!Array.isArray(params["tasks"])) throw new Error("tasks missing");
    if (applyMission(params as unknown as MissionTree)) this.requestPlansSoon();
  }

  private restart(): void {
    clockRestarted();
    runRestarted();
    frames.breakOff();
    void this.requestEvents();
    void this.requestMission();
    this.requestPlansSoon();
  }

  private invalid(reason: string): void {
    if (!this.invalidShown) showNotice("warning", `Invalid message from the server: ${reason}`);
    this.invalidShown = true;
  }

  // requests ----------------------------------------------------------------------------------------------------------

  /** Request what an older server may not offer. */
  private requestAll(): void {
    void this.requestEvents();
    void this.requestMission();
    void this.requestPlans();
    void this.requestAutopilots();
    void this.requestStandings();
    void this.requestRadio();
    void optional(async () => applyScenery((await this.server.request("scenery", { side: SIDE })).scenery));
    void optional(async () => setTransforms((await this.server.request("get_frames", {})).frames));
  }

  /** Return the number of vehicles. */
  private async requestMetadata(): Promise<number> {
    const tree = await this.server.request("metadata", {});
    metadata.value = tree;
    clockFromMetadata(tree);
    showServed(tree.recording);
    return tree.fleets.reduce((sum, { count }) => sum + count, 0);
  }

  private async requestRoster(number: number): Promise<void> {
    if (this.requestedRoster === number) return;
    this.requestedRoster = number;
    await this.server.request("get_roster", {}).then(enterRoster, () => {});
  }

  private requestEvents(): Promise<void> {
    const all = metadata.peek()?.recording?.events;
    return optional(async () => addEvents(all ?? (await this.server.request("events", { since: 0 })).events));
  }

  private requestMission(): Promise<void> {
    return optional(async () => {
      clearPendingTasks();
      applyMission((await this.server.request("mission", {})).mission);
    });
  }

  private requestAutopilots(): Promise<void> {
    return optional(async () => applyAutopilots((await this.server.request("autopilots", {})).autopilots));
  }

  private requestStandings(): Promise<void> {
    return optional(async () => applyStandings((await this.server.request("standings", {})).standings));
  }

  private requestRadio(): Promise<void> {
    return optional(async () => applyRadio((await this.server.request("radio_view", {})).radio));
  }

  private requestPlansSoon(): void {
    clearTimeout(this.plansTimer);
    this.plansTimer = setTimeout(() => void this.requestPlans(), PLANS_DELAY);
  }

  private async requestPlans(): Promise<void> {
    await optional(async () => {
      routes.value = (await this.server.request("routes", {})).routes;
    });
    await optional(async () => {
      overrides.value = (await this.server.request("overrides", {})).overrides;
    });
  }
}

/** Ignore methods that the server does not know; a lost connection is handled elsewhere. */
async function optional(request: () => Promise<unknown>): Promise<void> {
  try {
    await request();
  } catch (error) {
    if (error instanceof RpcError && error.code !== UNKNOWN_METHOD) showNotice("warning", reasonOf(error));
  }
}

function takeFigures(params: Record<string, unknown>): void {
  if (typeof params["tick"] !== "number") throw new Error("tick missing");
  figures.value = params as unknown as FiguresTree;
  clockFromFigures(params as unknown as FiguresTree);
  applyVisualization(figures.value.visualization);
}

/** A command to a vehicle that another client has taken over needs no notice: driving ends. */
function showRefusal(params: Record<string, unknown>): void {
  if (params["of"] === "set_control" && String(params["reason"]).includes(" is driven by ")) return;
  const count = Number(params["count"] ?? 1);
  const times = count > 1 ? ` (${count} times)` : "";
  showNotice("warning", `${String(params["of"] ?? "")} refused: ${String(params["reason"] ?? "")}${times}`);
}
