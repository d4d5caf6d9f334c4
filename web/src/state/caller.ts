// How this room asks the server: the connection puts itself in here, so that state does not know the net.
import type { Method, Params, Result } from "./methods";

export type Call = <M extends Method>(method: M, params: Params<M>) => Promise<Result<M>>;

let current: Call = () => Promise.reject(new Error("not connected to a server"));

export function setCaller(call: Call): void {
  current = call;
}

export const ask: Call = (method, params) => current(method, params);

/** What went wrong, in words for people. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
