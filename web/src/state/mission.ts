// The mission from the server, the selected task, and pending changes.
import { signal } from "@preact/signals";
import type { MemberTree, MissionTree, TaskTree } from "../wire/schema";
import { metadata } from "./store";

/** Its height, m. */
export function groundHeight(): number {
  const world = metadata.value?.scenario["world"];
  const height = typeof world === "object" && world !== null ? (world as Record<string, unknown>)["ground_z"] : 0;
  return typeof height === "number" ? height : 0;
}

export type TaskState = TaskTree["state"];

export const mission = signal<MissionTree | null>(null);
/** Name of the task that is looked at. */
export const chosenTask = signal<string | null>(null);

/** Where a task will be: dragged there, or asked for there. */
export interface Awaited {
  x: number; // m
  y: number;
  kind: "dragged" | "asked";
}

export const awaited = signal<ReadonlyMap<string, Awaited>>(new Map());

const NEAR = 0.01; // m: so near to where it was asked to be, a task has come there

/** The server has told the mission; true when vehicles may have other routes than before. */
export function takeMission(told: MissionTree | null): boolean {
  const before = mission.peek();
  mission.value = told;
  if (chosenTask.peek() !== null && taskOf(told, chosenTask.peek()) === undefined) chosenTask.value = null;
  const waiting = [...awaited.peek()].filter(([name, one]) => one.kind === "dragged" || !isThere(told, name, one));
  if (waiting.length !== awaited.peek().size) awaited.value = new Map(waiting);
  return planOf(before) !== planOf(told);
}

/** Nothing that was asked for comes any more: the run has begun anew, or is another. */
export function forgetAwaited(): void {
  if (awaited.peek().size > 0) awaited.value = new Map();
}

/** A task is to be there; null: it is not awaited any more. */
export function awaitTask(name: string, one: Awaited | null): void {
  const others = [...awaited.peek()].filter(([other]) => other !== name);
  awaited.value = new Map(one === null ? others : [...others, [name, one]]);
}

function isThere(told: MissionTree | null, name: string, { x, y }: Awaited): boolean {
  const task = taskOf(told, name);
  return task !== undefined && (isOver(task) || Math.hypot(task.x - x, task.y - y) < NEAR);
}

export function taskOf(told: MissionTree | null, name: string | null): TaskTree | undefined {
  return told?.tasks.find((task) => task.name === name);
}

/** Whether nothing about it can be changed any more. */
export function isOver({ state }: TaskTree): boolean {
  return state === "completed";
}

/** What decides where vehicles fly: who does what next, and where that is. */
export function planOf(told: MissionTree | null): string {
  if (told === null) return "";
  const members = told.members.map(({ name, status, tasks }) => [name, status, tasks]);
  return JSON.stringify([members, told.zones.length, told.tasks.map(({ x, y }) => [x, y])]);
}

export interface Progress {
  all: number;
  done: number;
  doing: number;
  undone: readonly TaskTree[];
  travelled: number; // m, of all vehicles
}

export function progressOf({ tasks, members }: MissionTree): Progress {
  return {
    all: tasks.length,
    done: tasks.filter(({ state }) => state === "completed").length,
    doing: tasks.filter(({ state }) => state === "started").length,
    undone: tasks.filter(({ state }) => state === "undone"),
    travelled: members.reduce((sum, { travelled }) => sum + travelled, 0),
  };
}

/** Share of its range that a vehicle has used, 0 to 1; null where there is no limit. */
export function usedRange({ travelled, range }: MemberTree): number | null {
  return range === null || range <= 0 ? null : Math.min(1, Math.max(0, travelled / range));
}

/** A name for one more task: the first number that is free. */
export function freeName(told: MissionTree | null, pending: Iterable<string> = []): string {
  const taken = new Set([...(told?.tasks.map(({ name }) => name) ?? []), ...pending]);
  let number = 1;
  while (taken.has(`point_${number}`)) number += 1;
  return `point_${number}`;
}
