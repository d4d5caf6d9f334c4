// JSON-RPC 2.0: matches answers with questions, and gives up on those that never come.
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

export const UNKNOWN_METHOD = -32601;
export const TOKEN_NEEDED = -32001;

const PATIENCE = 10_000; // ms
/** Some calls take as long as the simulation takes. */
const PATIENCE_OF: Readonly<Record<string, number>> = {
  simulation_step: 600_000,
  load_scenario: 120_000,
  reset: 60_000,
  spawn_robots: 60_000,
  check_scenario: 30_000,
};

interface Pending {
  method: string;
  resolve(result: unknown): void;
  reject(error: Error): void;
  timer: ReturnType<typeof setTimeout>;
}

type Notified = (method: string, params: unknown) => void;

export class Rpc {
  private readonly pending = new Map<number, Pending>();
  private last = 0;

  constructor(
    private readonly send: (text: string) => void,
    private readonly notified: Notified,
    private readonly patient: () => boolean = () => false, // whether answers may take as long as they like
  ) {}

  call(method: string, params: unknown): Promise<unknown> {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      const patience = PATIENCE_OF[method] ?? PATIENCE;
      this.pending.set(id, { method, resolve, reject, timer: this.timer(id, patience) });
      this.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  }

  notify(method: string, params: unknown): void {
    this.send(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  /** Take a message from the server; whether it was one. */
  receive(message: unknown): boolean {
    if (Array.isArray(message)) return message.map((one) => this.receive(one)).every(Boolean);
    if (typeof message !== "object" || message === null) return false;
    const told = message as Record<string, unknown>;
    if (typeof told["method"] === "string") this.notified(told["method"], told["params"]);
    else return this.answered(told);
    return true;
  }

  /** The connection is gone, and all answers with it. */
  lost(reason: string): void {
    const all = [...this.pending.values()];
    this.pending.clear();
    for (const { method, reject, timer } of all) {
      clearTimeout(timer);
      reject(new Error(`${method}: ${reason}`));
    }
  }

  private answered(told: Record<string, unknown>): boolean {
    const error = told["error"];
    const pending = this.taken(told["id"]);
    // an answer that comes after its time is no garbage
    if (pending === undefined) return typeof told["id"] === "number" || error !== undefined;
    if (error === undefined) pending.resolve(told["result"]);
    else pending.reject(errorOf(error));
    return true;
  }

  private taken(id: unknown): Pending | undefined {
    if (typeof id !== "number") return undefined;
    const pending = this.pending.get(id);
    this.pending.delete(id);
    clearTimeout(pending?.timer);
    return pending;
  }

  private timer(id: number, patience: number): ReturnType<typeof setTimeout> {
    return setTimeout(() => this.giveUp(id, patience), patience);
  }

  private giveUp(id: number, patience: number): void {
    const waiting = this.pending.get(id);
    if (waiting !== undefined && this.patient()) {
      waiting.timer = this.timer(id, patience);
      return;
    }
    const pending = this.taken(id);
    pending?.reject(new Error(`${pending.method}: the server has not answered for ${patience / 1000} s`));
  }
}

function errorOf(error: unknown): RpcError {
  const { code, message, data } = (error ?? {}) as { code?: unknown; message?: unknown; data?: unknown };
  const words = typeof message === "string" ? message : "the server refuses and does not say why";
  return new RpcError(typeof code === "number" ? code : -32000, words, data);
}
