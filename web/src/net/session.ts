// One connection from the page's side: opens it properly, passes on what arrives, and says how it stands.
import { reasonOf } from "../state/caller";
import { clockLost } from "../state/clock";
import { onDrawn, pictures } from "../state/drawn";
import { addEvents, clearEvents } from "../state/events";
import type { Frame } from "../state/frame";
import type { Method, Params, Result } from "../state/methods";
import { markers, takeFrame } from "../state/run";
import { connection, tell } from "../state/store";
import { applyMarkers } from "./decodeMarkers";
import { Door } from "./door";
import type { DecodeTimes } from "./measure";
import type { FromWorker, ToWorker } from "./messages";
import { enterRoster, ownNotifications } from "./notifications";
import { Pacing } from "./pacing";
import { Questions } from "./questions";
import { Rpc, RpcError, TOKEN_NEEDED } from "./rpc";
import type { RosterTree } from "./schema";
import { Subscription } from "./subscription";
import { rememberToken, takeToken } from "./token";

/** What is used of a Worker. */
export interface Port {
  postMessage(message: ToWorker, transfer: Transferable[]): void;
  onmessage: ((event: MessageEvent) => void) | null;
}

const LOOK_EVERY = 250; // ms
const LOOKS_PER_PULSE = 4;

export class Session {
  private port: Port | null = null;
  private undo: (() => unknown)[] = [];
  private token: string | null = null;
  private readonly rpc = new Rpc(
    (text) => this.post({ kind: "send", data: text }),
    (method, params) => this.notified(method, params),
    () => this.preparing !== "",
  );
  private readonly questions = new Questions((method, params) => this.ask(method, params));
  private readonly subscription = new Subscription((method, params) => this.ask(method, params), () => this.pacing);
  private readonly pacing = new Pacing((rate) => void this.subscription.askRate(rate));
  private readonly own = ownNotifications(
    this.questions,
    (reason) => (this.closing = reason),
    (what) => this.prepares(what),
  );
  private readonly hearers = new Map<string, Set<(params: unknown) => void>>();
  private readonly door = new Door(() => this.preparing !== "");
  private closing = ""; // why the server is about to close
  private preparing = ""; // what the server has to do before it can answer
  private asked = true; // for the next frame
  private attempts = 0; // at opening
  private looks = 0;
  private seenPictures = 0;
  private garbageTold = false;
  private asksRoster = -1;
  private measured: ((times: DecodeTimes) => void)[] = [];

  begin(port: Port, url: string): void {
    this.port = port;
    this.token = takeToken();
    port.onmessage = ({ data }) => this.take(data as FromWorker);
    const visible = () => this.visible();
    document.addEventListener("visibilitychange", visible);
    const timer = setInterval(() => this.look(), LOOK_EVERY);
    this.undo = [onDrawn(() => this.next()), this.subscription.watch(), () => clearInterval(timer)];
    this.undo.push(() => document.removeEventListener("visibilitychange", visible));
    this.post({ kind: "start", url });
  }

  /** No longer anything to do with the page. */
  close(): void {
    for (const end of this.undo.splice(0)) end();
    this.post({ kind: "hold" });
    this.port = null;
  }

  // for the rest of the page ------------------------------------------------------------------------------------------

  async call<M extends Method>(method: M, params: Params<M>): Promise<Result<M>> {
    await this.untilOpen(method);
    return this.ask(method, params);
  }

  notify(method: string, params: unknown): void {
    if (connection.peek().state === "open") this.rpc.notify(method, params);
  }

  setRate(rate: number | null): void {
    this.pacing.setRate(rate);
  }

  reconnectNow(): void {
    this.post({ kind: "again" });
  }

  useToken(token: string): void {
    this.token = token;
    rememberToken(token);
    this.reconnectNow();
  }

  onNotification(method: string, callback: (params: unknown) => void): () => void {
    const hearers = this.hearers.get(method) ?? new Set();
    this.hearers.set(method, hearers.add(callback));
    return () => hearers.delete(callback);
  }

  measureDecode(count: number): Promise<DecodeTimes> {
    return new Promise((resolve) => {
      this.measured.push(resolve);
      this.post({ kind: "measure", count });
    });
  }

  // what the Worker tells ---------------------------------------------------------------------------------------------

  private take(told: FromWorker): void {
    if (told.kind === "frame") this.frame(told.frame, told.arrived, told.skipped);
    else if (told.kind === "json") this.json(told.message);
    else if (told.kind === "markers") applyMarkers(markers, told.changes);
    else if (told.kind === "events") this.happened(told.events);
    else if (told.kind === "garbage") this.garbage(told.reason);
    else if (told.kind === "connecting") connection.value = { state: "connecting" };
    else if (told.kind === "open") void this.opened();
    else if (told.kind === "lost") this.lost(told.reason, told.wait);
    else this.measured.shift()?.(told.times);
  }

  private happened(events: Parameters<typeof addEvents>[0]): void {
    addEvents(events);
    this.questions.happened(events);
  }

  private json(message: unknown): void {
    if (!this.rpc.receive(message)) this.garbage("a message that is no JSON-RPC");
  }

  private garbage(reason: string): void {
    const what = "the server has sent something that the page does not understand";
    if (!this.garbageTold) tell("warning", `${what}: ${reason}`);
    this.garbageTold = true;
  }

  private notified(method: string, params: unknown): void {
    const object = typeof params === "object" && params !== null ? (params as Record<string, unknown>) : {};
    try {
      this.own[method]?.(object);
    } catch (error) {
      return this.garbage(`${method}: ${reasonOf(error)}`);
    }
    for (const hearer of this.hearers.get(method) ?? []) hearer(params);
  }

  // frames ------------------------------------------------------------------------------------------------------------

  private frame(frame: Frame, arrived: number, skipped: number): void {
    this.asked = false;
    this.subscription.renumber(frame);
    this.pacing.frame(arrived, skipped, Math.max(Date.now() / 1000 - frame.wall, 0));
    if (takeFrame(frame, performance.now())) return;
    this.next();
    void this.rosterMissing(frame.roster);
  }

  private next(): void {
    if (!this.asked) this.post({ kind: "next" });
    this.asked = true;
  }

  private async rosterMissing(number: number): Promise<void> {
    if (this.asksRoster === number) return;
    this.asksRoster = number;
    await this.ask("get_roster", {}).then((tree: RosterTree) => enterRoster(tree), () => {});
  }

  /** Frames go on slowly when nothing is drawn: plots and the buffer want them too. */
  private look(): void {
    if (pictures() === this.seenPictures) this.next();
    this.seenPictures = pictures();
    this.looks = (this.looks + 1) % LOOKS_PER_PULSE;
    if (this.looks === 0 && connection.peek().state === "open") this.pacing.look(performance.now(), document.hidden);
  }

  // the connection ----------------------------------------------------------------------------------------------------

  /** The server is there, but what it simulates is not ready yet: answers come when it is. */
  private prepares(what: string): void {
    this.preparing = what;
    const { state } = connection.peek();
    if (state === "connecting" || state === "open") this.stand(state);
  }

  private stand(state: "connecting" | "open"): void {
    connection.value = this.preparing === "" ? { state } : { state, note: this.preparing };
  }

  private async opened(): Promise<void> {
    const attempt = ++this.attempts;
    try {
      this.closing = "";
      this.subscription.opened();
      clearEvents(); // all that the server remembers are asked for again
      this.asksRoster = -1;
      if (this.token !== null) await this.ask("authenticate", { token: this.token });
      const { fleets } = await this.questions.metadata();
      this.pacing.opened(fleets.reduce((sum, { count }) => sum + count, 0));
      markers.clear(); // all there are come with the subscription
      markers.changed();
      await this.subscription.subscribe();
      this.stand("open");
      this.door.open();
      this.questions.everything();
    } catch (error) {
      if (attempt === this.attempts) this.notOpened(error); // else it went meanwhile, which tells itself
    }
  }

  private notOpened(error: unknown): void {
    if (!(error instanceof RpcError)) {
      this.closing = reasonOf(error); // no answer in time, or one that makes no sense
      this.post({ kind: "drop" });
      return;
    }
    const reason = error.code === TOKEN_NEEDED ? this.tokenReason() : error.message;
    this.post({ kind: "hold" });
    this.end(reason);
    connection.value = { state: "refused", reason };
  }

  private tokenReason(): string {
    return this.token === null ? "this server wants a token" : "the token is wrong";
  }

  private lost(reason: string, wait: number): void {
    const why = this.closing || reason;
    this.closing = "";
    this.end(why);
    const words = `${why}; trying again in ${wait / 1000} s`;
    connection.value = { state: "lost", reason: words, retryAt: performance.now() + wait };
  }

  private end(reason: string): void {
    this.attempts += 1;
    this.preparing = "";
    this.rpc.lost(reason);
    this.questions.lost();
    clockLost();
    this.asked = true; // a new connection begins with the Worker being asked
    this.door.shut(reason);
  }

  private visible(): void {
    if (!document.hidden && connection.peek().state === "lost") this.reconnectNow();
  }

  // questions ---------------------------------------------------------------------------------------------------------

  private ask<M extends Method>(method: M, params: Params<M>): Promise<Result<M>> {
    return this.rpc.call(method, params) as Promise<Result<M>>;
  }

  private untilOpen(method: string): Promise<void> {
    const { state } = connection.peek();
    if (state === "open") return Promise.resolve();
    if (state !== "connecting") return Promise.reject(new Error(`${method}: there is no connection to the server`));
    return this.door.wait(method);
  }

  private post(message: ToWorker): void {
    this.port?.postMessage(message, []);
  }
}
