// The Worker's entry: connects the page's messages to the socket, and measures decoding for benchmarks.
import { decodeMessage } from "../wire/decode";
import { FrameType, HEADER, POSES, TICK } from "../wire/schema";
import { type DecodeTimes, type FromWorker, type Socket, SocketPump, type ToWorker } from "./socket";

interface Scope {
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
  postMessage(message: FromWorker, transfer: Transferable[]): void;
}

const scope = globalThis as unknown as Scope;
let pump: SocketPump | null = null;

function begin(url: string): void {
  pump = new SocketPump(
    url,
    (address) => new WebSocket(address) as unknown as Socket,
    (message, transfer) => scope.postMessage(message, transfer),
  );
  pump.connect();
}

scope.onmessage = ({ data: message }) => {
  if (message.kind === "start") begin(message.url);
  else if (message.kind === "send") pump?.send(message.data);
  else if (message.kind === "next") pump?.next();
  else if (message.kind === "again") pump?.again();
  else if (message.kind === "drop") pump?.drop();
  else if (message.kind === "hold") pump?.hold();
  else scope.postMessage({ kind: "measured", times: measureDecode(message.count) }, []);
};

// decoding benchmark ---------------------------------------------------------------------------------------------------

const ROUNDS = 60; // 96 MB with 100,000 vehicles, more than caches hold

/** A message in the server's format, with the vehicles in a row along x. */
function syntheticMessage(count: number): ArrayBuffer {
  const poses = 4 + POSES.size * count;
  const view = new DataView(new ArrayBuffer(HEADER.size + TICK.size + HEADER.size + poses));
  view.setUint8(0, FrameType.TICK);
  view.setUint32(1, TICK.size, true);
  const at = HEADER.size + TICK.size;
  view.setUint8(at, FrameType.POSES);
  view.setUint32(at + 1, poses, true);
  view.setUint32(at + HEADER.size, count, true);
  for (let k = 0; k < count; k++) view.setFloat32(at + HEADER.size + 4 + POSES.size * k, k, true);
  return view.buffer;
}

/** Time in ms to decode one message; each message is new memory, as on arrival. */
export function measureDecode(count: number, rounds = ROUNDS): DecodeTimes {
  const messages = Array.from({ length: rounds }, () => syntheticMessage(count));
  const bytes = messages[0]?.byteLength ?? 0;
  const times = messages.map(timeOf).sort((a, b) => a - b);
  const [median, p95, slowest] = [0.5, 0.95, 1].map((share) => quantile(times, share)) as [number, number, number];
  return { count, bytes, median, p95, slowest };
}

function timeOf(message: ArrayBuffer): number {
  const begin = performance.now();
  decodeMessage(message);
  return performance.now() - begin;
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(Math.floor(share * sorted.length), sorted.length - 1)] ?? 0;
}
