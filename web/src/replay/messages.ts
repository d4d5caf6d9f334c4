// The messages of a recording about the run itself: how it began, who is there, what state, what happened.
import type { EventTree, FleetTree, Range, RosterTree } from "../net/schema";
import { ENUMS, FIELDS } from "./fields";
import { ProtoReader } from "./protobuf";

export type Reason = "start" | "reset" | "restore";

export interface RunStart {
  run: number;
  reason: Reason;
  scenario: string; // JSON
}

export interface State {
  tick: number;
  time: number; // simulated s
  run: number;
  width: 4 | 8; // bytes of a number
  blocks: Uint8Array[]; // one a fleet: (columns, vehicles), parts of the message
}

export function decodeRunStart(data: Uint8Array): RunStart {
  const start: RunStart = { run: 0, reason: "start", scenario: "" };
  const field = FIELDS.RunStart;
  for (const reader = new ProtoReader(data); reader.next(); ) {
    if (reader.field === field.run) start.run = reader.uint();
    else if (reader.field === field.reason) start.reason = reasonOf(reader.uint());
    else if (reader.field === field.scenario_json) start.scenario = reader.string();
    else reader.skip();
  }
  return start;
}

function reasonOf(number: number): Reason {
  return (ENUMS.Reason[number] ?? "START").toLowerCase() as Reason;
}

/** Who is there; the roster's own number is left to the reader, which counts the rosters of a file. */
export function decodeRoster(data: Uint8Array, number: number): RosterTree {
  const fleets: FleetTree[] = [];
  for (const reader = new ProtoReader(data); reader.next(); ) {
    if (reader.field === FIELDS.Roster.fleets) fleets.push(decodeFleet(reader.bytes()));
    else reader.skip();
  }
  return { roster: number, fleets };
}

function decodeFleet(data: Uint8Array): FleetTree {
  const words = { name: "", kind: "", model: "" };
  const columns: string[] = [];
  const ids: number[] = [];
  const members: number[] = [];
  let single = false;
  const field = FIELDS.Fleet;
  for (const reader = new ProtoReader(data); reader.next(); ) {
    if (reader.field === field.name) words.name = reader.string();
    else if (reader.field === field.kind) words.kind = reader.string();
    else if (reader.field === field.model) words.model = reader.string();
    else if (reader.field === field.columns) columns.push(reader.string());
    else if (reader.field === field.ids) reader.uints(ids);
    else if (reader.field === field.members) reader.uints(members);
    else if (reader.field === field.single) single = reader.bool();
    else reader.skip();
  }
  const [known, named] = [ids.length, members.length];
  if (known !== named) throw new Error(`fleet ${words.name}: ${known} ids, ${named} members`);
  return { ...words, single, ids: rangesOf(ids), members: rangesOf(members), columns };
}

/** Numbers as [first, count] of those that follow each other. */
export function rangesOf(numbers: readonly number[]): Range[] {
  const ranges: [first: number, count: number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last[0] + last[1] === number) last[1] += 1;
    else ranges.push([number, 1]);
  }
  return ranges;
}

export function decodeState(data: Uint8Array): State {
  const state: State = { tick: 0, time: 0, run: 0, width: 8, blocks: [] };
  const field = FIELDS.State;
  for (const reader = new ProtoReader(data); reader.next(); ) {
    if (reader.field === field.tick) state.tick = reader.uint();
    else if (reader.field === field.sim_time) state.time = reader.double();
    else if (reader.field === field.run) state.run = reader.uint();
    else if (reader.field === field.precision) state.width = ENUMS.Precision[reader.uint()] === "SINGLE" ? 4 : 8;
    else if (reader.field === field.blocks) state.blocks.push(reader.bytes());
    else reader.skip();
  }
  return state;
}

export function decodeEvent(data: Uint8Array): EventTree {
  const event: EventTree = { number: 0, tick: 0, kind: "", subject: "", detail: "" };
  const field = FIELDS.Event;
  for (const reader = new ProtoReader(data); reader.next(); ) {
    if (reader.field === field.number) event.number = reader.uint();
    else if (reader.field === field.tick) event.tick = reader.uint();
    else if (reader.field === field.kind) event.kind = reader.string();
    else if (reader.field === field.subject) event.subject = reader.string();
    else if (reader.field === field.detail) event.detail = reader.string();
    else reader.skip();
  }
  return event;
}
