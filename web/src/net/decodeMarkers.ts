// Frame 0x12: markers that are shown, changed, hidden or taken away, in order.
import type { Marker, MarkerBoard, MarkerKind } from "../state/markers";
import type { Reader } from "./reader";
import { Garbage } from "./split";

const KINDS: readonly MarkerKind[] = [
  "points",
  "line_strip",
  "line_list",
  "circle",
  "ring",
  "arrow",
  "text",
  "triangle_list",
  "car",
  "mesh",
  "axes",
];

const DELETE = 1;
const DELETE_NAMESPACE = 2;
const HIDDEN = 4;
const DELETE_ALL = 8;
const POINT_BYTES = 12;

export interface MarkerChange {
  flags: number;
  marker: Marker;
}

export function decodeMarkers(reader: Reader): MarkerChange[] {
  const changes: MarkerChange[] = [];
  const count = reader.u32();
  for (let k = 0; k < count; k++) changes.push(changeOf(reader));
  reader.end("markers");
  return changes;
}

function changeOf(reader: Reader): MarkerChange {
  const id = reader.u32();
  const kind = KINDS[reader.u8()];
  if (kind === undefined) throw new Garbage("a marker of an unknown kind");
  const flags = reader.u8();
  const [namespaceBytes, frameBytes] = [reader.u8(), reader.u8()];
  const place = placeOf(reader);
  const [textBytes, pointsCount] = [reader.u32(), reader.u32()];
  const namespace = reader.text(namespaceBytes);
  const frame = reader.text(frameBytes);
  const text = reader.text(textBytes);
  const points = new Float32Array(reader.copy(POINT_BYTES * pointsCount));
  return { flags, marker: { namespace, id, kind, ...place, frame, text, points } };
}

function placeOf(reader: Reader): Pick<Marker, "color" | "scale" | "position" | "quaternion" | "expires"> {
  const color: Marker["color"] = [reader.u8(), reader.u8(), reader.u8(), reader.u8()];
  const scale: Marker["scale"] = [reader.f32(), reader.f32(), reader.f32()];
  const position: Marker["position"] = [reader.f64(), reader.f64(), reader.f64()];
  const quaternion: Marker["quaternion"] = [reader.f32(), reader.f32(), reader.f32(), reader.f32()];
  return { color, scale, position, quaternion, expires: reader.f64() };
}

/** Enter changes on a board, and tell who watches it. */
export function applyMarkers(board: MarkerBoard, changes: readonly MarkerChange[]): void {
  for (const change of changes) applyOne(board, change);
  if (changes.length > 0) board.changed();
}

function applyOne(board: MarkerBoard, { flags, marker }: MarkerChange): void {
  const { namespace, id } = marker;
  if (flags & DELETE_ALL) board.clear();
  else if (flags & DELETE_NAMESPACE) board.removeNamespace(namespace);
  else if (flags & DELETE) board.remove(namespace, id);
  else {
    board.hide(namespace, (flags & HIDDEN) !== 0);
    board.put(marker);
  }
}
