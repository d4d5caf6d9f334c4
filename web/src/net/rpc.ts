// JSON-RPC 2.0 over text messages: typed methods, request ids, timeouts, pending calls.
import { signal } from "@preact/signals";
import { type FrameTree, type Methods, SLOW_METHODS } from "../wire/schema";

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
    if (Array.isArray(message)) return message.map((one) => this.receive(one)).every(Boolean);
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
    if (pendingCalls.peek().some((one) => one === pending)) {
      pendingCalls.value = pendingCalls.peek().filter((one) => one !== pending);
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
