// The page's one connection, as the rest of the page uses it. The socket itself lives in a Worker.
import { setCaller } from "../state/caller";
import { startColouring } from "../state/colouring";
import { expose } from "../state/debug";
import type { Method, Params, Result } from "../state/methods";
import { watchRemoved } from "../state/removed";
import type { DecodeTimes } from "./measure";
import { Session } from "./session";

export { type ColumnsCallback, onColumns, type Want, want } from "../state/columns";
export type { Behaviour, Method, Methods, Params, Result, ScenarioText, TransformTree } from "../state/methods";
export type { DecodeTimes } from "./measure";
export { RpcError } from "./rpc";

const session = new Session();
setCaller(call);

/** Connect to `ws://host/ws` and stay connected; once for the life of the page. */
export function start(url: string): void {
  const beside = import.meta.url; // the Worker is built beside this file
  session.begin(new Worker(new URL("./worker.js", beside), { type: "module", name: "paddock-net" }), url);
  startColouring();
  watchRemoved();
  expose({ measureDecode, setRate, reconnectNow });
}

/** Ask the server; rejects with RpcError {code, message}, or an Error when the connection goes or it takes too long. */
export function call<M extends Method>(method: M, params: Params<M>): Promise<Result<M>> {
  return session.call(method, params);
}

/** Tell the server without waiting; what it refuses is told as a notice. */
export function notify<M extends Method>(method: M, params: Params<M>): void {
  session.notify(method, params);
}

/** Groups per s to ask for; null: as many as the page keeps up with (also the beginning). */
export function setRate(rate: number | null): void {
  session.setRate(rate);
}

/** Try at once instead of waiting for the next try. */
export function reconnectNow(): void {
  session.reconnectNow();
}

/** Show another token and try again, after the server has refused. */
export function useToken(token: string): void {
  session.useToken(token);
}

/** Hear the server's notifications of a kind (`refused`, `frames`, ...); the returned function ends that. */
export function onNotification(method: string, callback: (params: unknown) => void): () => void {
  return session.onNotification(method, callback);
}

/** How long the Worker takes to decode a frame of so many vehicles. */
export function measureDecode(count: number): Promise<DecodeTimes> {
  return session.measureDecode(count);
}
