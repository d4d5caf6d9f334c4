// @vitest-environment happy-dom
// A whole session with a fake Worker: opening, columns, notifications, losing the server.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { connection, type Port, server } from "../../src/net/connection";
import type { FromWorker, ToWorker } from "../../src/net/worker";
import { onColumns, requestColumns } from "../../src/state/columns";
import { events } from "../../src/state/events";
import { markDrawn } from "../../src/state/run";
import { Session } from "../../src/state/session";
import { metadata, notices, roster, routes, source } from "../../src/state/store";
import { made } from "./frames";

type Asked = { id?: number; method: string; params: Record<string, unknown> };

const fleet = { name: "red", kind: "car", model: "m", single: true, ids: [[7, 1]], members: [[0, 1]], columns: ["x"] };
const metadataTree = { name: "test", seed: 1, rate: 100, pace: 1, paused: false, run: 0, owner: null, recording: null };
let answers: Record<string, unknown>;
let sent: ToWorker[];
let port: Port;
let session: Session;

const requests = (): Asked[] =>
  sent.flatMap((one) => (one.kind === "send" ? [JSON.parse(one.data as string) as Asked] : []));
const say = (message: FromWorker): void => port.onmessage?.({ data: message } as MessageEvent);
const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(1);

function answer(text: string): void {
  const { id, method } = JSON.parse(text) as Asked;
  if (id === undefined || !(method in answers)) return;
  const reply = answers[method];
  const body = reply instanceof Error ? { error: { code: reply.cause, message: reply.message } } : { result: reply };
  queueMicrotask(() => say({ kind: "json", message: { jsonrpc: "2.0", id, ...body } }));
}

beforeEach(async () => {
  vi.useFakeTimers();
  sessionStorage.clear();
  notices.value = [];
  sent = [];
  answers = {
    authenticate: {},
    metadata: { ...metadataTree, fleets: [{ name: "red", count: 1 }] },
    events: { events: [] },
    subscribe: { roster: 1, fleets: [fleet], rate: 60, wanted: 5 },
    set_columns: { wanted: 6 },
    set_rate: { rate: 30 },
    routes: { routes: [{ fleet: "red" }] },
    overrides: new Error("unknown method", { cause: -32601 }),
    get_frames: { frames: [] },
    autopilots: { autopilots: [] },
  };
  port = {
    onmessage: null,
    postMessage: (message) => {
      sent.push(message);
      if (message.kind === "send" && typeof message.data === "string") answer(message.data);
    },
  };
  session = new Session(server);
  session.begin(port, "ws://here/ws");
});

afterEach(() => {
  session.close();
  vi.useRealTimers();
});

async function open(): Promise<void> {
  say({ kind: "connecting" });
  say({ kind: "open" });
  await settle();
}

it("opens with metadata and subscription, then the rest; an unknown method is no error", async () => {
  await open();
  expect(requests().map(({ method }) => method)).toEqual([
    "metadata",
    "subscribe",
    "events",
    "mission",
    "routes",
    "autopilots",
    "standings",
    "radio_view",
    "scenery",
    "get_frames",
    "overrides",
  ]);
  expect(requests()[1]?.params).toMatchObject({
    rate: 60,
    kinds: ["poses", "markers", "events", "figures", "mission"],
  });
  expect(connection.value).toEqual({ state: "open" });
  expect(metadata.value?.name).toBe("test");
  expect(routes.value.length).toBe(1);
  expect(notices.value).toEqual([]);
});

it("shows what the server prepares, and waits for it", async () => {
  const { metadata, ...others } = answers;
  answers = others;
  await open();
  expect(connection.value).toEqual({ state: "connecting" });
  say({ kind: "json", message: { jsonrpc: "2.0", method: "preparing", params: { text: "compiling kernels" } } });
  expect(connection.value).toEqual({ state: "connecting", note: "compiling kernels" });
  const early = server.call("pause", {});
  answers["pause"] = {};
  await vi.advanceTimersByTimeAsync(95_000);
  expect(sent.filter(({ kind }) => kind === "drop")).toEqual([]);
  say({ kind: "json", message: { jsonrpc: "2.0", method: "preparing", params: { text: "" } } });
  expect(connection.value).toEqual({ state: "connecting" });
  say({ kind: "json", message: { jsonrpc: "2.0", id: requests()[0]?.id, result: metadata } });
  await settle();
  expect(connection.value).toEqual({ state: "open" });
  expect(await early).toEqual({});
});

it("shows frames and requests the next one after drawing", async () => {
  await open();
  say({ kind: "frame", frame: made(1, 3), arrived: 1, skipped: 0 });
  expect(source.value?.sample(performance.now())?.to.time).toBe(1);
  expect(sent.filter(({ kind }) => kind === "next").length).toBe(1);
  markDrawn();
  expect(sent.filter(({ kind }) => kind === "next").length).toBe(1);
  expect(roster.value.nameAt(0)).toBe("red");
});

it("requests columns and delivers them, at any list position", async () => {
  await open();
  const [first, second] = [
    requestColumns("one", [{ of: null, columns: ["speed"] }]),
    requestColumns("two", [{ of: 7, columns: ["x"] }]),
  ];
  const got: number[] = [];
  onColumns(second, (_, blocks) => got.push(blocks[0]?.request ?? -1, blocks[0]?.values[0] ?? -1));
  await vi.advanceTimersByTimeAsync(50);
  expect(requests().filter(({ method }) => method === "set_columns").length).toBe(1);
  const list = requests().at(-1)?.params["columns"] as { of: unknown }[];
  const at = list.findIndex(({ of }) => of === 7);
  const columns = [{ request: at, vehicles: 1, columns: 1, values: Float64Array.of(42) }];
  say({ kind: "frame", frame: made(2, 0, { columns, wanted: 6 }), arrived: 1, skipped: 0 });
  say({ kind: "frame", frame: made(3, 0, { columns, wanted: 99 }), arrived: 2, skipped: 0 });
  expect(got).toEqual([0, 42]);
  first.release();
  second.release();
});

it("shows a lost connection, rejects calls, and opens again", async () => {
  await open();
  const call = server.call("inspect", { vehicle: "red" }).catch((error: Error) => error.message);
  await settle();
  say({ kind: "lost", reason: "connection lost", wait: 2000 });
  expect(await call).toBe("inspect: connection lost");
  expect(connection.value).toMatchObject({ state: "lost", reason: "connection lost; retrying in 2 s" });
  await expect(server.call("pause", {})).rejects.toThrow("not connected");
  await open();
  expect(connection.value.state).toBe("open");
});

it("says which scenario starts while the server is away, for a minute", async () => {
  await open();
  say({ kind: "json", message: { jsonrpc: "2.0", method: "preparing", params: { text: "starting birds" } } });
  expect(connection.value).toEqual({ state: "open", note: "starting birds" });
  say({ kind: "lost", reason: "the simulation has ended", wait: 500 });
  expect(connection.value).toMatchObject({ state: "lost", note: "starting birds", ended: true });
  say({ kind: "connecting" });
  expect(connection.value).toEqual({ state: "connecting", note: "starting birds", ended: true });
  await vi.advanceTimersByTimeAsync(60_000);
  say({ kind: "lost", reason: "no response from the server", wait: 5000 });
  expect(connection.value).not.toHaveProperty("note");
  expect(connection.value).toHaveProperty("ended", true); // still
  await open();
  expect(connection.value).toEqual({ state: "open" });
  say({ kind: "lost", reason: "connection lost", wait: 500 });
  expect(connection.value).not.toHaveProperty("ended");
});

it("has all events of a recording at once", async () => {
  const event = { number: 1, tick: 50, kind: "lap", subject: "red", detail: "" };
  const recording = { path: "run.mcap", start: 0, position: 0, duration: 9, events: [event, { ...event, number: 2 }] };
  answers["metadata"] = { ...metadataTree, recording, fleets: [] };
  await open();
  expect(events.value.map(({ number, time }) => [number, time])).toEqual([
    [1, 0.5],
    [2, 0.5],
  ]);
  expect(requests().map(({ method }) => method)).not.toContain("events");
  say({ kind: "events", events: [{ ...event, detail: "played" }] });
  expect(events.value[0]?.detail).toBe("");
});

it("retries when the server opens but does not respond", async () => {
  delete answers["metadata"];
  await open();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(sent.at(-1)?.kind).toBe("drop");
  say({ kind: "lost", reason: "connection lost", wait: 500 });
  expect(connection.value).toMatchObject({
    state: "lost",
    reason: "metadata: no response from the server within 10 s; retrying in 0.5 s",
  });
});

it("queues calls while connecting", async () => {
  answers["ping"] = { tick: 1, time: 0 };
  say({ kind: "connecting" });
  const call = server.call("ping", {});
  await open();
  expect(await call).toEqual({ tick: 1, time: 0 });
});

it("stops when a token is needed, and continues with one", async () => {
  answers["metadata"] = new Error("a token is needed", { cause: -32001 });
  await open();
  expect(connection.value).toEqual({ state: "refused", reason: "this server requires a token" });
  expect(sent.some(({ kind }) => kind === "hold")).toBe(true);
  answers["metadata"] = { ...metadataTree, fleets: [] };
  server.useToken("secret");
  expect(sent.at(-1)?.kind).toBe("again");
  await open();
  expect(requests().find(({ method }) => method === "authenticate")?.params).toEqual({ token: "secret" });
  expect(connection.value.state).toBe("open");
});

it("requests metadata again for unknown fleets, and routes after overrides", async () => {
  await open();
  sent = [];
  const tree = { roster: 2, fleets: [fleet, { ...fleet, name: "blue", ids: [[8, 1]] }] };
  say({ kind: "json", message: { jsonrpc: "2.0", method: "roster", params: tree } });
  say({
    kind: "events",
    events: [1, 2, 3].map((number) => ({ number, tick: 50, kind: "ordered", subject: "red", detail: "" })),
  });
  await vi.advanceTimersByTimeAsync(300);
  expect(requests().map(({ method }) => method)).toEqual(["metadata", "routes", "overrides"]);
  expect(events.value.map(({ time }) => time)).toEqual([0.5, 0.5, 0.5]);
});

it("reports invalid messages once and continues", async () => {
  await open();
  for (const count of [1, 2, 3]) say({ kind: "invalid", reason: "unknown frame type 119", count });
  say({ kind: "json", message: 17 });
  const wrong = [
    ["frames", { frames: 7 }],
    ["figures", null],
    ["roster", { fleets: 5 }],
  ];
  for (const [method, params] of wrong) say({ kind: "json", message: { jsonrpc: "2.0", method, params } });
  expect(notices.value.filter(({ text }) => text.includes("Invalid message")).length).toBe(1);
  expect(connection.value.state).toBe("open");
});
