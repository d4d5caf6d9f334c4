// Runs in the Worker: keeps a socket open, decodes what arrives, posts frames only as fast as the page draws them.
// Also measures decoding, for benchmarks.
import { type Decoded, decodeMessage, type MarkerChange } from "../wire/decode";
import type { Frame } from "../wire/frame";
import { type EventRecord, FrameType, HEADER, POSES, TICK } from "../wire/schema";

// messages between page and Worker -----------------------------------------------------------------------------------

export interface DecodeTimes {
  count: number; // vehicles
  bytes: number; // of the message
  median: number; // ms
  p95: number; // ms
  slowest: number; // ms
}

export type ToWorker =
  | { kind: "start"; url: string }
  | { kind: "send"; data: string }
  | { kind: "next" } // the last frame is drawn: send the next one
  | { kind: "again" } // connect now if not connected
  | { kind: "drop" } // unusable connection: close it and retry after a delay
  | { kind: "hold" } // stop retrying: the server refused the client
  | { kind: "measure"; count: number };

export type FromWorker =
  | { kind: "connecting" }
  | { kind: "open" }
  | { kind: "lost"; reason: string; wait: number } // ms until the next attempt
  | { kind: "json"; message: unknown }
  | { kind: "frame"; frame: Frame; arrived: number; skipped: number } // counts since the connection opened
  | { kind: "markers"; changes: MarkerChange[] }
  | { kind: "events"; events: EventRecord[] }
  | { kind: "invalid"; reason: string; count: number }
  | { kind: "measured"; times: DecodeTimes };

/** The part of a WebSocket that is used. */
export interface Socket {
  binaryType: string;
  onopen: ((event: never) => void) | null;
  onclose: ((event: { code: number; reason: string }) => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  send(data: string | ArrayBuffer): void;
  close(): void;
}

type Post = (message: FromWorker, transfer: Transferable[]) => void;

/** Delays before reconnect attempts, ms; the last one repeats. */
const WAITS: readonly number[] = [500, 1000, 2000, 5000];

export class SocketPump {
  private socket: Socket | null = null;
  private opened = false;
  private tries = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private waiting: Frame | null = null; // the newest frame that was not posted
  private requested = true;
  private arrived = 0;
  private skipped = 0;
  private invalid = 0;

  constructor(
    private readonly url: string,
    private readonly open: (url: string) => Socket,
    private readonly post: Post,
  ) {}

  connect(): void {
    clearTimeout(this.timer);
    this.post({ kind: "connecting" }, []);
    const socket = this.open(this.url);
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => this.onOpen();
    socket.onmessage = ({ data }) => this.onMessage(data);
    socket.onclose = (event) => this.onClose(socket, event);
  }

  /** Connect now unless connected or connecting. */
  again(): void {
    if (this.socket !== null) return;
    this.tries = 0;
    this.connect();
  }

  /** Close the connection; a retry follows. */
  drop(): void {
    this.socket?.close();
  }

  /** Close the connection and do not retry. */
  hold(): void {
    clearTimeout(this.timer);
    const socket = this.socket;
    this.socket = null;
    this.opened = false;
    socket?.close();
  }

  send(data: string | ArrayBuffer): void {
    if (this.opened) this.socket?.send(data);
  }

  /** The page has drawn: post the newest frame, now or when it arrives. */
  next(): void {
    this.requested = true;
    this.handOver();
  }

  private onOpen(): void {
    this.opened = true;
    this.tries = 0;
    this.waiting = null;
    this.requested = true;
    this.arrived = 0;
    this.skipped = 0;
    this.invalid = 0;
    this.post({ kind: "open" }, []);
  }

  private onClose(socket: Socket, event: { code: number; reason: string }): void {
    if (socket !== this.socket) return; // an older socket
    const was = this.opened;
    this.socket = null;
    this.opened = false;
    const wait = WAITS[Math.min(this.tries, WAITS.length - 1)] as number;
    this.tries += 1;
    this.timer = setTimeout(() => this.connect(), wait);
    this.post({ kind: "lost", reason: reasonOf(event, was), wait }, []);
  }

  private onMessage(data: unknown): void {
    try {
      if (typeof data === "string") this.post({ kind: "json", message: JSON.parse(data) as unknown }, []);
      else this.deliver(decodeMessage(data as ArrayBuffer));
    } catch (error) {
      this.invalid += 1;
      this.post({ kind: "invalid", reason: error instanceof Error ? error.message : "", count: this.invalid }, []);
    }
  }

  private deliver({ frame, markers, events }: Decoded): void {
    if (markers.length > 0) this.post({ kind: "markers", changes: markers }, markers.map(pointsOf));
    if (events.length > 0) this.post({ kind: "events", events }, []);
    if (frame === null) return;
    this.arrived += 1;
    if (this.waiting !== null) this.skipped += 1;
    this.waiting = frame;
    this.handOver();
  }

  private handOver(): void {
    const frame = this.waiting;
    if (frame === null || !this.requested) return;
    this.waiting = null;
    this.requested = false;
    const { arrived, skipped } = this;
    this.post({ kind: "frame", frame, arrived, skipped }, buffersOf(frame));
  }
}

function buffersOf(frame: Frame): ArrayBuffer[] {
  return [frame.poses, ...frame.columns.map(({ values }) => values)].map(({ buffer }) => buffer as ArrayBuffer);
}

function pointsOf(change: { marker: { points: Float32Array } }): ArrayBuffer {
  return change.marker.points.buffer as ArrayBuffer;
}

function reasonOf({ code, reason }: { code: number; reason: string }, was: boolean): string {
  if (reason) return reason;
  if (code === 1009) return "message too large for the server";
  if (code === 1008) return "refused by the server's policy";
  return was ? "connection to the server lost" : "no response from the server";
}

// entry of the Worker -------------------------------------------------------------------------------------------------

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
