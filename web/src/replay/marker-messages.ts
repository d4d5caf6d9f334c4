// What a recording says was done with markers.
import type { Marker, MarkerKind } from "../state/markers";
import { ENUMS, FIELDS } from "./fields";
import { ProtoReader } from "./protobuf";

/** A marker as it was put; for how long it is shown is counted from then on. */
export interface PutMarker extends Omit<Marker, "expires"> {
  ttl: number; // simulated s; Infinity: stays
}

export type MarkerCommand =
  | { put: PutMarker[] }
  | { remove: string; ids: number[] }
  | { clear: string | null } // null: all
  | { show: string; visible: boolean };

export function decodeMarkerCommand(data: Uint8Array): MarkerCommand | null {
  const field = FIELDS.MarkerCommand;
  let command: MarkerCommand | null = null;
  for (const reader = new ProtoReader(data); reader.next(); ) {
    if (reader.field === field.put) command = { put: decodeMarkers(reader.bytes()) };
    else if (reader.field === field.delete) command = decodeDelete(reader.bytes());
    else if (reader.field === field.clear) command = decodeClear(reader.bytes());
    else if (reader.field === field.visible) command = decodeShow(reader.bytes());
    else reader.skip();
  }
  return command;
}

function decodeMarkers(data: Uint8Array): PutMarker[] {
  const markers: PutMarker[] = [];
  for (const reader = new ProtoReader(data); reader.next(); ) {
    if (reader.field === FIELDS.MarkerArray.markers) markers.push(decodeMarker(reader.bytes()));
    else reader.skip();
  }
  return markers;
}

function decodeDelete(data: Uint8Array): MarkerCommand {
  const command = { remove: "", ids: [] as number[] };
  for (const reader = new ProtoReader(data); reader.next(); ) {
    if (reader.field === FIELDS.DeleteMarkers.namespace) command.remove = reader.string();
    else if (reader.field === FIELDS.DeleteMarkers.ids) reader.uints(command.ids);
    else reader.skip();
  }
  return command;
}

function decodeClear(data: Uint8Array): MarkerCommand {
  let clear: string | null = null;
  for (const reader = new ProtoReader(data); reader.next(); ) {
    if (reader.field === FIELDS.ClearMarkers.namespace) clear = reader.string();
    else reader.skip();
  }
  return { clear };
}

function decodeShow(data: Uint8Array): MarkerCommand {
  const command = { show: "", visible: false };
  for (const reader = new ProtoReader(data); reader.next(); ) {
    if (reader.field === FIELDS.ShowMarkers.namespace) command.show = reader.string();
    else if (reader.field === FIELDS.ShowMarkers.visible) command.visible = reader.bool();
    else reader.skip();
  }
  return command;
}

function decodeMarker(data: Uint8Array): PutMarker {
  const field = FIELDS.Marker;
  const marker = plainMarker();
  for (const reader = new ProtoReader(data); reader.next(); ) {
    if (reader.field === field.namespace) marker.namespace = reader.string();
    else if (reader.field === field.id) marker.id = reader.uint();
    else if (reader.field === field.kind) marker.kind = kindOf(reader.uint());
    else if (reader.field === field.color) marker.color = bytesOf(decodeNumbers(reader.bytes(), 4));
    else if (reader.field === field.scale) marker.scale = three(decodeNumbers(reader.bytes(), 3));
    else if (reader.field === field.position) marker.position = three(decodeNumbers(reader.bytes(), 3));
    else if (reader.field === field.quaternion) marker.quaternion = four(decodeNumbers(reader.bytes(), 4));
    else if (reader.field === field.frame) marker.frame = frameOf(reader.string());
    else if (reader.field === field.text) marker.text = reader.string();
    else if (reader.field === field.points) marker.points = pointsOf(reader.bytes());
    else if (reader.field === field.ttl) marker.ttl = reader.double() || Number.POSITIVE_INFINITY;
    else reader.skip();
  }
  return marker;
}

function plainMarker(): PutMarker {
  return {
    namespace: "",
    id: 0,
    kind: "points",
    color: [255, 255, 255, 255],
    scale: [1, 1, 1],
    position: [0, 0, 0],
    quaternion: [0, 0, 0, 1],
    frame: "",
    text: "",
    points: new Float32Array(0),
    ttl: Number.POSITIVE_INFINITY,
  };
}

/** Vector, Quaternion and Color number their fields 1, 2, 3, 4; a zero is left out on the wire. */
function decodeNumbers(data: Uint8Array, count: number): number[] {
  const numbers = new Array<number>(count).fill(0);
  for (const reader = new ProtoReader(data); reader.next(); ) {
    if (reader.field <= count) numbers[reader.field - 1] = reader.double();
    else reader.skip();
  }
  return numbers;
}

function three(numbers: number[]): Marker["position"] {
  return [numbers[0] ?? 0, numbers[1] ?? 0, numbers[2] ?? 0];
}

function four(numbers: number[]): Marker["quaternion"] {
  return [numbers[0] ?? 0, numbers[1] ?? 0, numbers[2] ?? 0, numbers[3] ?? 0];
}

function bytesOf(color: number[]): Marker["color"] {
  return four(color.map((part) => Math.round(255 * Math.min(Math.max(part, 0), 1))));
}

function kindOf(number: number): MarkerKind {
  const kind = ENUMS.MarkerKind[number];
  if (kind === undefined) throw new Error(`there is no kind of marker ${number}`);
  return kind.toLowerCase() as MarkerKind;
}

function frameOf(name: string): string {
  return name === "world" ? "" : name;
}

function pointsOf(bytes: Uint8Array): Float32Array {
  if (bytes.length % 12) throw new Error(`${bytes.length} bytes are no points`);
  return new Float32Array(bytes.slice().buffer); // a copy: the bytes are not aligned
}
