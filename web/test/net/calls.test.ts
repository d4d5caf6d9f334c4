// Requests and responses: out of order, late, and missing.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { pendingCalls, Rpc, RpcError } from "../../src/net/connection";

let sent: { id?: number; method: string; params: unknown }[] = [];
let notified: [string, unknown][] = [];
let rpc: Rpc;

beforeEach(() => {
  vi.useFakeTimers();
  sent = [];
  notified = [];
  rpc = new Rpc(
    (text) => sent.push(JSON.parse(text)),
    (method, params) => notified.push([method, params]),
  );
});

afterEach(() => vi.useRealTimers());

it("matches responses out of order", async () => {
  const [first, second] = [rpc.call("a", {}), rpc.call("b", { x: 1 })];
  expect(sent.map(({ method }) => method)).toEqual(["a", "b"]);
  rpc.receive({ jsonrpc: "2.0", id: sent[1]?.id, result: "two" });
  rpc.receive({ jsonrpc: "2.0", id: sent[0]?.id, result: "one" });
  expect([await first, await second]).toEqual(["one", "two"]);
});

it("rejects with the server's message", async () => {
  const calls = rpc.call("pause", {});
  rpc.receive({ id: sent[0]?.id, error: { code: -32000, message: "the clock belongs to ros" } });
  const error = await calls.catch((one: unknown) => one);
  expect(error).toBeInstanceOf(RpcError);
  expect(error).toMatchObject({ code: -32000, message: "the clock belongs to ros" });
});

it("times out after 10 s, and accepts a late response", async () => {
  const calls = rpc.call("inspect", {}).catch((error: Error) => error.message);
  vi.advanceTimersByTime(9999);
  vi.advanceTimersByTime(1);
  expect(await calls).toBe("inspect: no response from the server within 10 s");
  expect(rpc.receive({ id: sent[0]?.id, result: 1 })).toBe(true);
});

it("keeps a call pending while the server is alive, and shows it after 2 s", async () => {
  rpc = new Rpc(
    (text) => sent.push(JSON.parse(text)),
    () => undefined,
    () => true,
  );
  const calls = rpc.call("inspect", {});
  vi.advanceTimersByTime(1999);
  expect(pendingCalls.value).toEqual([]);
  vi.advanceTimersByTime(36_000); // a kernel is compiled
  expect(pendingCalls.value.map(({ method }) => method)).toEqual(["inspect"]);
  rpc.receive({ id: sent[0]?.id, result: { tick: 5 } });
  expect(await calls).toEqual({ tick: 5 });
  expect(pendingCalls.value).toEqual([]);
  const lost = rpc.call("inspect", {}).catch((error: Error) => error.message);
  vi.advanceTimersByTime(610_000);
  expect(await lost).toBe("inspect: no response from the server within 10 s");
});

it.each(["simulation_step", "override", "load_scenario"])("waits longer for the slow method %s", async (method) => {
  const calls = rpc.call(method, {});
  vi.advanceTimersByTime(300_000);
  rpc.receive({ id: sent[0]?.id, result: { tick: 1000 } });
  expect(await calls).toEqual({ tick: 1000 });
});

it("rejects all calls when the connection is lost", async () => {
  const calls = [rpc.call("a", {}), rpc.call("b", {})].map((one) => one.catch((error: Error) => error.message));
  rpc.rejectAll("connection lost");
  expect(await Promise.all(calls)).toEqual(["a: connection lost", "b: connection lost"]);
});

it("passes on notifications and rejects other messages", () => {
  expect(rpc.receive({ jsonrpc: "2.0", method: "figures", params: { tick: 3 } })).toBe(true);
  expect(notified).toEqual([["figures", { tick: 3 }]]);
  for (const wrong of [null, 3, "text", {}, [3]]) expect(rpc.receive(wrong)).toBe(false);
});
