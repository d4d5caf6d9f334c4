// Markers of a recording at any time: commands are applied in order, checkpoints speed up seeking back.
import type { MarkerBoard } from "../state/markers";
import type { Marker, MarkerKind } from "../wire/decode";
import { ENUMS, FIELDS, ProtoReader } from "./protobuf";
import { after } from "./recording";

/** A marker as put; its lifetime counts from then. */
interface PutMarker extends Omit<Marker, "expires"> {
  ttl: number; // simulated s; Infinity: forever
}

type MarkerCommand =
  | { put: PutMarker[] }
  | { remove: string; ids: number[] }
  | { clear: string | null } // null: all
  | { show: string; visible: boolean };

function decodeMarkerCommand(data: Uint8Array): MarkerCommand | null {
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

/** Vector, Quaternion and Color have the fields 1, 2, 3, 4; zeros are omitted on the wire. */
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
  if (kind === undefined) throw new Error(`unknown marker kind ${number}`);
  return kind.toLowerCase() as MarkerKind;
}

function frameOf(name: string): string {
  return name === "world" ? "" : name;
}

function pointsOf(bytes: Uint8Array): Float32Array {
  if (bytes.length % 12) throw new Error(`points of ${bytes.length} bytes`);
  return new Float32Array(bytes.slice().buffer); // a copy: the bytes are not aligned
}

// track --------------------------------------------------------------------------------------------------------------

const ROUNDING = 1e-6; // s by which recorded times may differ from sample times
const CHECKPOINT_EVERY = 256; // commands

interface Placed {
  marker: PutMarker;
  until: number; // s of the recording
}

interface Checkpoint {
  applied: number; // commands
  placed: Map<string, Placed>;
  hidden: Set<string>;
}

export class MarkerTrack {
  private readonly times: number[] = [];
  private readonly commands: Uint8Array[] = [];
  private readonly checkpoints: Checkpoint[] = [{ applied: 0, placed: new Map(), hidden: new Set() }];
  private placed = new Map<string, Placed>();
  private hidden = new Set<string>();
  private readonly known = new Set<string>(); // namespaces that were ever hidden
  private applied = 0;
  private nextEnd = Number.POSITIVE_INFINITY; // when the first marker expires
  private over = false; // whether markers have expired
  private lastPosition = Number.NEGATIVE_INFINITY;
  private shownOffset = Number.NaN;

  constructor(private readonly board: MarkerBoard) {}

  /** Add a command at a time, in order. */
  add(time: number, command: Uint8Array): void {
    this.times.push(time);
    this.commands.push(command);
  }

  /** Set the board to a position (s of the recording); simulated time is `offset` more. */
  moveTo(position: number, offset: number): void {
    const goal = after(this.times, position + ROUNDING);
    const known = this.shownOffset;
    const back = goal < this.applied || (this.over && position < this.lastPosition) || this.late(goal);
    if (back) this.goBack(Math.min(goal, this.applied));
    const moved = !(Math.abs(offset - known) <= ROUNDING);
    const changes = [back, moved, this.apply(goal), this.expire(position)];
    this.lastPosition = position;
    this.shownOffset = offset;
    if (changes.includes(true)) this.show(offset);
  }

  /** Whether commands were added before the shown time: earlier ones may have expired too soon. */
  private late(goal: number): boolean {
    return this.applied < goal && (this.times[this.applied] as number) <= this.lastPosition;
  }

  private goBack(goal: number): void {
    const checkpoint = this.checkpoints.findLast(({ applied }) => applied <= goal) as Checkpoint;
    this.placed = new Map(checkpoint.placed);
    this.hidden = new Set(checkpoint.hidden);
    this.applied = checkpoint.applied;
    this.over = false;
    this.nextEnd = earliest(this.placed);
  }

  private apply(goal: number): boolean {
    const some = this.applied < goal;
    for (; this.applied < goal; this.applied++) {
      const command = attempt(this.commands[this.applied] as Uint8Array);
      if (command !== null) this.applyOne(command, this.times[this.applied] as number);
      const due = (this.checkpoints.at(-1) as Checkpoint).applied + CHECKPOINT_EVERY;
      if (this.applied + 1 >= due) this.keep(this.applied + 1);
    }
    return some;
  }

  private keep(applied: number): void {
    // including expired ones, which exist at earlier times
    this.checkpoints.push({ applied, placed: new Map(this.placed), hidden: new Set(this.hidden) });
  }

  private applyOne(command: MarkerCommand, at: number): void {
    if ("put" in command) {
      for (const marker of command.put) {
        const until = at + marker.ttl;
        this.placed.set(key(marker.namespace, marker.id), { marker, until });
        this.nextEnd = Math.min(this.nextEnd, until);
      }
    } else if ("remove" in command) for (const id of command.ids) this.placed.delete(key(command.remove, id));
    else if ("clear" in command) this.clear(command.clear);
    else if (command.visible) this.hidden.delete(command.show);
    else this.hidden.add(command.show);
  }

  private clear(namespace: string | null): void {
    for (const [name, { marker }] of this.placed) {
      if (namespace === null || marker.namespace === namespace) this.placed.delete(name);
    }
  }

  private expire(position: number): boolean {
    if (position + ROUNDING < this.nextEnd) return false;
    for (const [name, { until }] of this.placed) if (until <= position + ROUNDING) this.placed.delete(name);
    this.nextEnd = earliest(this.placed);
    this.over = true;
    return true;
  }

  private show(offset: number): void {
    this.board.clear();
    for (const { marker, until } of this.placed.values()) this.board.put({ ...marker, expires: until + offset });
    for (const namespace of this.hidden) this.known.add(namespace);
    for (const namespace of this.known) this.board.hide(namespace, this.hidden.has(namespace));
    this.board.changed();
  }
}

function earliest(placed: ReadonlyMap<string, Placed>): number {
  let end = Number.POSITIVE_INFINITY;
  for (const { until } of placed.values()) end = Math.min(end, until);
  return end;
}

function key(namespace: string, id: number): string {
  return `${namespace}\u0000${id}`;
}

function attempt(data: Uint8Array): MarkerCommand | null {
  try {
    return decodeMarkerCommand(data);
  } catch {
    return null; // a damaged marker does not affect others
  }
}
