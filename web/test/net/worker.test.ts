// The Worker's side with a fake socket: reconnecting, frames on request, invalid messages.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type FromWorker, type Socket, SocketPump } from "../../src/net/worker";
import { bytes, event, frame, poses, tick, u32 } from "../wire/pack";

class FakeSocket implements Socket {
  binaryType = "";
  onopen: Socket["onopen"] = null;
  onclose: Socket["onclose"] = null;
  onmessage: Socket["onmessage"] = null;
  sent: unknown[] = [];
  send(data: string | ArrayBuffer): void {
    this.sent.push(data);
  }
  close(): void {
    this.onclose?.({ code: 1000, reason: "" });
  }
}

let sockets: FakeSocket[] = [];
let posted: FromWorker[] = [];
let pump: SocketPump;

beforeEach(() => {
  vi.useFakeTimers();
  sockets = [];
  posted = [];
  const open = () => {
    sockets.push(new FakeSocket());
    return sockets.at(-1) as FakeSocket;
  };
  pump = new SocketPump("ws://here/ws", open, (message) => posted.push(message));
  pump.connect();
});

afterEach(() => vi.useRealTimers());

const newest = (): FakeSocket => sockets.at(-1) as FakeSocket;
const die = (): void => newest().onclose?.({ code: 1006, reason: "" });
const group = (count: bigint): void => {
  newest().onmessage?.({ data: bytes(tick({ tick: count, time: Number(count) }), poses([1, 2, 3, 4])) });
};
const ticks = (): number[] => posted.flatMap((one) => (one.kind === "frame" ? [one.frame.tick] : []));

it("retries after 0.5, 1, 2, 5 and again 5 s", () => {
  for (const wait of [500, 1000, 2000, 5000, 5000]) {
    const before = sockets.length;
    die();
    expect(posted.at(-1)).toMatchObject({ kind: "lost", wait });
    vi.advanceTimersByTime(wait - 1);
    expect(sockets.length).toBe(before);
    vi.advanceTimersByTime(1);
    expect(sockets.length).toBe(before + 1);
  }
});

it("restarts with the shortest delay after it was open, and reports the reason", () => {
  die();
  expect(posted.at(-1)).toEqual({ kind: "lost", reason: "no response from the server", wait: 500 });
  vi.advanceTimersByTime(500);
  newest().onopen?.(undefined as never);
  die();
  expect(posted.at(-1)).toEqual({ kind: "lost", reason: "connection to the server lost", wait: 500 });
});

it("reconnects immediately on request, but only once", () => {
  pump.again();
  expect(sockets.length).toBe(1);
  die();
  pump.again();
  expect(sockets.length).toBe(2);
  vi.advanceTimersByTime(60_000);
  expect(sockets.length).toBe(2);
});

it("stops retrying on request", () => {
  newest().onopen?.(undefined as never);
  pump.hold();
  vi.advanceTimersByTime(60_000);
  expect(sockets.length).toBe(1);
  pump.again();
  expect(sockets.length).toBe(2);
});

it("posts only the newest frame on request, and counts the others", () => {
  newest().onopen?.(undefined as never);
  group(1n);
  for (const count of [2n, 3n, 4n]) group(count);
  expect(ticks()).toEqual([1]);
  pump.next();
  expect(ticks()).toEqual([1, 4]);
  expect(posted.at(-1)).toMatchObject({ arrived: 4, skipped: 2 });
  pump.next();
  expect(ticks()).toEqual([1, 4]);
  group(5n);
  expect(ticks()).toEqual([1, 4, 5]);
});

it("passes on events and responses immediately and in order while frames wait", () => {
  newest().onopen?.(undefined as never);
  group(1n);
  group(2n);
  posted = [];
  newest().onmessage?.({ data: '{"jsonrpc":"2.0","id":1,"result":{}}' });
  newest().onmessage?.({ data: bytes(frame(0x13, [...u32(1), ...event(1n, 2n, "a", "b", "c")])) });
  newest().onmessage?.({ data: '{"jsonrpc":"2.0","method":"roster","params":{}}' });
  expect(posted.map(({ kind }) => kind)).toEqual(["json", "events", "json"]);
});

it("counts invalid messages and continues", () => {
  newest().onopen?.(undefined as never);
  newest().onmessage?.({ data: "{not json" });
  newest().onmessage?.({ data: bytes([0x99, 1, 2]) });
  expect(posted.at(-1)).toMatchObject({ kind: "invalid", count: 2 });
  group(1n);
  expect(ticks()).toEqual([1]);
  expect(sockets.length).toBe(1);
});

it("sends nothing before it is open", () => {
  pump.send("early");
  newest().onopen?.(undefined as never);
  pump.send("now");
  expect(newest().sent).toEqual(["now"]);
});
