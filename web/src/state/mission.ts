// The mission from the server, the selected task, and pending changes.
import { signal } from "@preact/signals";
import type { MemberTree, MissionTree, TaskTree } from "../wire/schema";
import { metadata } from "./store";

/** Height of the flat ground, m. */
export function groundHeight(): number {
  const world = metadata.value?.scenario["world"];
  const height = typeof world === "object" && world !== null ? (world as Record<string, unknown>)["ground_z"] : 0;
  return typeof height === "number" ? height : 0;
}

export type TaskState = TaskTree["state"];

export const mission = signal<MissionTree | null>(null);
/** Name of the selected task. */
export const chosenTask = signal<string | null>(null);

/** Target of a task that is dragged, or whose move is requested. */
interface PendingTask {
  x: number; // m
  y: number;
  kind: "dragged" | "requested";
}

export const pendingTasks = signal<ReadonlyMap<string, PendingTask>>(new Map());

const NEAR = 0.01; // m: a task this near to its requested place has arrived

/** Apply a mission; return whether routes may have changed. */
export function applyMission(tree: MissionTree | null): boolean {
  const before = mission.peek();
  mission.value = tree;
  if (chosenTask.peek() !== null && taskOf(tree, chosenTask.peek()) === undefined) chosenTask.value = null;
  const waiting = [...pendingTasks.peek()].filter(
    ([name, task]) => task.kind === "dragged" || !isThere(tree, name, task),
  );
  if (waiting.length !== pendingTasks.peek().size) pendingTasks.value = new Map(waiting);
  return planOf(before) !== planOf(tree);
}

/** Drop pending changes: the run was reset or replaced. */
export function clearPendingTasks(): void {
  if (pendingTasks.peek().size > 0) pendingTasks.value = new Map();
}

/** Set a task's pending place; null clears it. */
export function addPendingTask(name: string, task: PendingTask | null): void {
  const others = [...pendingTasks.peek()].filter(([other]) => other !== name);
  pendingTasks.value = new Map(task === null ? others : [...others, [name, task]]);
}

function isThere(tree: MissionTree | null, name: string, { x, y }: PendingTask): boolean {
  const task = taskOf(tree, name);
  return task !== undefined && (isOver(task) || Math.hypot(task.x - x, task.y - y) < NEAR);
}

function taskOf(tree: MissionTree | null, name: string | null): TaskTree | undefined {
  return tree?.tasks.find((task) => task.name === name);
}

/** Whether the task can no longer be changed. */
export function isOver({ state }: TaskTree): boolean {
  return state === "completed";
}

/** What determines the routes: assignments, order and places. */
export function planOf(tree: MissionTree | null): string {
  if (tree === null) return "";
  const members = tree.members.map(({ name, status, tasks }) => [name, status, tasks]);
  return JSON.stringify([members, tree.zones.length, tree.tasks.map(({ x, y }) => [x, y])]);
}

interface Progress {
  all: number;
  done: number;
  doing: number;
  undone: readonly TaskTree[];
  travelled: number; // m, all vehicles
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

/** Used share of a vehicle's range, 0 to 1; null without a limit. */
export function usedRange({ travelled, range }: MemberTree): number | null {
  return range === null || range <= 0 ? null : Math.min(1, Math.max(0, travelled / range));
}

/** A name for a new task: the first free number. */
export function freeName(tree: MissionTree | null, pending: Iterable<string> = []): string {
  const taken = new Set([...(tree?.tasks.map(({ name }) => name) ?? []), ...pending]);
  let number = 1;
  while (taken.has(`point_${number}`)) number += 1;
  return `point_${number}`;
}
