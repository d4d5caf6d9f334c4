// The page's one connection to the server: opening, JSON-RPC calls, notifications and frames. The socket runs in a Worker.
import { signal } from "@preact/signals";
import type { MarkerChange } from "../wire/decode";
import type { Frame } from "../wire/frame";
import { type EventRecord, type FrameTree, type Methods, SLOW_METHODS } from "../wire/schema";
import type { DecodeTimes, FromWorker, ToWorker } from "./worker";

// calls ---------------------------------------------------------------------------------------------------------------

export type Method = keyof Methods;
export type Params<M extends Method> = Methods[M]["params"];
export type Result<M extends Method> = Methods[M]["result"];
/** null: the scenario's behaviour; "external": manual control; otherwise a behaviour, by name or with options. */
export type Behaviour = Params<"override">["behaviour"];
/** A named transform frame and its pose in its parent ("" or "world", a vehicle, or another frame). */
export type TransformTree = FrameTree;

export const UNKNOWN_METHOD = -32601;
export const TOKEN_NEEDED = -32001;

export const CALL_TIMEOUT = 10_000; // ms
const SLOW_TIMEOUT = 600_000; // ms, of calls that wait, plan or compile, and of any call while the server is alive
const NOTICEABLE = 2000; // ms until a call counts as pending

/** A call without a response so far. */
export interface PendingCall {
  method: string;
  since: number; // performance.now()
}

/** Calls that take noticeably long, e.g. because the server compiles a kernel. */
export const pendingCalls = signal<readonly PendingCall[]>([]);

export class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
    this.name = "RpcError";
  }
}

/** Return the message of anything thrown. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

interface Pending extends PendingCall {
  resolve(result: unknown): void;
  reject(error: Error): void;
  timer: ReturnType<typeof setTimeout>;
  notice: ReturnType<typeof setTimeout>;
}

export class Rpc {
  private readonly pending = new Map<number, Pending>();
  private lastId = 0;

  /** `alive`: a call stays pending after its timeout while this returns true, up to SLOW_TIMEOUT. */
  constructor(
    private readonly send: (text: string) => void,
    private readonly notified: (method: string, params: unknown) => void,
    private readonly alive: () => boolean = () => false,
  ) {}

  call(method: string, params: unknown): Promise<unknown> {
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      const timeout = SLOW_METHODS.has(method) ? SLOW_TIMEOUT : CALL_TIMEOUT;
      const notice = setTimeout(() => this.showPending(id), NOTICEABLE);
      const since = performance.now();
      this.pending.set(id, { method, since, resolve, reject, notice, timer: this.timer(id, timeout) });
      this.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  }

  notify(method: string, params: unknown): void {
    this.send(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  /** Handle a message from the server; return false if it is not valid JSON-RPC. */
  receive(message: unknown): boolean {
    if (Array.isArray(message)) return message.map((item) => this.receive(item)).every(Boolean);
    if (typeof message !== "object" || message === null) return false;
    const fields = message as Record<string, unknown>;
    if (typeof fields["method"] !== "string") return this.respond(fields);
    this.notified(fields["method"], fields["params"]);
    return true;
  }

  /** The connection is closed: reject all pending calls. */
  rejectAll(reason: string): void {
    for (const [id, { method, reject }] of [...this.pending]) {
      this.take(id);
      reject(new Error(`${method}: ${reason}`));
    }
  }

  private respond(fields: Record<string, unknown>): boolean {
    const error = fields["error"];
    const pending = this.take(fields["id"]);
    // a response after the timeout is still valid
    if (pending === undefined) return typeof fields["id"] === "number" || error !== undefined;
    if (error === undefined) pending.resolve(fields["result"]);
    else pending.reject(errorOf(error));
    return true;
  }

  private take(id: unknown): Pending | undefined {
    if (typeof id !== "number") return undefined;
    const pending = this.pending.get(id);
    this.pending.delete(id);
    clearTimeout(pending?.timer);
    clearTimeout(pending?.notice);
    if (pendingCalls.peek().some((call) => call === pending)) {
      pendingCalls.value = pendingCalls.peek().filter((call) => call !== pending);
    }
    return pending;
  }

  private showPending(id: number): void {
    const waiting = this.pending.get(id);
    if (waiting !== undefined) pendingCalls.value = [...pendingCalls.peek(), waiting];
  }

  private timer(id: number, timeout: number): ReturnType<typeof setTimeout> {
    return setTimeout(() => {
      const waiting = this.pending.get(id);
      if (waiting === undefined) return;
      const waits = performance.now() - waiting.since < SLOW_TIMEOUT && this.alive();
      if (waits) waiting.timer = this.timer(id, timeout);
      else
        this.take(id)?.reject(new Error(`${waiting.method}: no response from the server within ${timeout / 1000} s`));
    }, timeout);
  }
}

function errorOf(error: unknown): RpcError {
  const { code, message, data } = (error ?? {}) as { code?: unknown; message?: unknown; data?: unknown };
  const text = typeof message === "string" ? message : "the server gave no reason";
  return new RpcError(typeof code === "number" ? code : -32000, text, data);
}

// connection ----------------------------------------------------------------------------------------------------------

export type ConnectionState =
  | { state: "connecting"; note?: string; ended?: true } // note: what the server prepares or starts before it can respond
  | { state: "open"; note?: string }
  | { state: "lost"; reason: string; retryAt: number; note?: string; ended?: true } // performance.now() of the next attempt
  | { state: "refused"; reason: string }; // missing or wrong token: no automatic retry

export const connection = signal<ConnectionState>({ state: "connecting" });

/** The part of a Worker that is used. */
export interface Port {
  postMessage(message: ToWorker, transfer: Transferable[]): void;
  onmessage: ((event: MessageEvent) => void) | null;
}

/** What the page does with the data of a connection. */
interface Handlers {
  /** Request metadata and subscribe; the connection counts as open when this resolves. */
  subscribe(): Promise<void>;
  opened(): void;
  lost(): void;
  frame(frame: Frame, arrived: number, skipped: number): void;
  markers(changes: readonly MarkerChange[]): void;
  events(events: readonly EventRecord[]): void;
  notification(method: string, params: Record<string, unknown>): void;
  /** A message that does not follow the protocol. */
  invalid(reason: string): void;
}

const ALIVE = 3000; // ms: figures arrive twice a second
const ENDED = "the simulation has ended"; // the server's reason where nothing has failed
const LONGEST_START = 60_000; // ms for the server to return with another scenario

interface Waiting {
  resolve(): void;
  reject(error: Error): void;
  timer: ReturnType<typeof setTimeout>;
}

export class Connection {
  private port: Port | null = null;
  private handlers: Handlers | null = null;
  private token: string | null = null;
  private attempt = 0;
  private closeReason = ""; // announced by the server before it closes
  private ended = false; // announced by the server, which has not returned
  private preparing = ""; // what the server prepares before it can respond
  private starting = { what: "", until: 0 }; // announced before the connection was lost; performance.now()
  private receivedAt = Number.NEGATIVE_INFINITY; // performance.now() of the last message
  private frameRequested = true;
  private readonly waiting = new Set<Waiting>(); // calls made before the connection is open
  private measuring: ((times: DecodeTimes) => void)[] = [];
  private readonly rpc = new Rpc(
    (text) => this.post({ kind: "send", data: text }),
    (method, params) => this.notified(method, params),
    () => this.preparing !== "" || performance.now() - this.receivedAt < ALIVE,
  );

  begin(port: Port, url: string, handlers: Handlers): void {
    this.port = port;
    this.handlers = handlers;
    this.token = takeToken();
    port.onmessage = ({ data }) => this.receive(data as FromWorker);
    this.post({ kind: "start", url });
  }

  close(): void {
    this.post({ kind: "hold" });
    this.port = null;
  }

  /** Call a method, waiting until the connection is open. Rejects with RpcError, or Error on timeout or loss. */
  async call<M extends Method>(method: M, params: Params<M>): Promise<Result<M>> {
    await this.untilOpen(method);
    return this.request(method, params);
  }

  /** Call a method while the connection is still being opened. */
  request<M extends Method>(method: M, params: Params<M>): Promise<Result<M>> {
    return this.rpc.call(method, params) as Promise<Result<M>>;
  }

  notify<M extends Method>(method: M, params: Params<M>): void {
    if (connection.peek().state === "open") this.rpc.notify(method, params);
  }

  /** Request the newest frame; called after each drawing. */
  requestFrame(): void {
    if (!this.frameRequested) this.post({ kind: "next" });
    this.frameRequested = true;
  }

  reconnectNow(): void {
    this.post({ kind: "again" });
  }

  useToken(token: string): void {
    this.token = token;
    storeToken(token);
    this.reconnectNow();
  }

  measureDecode(count: number): Promise<DecodeTimes> {
    return new Promise((resolve) => {
      this.measuring.push(resolve);
      this.post({ kind: "measure", count });
    });
  }

  private receive(message: FromWorker): void {
    if (message.kind !== "connecting" && message.kind !== "lost") this.receivedAt = performance.now();
    if (message.kind === "frame") {
      this.frameRequested = false;
      this.handlers?.frame(message.frame, message.arrived, message.skipped);
    } else if (message.kind === "json") {
      if (!this.rpc.receive(message.message)) this.handlers?.invalid("not a JSON-RPC message");
    } else if (message.kind === "markers") this.handlers?.markers(message.changes);
    else if (message.kind === "events") this.handlers?.events(message.events);
    else if (message.kind === "invalid") this.handlers?.invalid(message.reason);
    else if (message.kind === "connecting") this.setState("connecting");
    else if (message.kind === "open") void this.open();
    else if (message.kind === "lost") this.lost(message.reason, message.wait);
    else this.measuring.shift()?.(message.times);
  }

  private notified(method: string, params: unknown): void {
    const fields = typeof params === "object" && params !== null ? (params as Record<string, unknown>) : {};
    if (method === "closed") this.closeReason = String(fields["reason"] ?? "");
    else if (method === "preparing") this.setPreparing(String(fields["text"] ?? ""));
    else {
      try {
        this.handlers?.notification(method, fields);
      } catch (error) {
        this.handlers?.invalid(`${method}: ${reasonOf(error)}`);
      }
    }
  }

  private async open(): Promise<void> {
    const attempt = ++this.attempt;
    this.closeReason = "";
    try {
      if (this.token !== null) await this.request("authenticate", { token: this.token });
      await this.handlers?.subscribe();
      this.setState("open");
      for (const { resolve } of this.waiting) resolve();
      this.handlers?.opened();
    } catch (error) {
      if (attempt === this.attempt) this.openFailed(error); // otherwise the connection was lost meanwhile
    }
  }

  private openFailed(error: unknown): void {
    if (!(error instanceof RpcError)) {
      this.closeReason = reasonOf(error); // timeout or invalid response
      this.post({ kind: "drop" });
      return;
    }
    const token = this.token === null ? "this server requires a token" : "wrong token";
    const reason = error.code === TOKEN_NEEDED ? token : error.message;
    this.post({ kind: "hold" });
    this.end(reason);
    connection.value = { state: "refused", reason };
  }

  private lost(reason: string, wait: number): void {
    const why = this.closeReason || reason;
    this.ended ||= why === ENDED;
    this.closeReason = "";
    if (connection.peek().state === "open" && this.preparing !== "")
      this.starting = { what: this.preparing, until: performance.now() + LONGEST_START };
    this.end(why);
    const text = `${why}; retrying in ${wait / 1000} s`;
    connection.value = {
      state: "lost",
      reason: text,
      retryAt: performance.now() + wait,
      ...this.note(),
      ...this.over(),
    };
  }

  private end(reason: string): void {
    this.attempt += 1;
    this.preparing = "";
    this.frameRequested = true; // a new connection starts with a requested frame
    this.rpc.rejectAll(reason);
    this.handlers?.lost();
    for (const { reject } of this.waiting) reject(new Error(reason));
  }

  private setPreparing(text: string): void {
    this.preparing = text;
    const { state } = connection.peek();
    if (state === "connecting" || state === "open") this.setState(state);
  }

  private setState(state: "connecting" | "open"): void {
    if (state === "open") {
      this.starting.until = 0;
      this.ended = false;
      connection.value = { state, ...this.note() };
    } else connection.value = { state, ...this.note(), ...this.over() };
  }

  private note(): { note?: string } {
    const note = this.preparing || (performance.now() < this.starting.until ? this.starting.what : "");
    return note === "" ? {} : { note };
  }

  private over(): { ended?: true } {
    return this.ended ? { ended: true } : {};
  }

  private untilOpen(method: string): Promise<void> {
    const { state } = connection.peek();
    if (state === "open") return Promise.resolve();
    if (state !== "connecting") return Promise.reject(new Error(`${method}: not connected to the server`));
    return new Promise((resolve, reject) => {
      const expire = (): void => {
        if (this.preparing !== "") entry.timer = setTimeout(expire, CALL_TIMEOUT);
        else entry.reject(new Error(`${method}: the server does not respond`));
      };
      const finish = (end: () => void): void => {
        clearTimeout(entry.timer);
        this.waiting.delete(entry);
        end();
      };
      const entry: Waiting = {
        resolve: () => finish(resolve),
        reject: (error) => finish(() => reject(error)),
        timer: setTimeout(expire, CALL_TIMEOUT),
      };
      this.waiting.add(entry);
    });
  }

  private post(message: ToWorker): void {
    this.port?.postMessage(message, []);
  }
}

// the page's connection -----------------------------------------------------------------------------------------------

export const server = new Connection();

export function call<M extends Method>(method: M, params: Params<M>): Promise<Result<M>> {
  return server.call(method, params);
}

/** Send without waiting; the server reports refusals in a `refused` notification. */
export function notify<M extends Method>(method: M, params: Params<M>): void {
  server.notify(method, params);
}

// token of a protected server -----------------------------------------------------------------------------------------

const TOKEN_KEY = "paddock.token";

/** Return the token from the address or this tab's storage; remove it from the address bar, so that links do not leak it. */
function takeToken(): string | null {
  const address = new URL(location.href);
  const linked = address.searchParams.get("token");
  if (linked === null) return storedToken();
  storeToken(linked);
  address.searchParams.delete("token");
  history.replaceState(history.state, "", address);
  return linked;
}

function storeToken(token: string): void {
  try {
    sessionStorage.setItem(TOKEN_KEY, token);
  } catch {
    // storage is disabled: the token lasts until the page is closed
  }
}

function storedToken(): string | null {
  try {
    return sessionStorage.getItem(TOKEN_KEY);
  } catch {
    return null;
  }
}
