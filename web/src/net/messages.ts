// What the page and its Worker tell each other.
import type { EventTree } from "./schema";
import type { Frame } from "../state/frame";
import type { MarkerChange } from "./decodeMarkers";
import type { DecodeTimes } from "./measure";

export type ToWorker =
  | { kind: "start"; url: string }
  | { kind: "send"; data: string }
  | { kind: "next" } // the last frame was drawn: the next one may come
  | { kind: "again" } // connect now, if there is no connection
  | { kind: "drop" } // this connection is no good: close it, and try again after a wait
  | { kind: "hold" } // stop trying: the server has refused
  | { kind: "measure"; count: number };

export type FromWorker =
  | { kind: "connecting" }
  | { kind: "open" }
  | { kind: "lost"; reason: string; wait: number } // ms until the next try; Infinity: none by itself
  | { kind: "json"; message: unknown }
  | { kind: "frame"; frame: Frame; arrived: number; skipped: number } // counts since the connection was opened
  | { kind: "markers"; changes: MarkerChange[] }
  | { kind: "events"; events: EventTree[] }
  | { kind: "garbage"; reason: string; count: number }
  | { kind: "measured"; times: DecodeTimes };
