// The page's one connection to the server: opening, calls, notifications and frames. The socket runs in a Worker.
import { signal } from "@preact/signals";
import type { MarkerChange } from "../wire/decode";
import type { Frame } from "../wire/frame";
import type { EventTree } from "../wire/schema";
import { CALL_TIMEOUT, type Method, type Params, type Result, Rpc, RpcError, reasonOf, TOKEN_NEEDED } from "./rpc";
import type { DecodeTimes, FromWorker, ToWorker } from "./socket";

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
  events(events: readonly EventTree[]): void;
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
        if (this.preparing !== "") one.timer = setTimeout(expire, CALL_TIMEOUT);
        else one.reject(new Error(`${method}: the server does not respond`));
      };
      const finish = (end: () => void): void => {
        clearTimeout(one.timer);
        this.waiting.delete(one);
        end();
      };
      const one: Waiting = {
        resolve: () => finish(resolve),
        reject: (error) => finish(() => reject(error)),
        timer: setTimeout(expire, CALL_TIMEOUT),
      };
      this.waiting.add(one);
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
  const given = address.searchParams.get("token");
  if (given === null) return storedToken();
  storeToken(given);
  address.searchParams.delete("token");
  history.replaceState(history.state, "", address);
  return given;
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
