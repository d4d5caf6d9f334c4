// What becomes of a mission that the server tells: progress, ranges, and what was asked for and has not come yet.
import { afterEach, describe, expect, it } from "vitest";
import {
  addPendingTask,
  applyMission,
  chosenTask,
  clearPendingTasks,
  freeName,
  mission,
  pendingTasks,
  planOf,
  progressOf,
  usedRange,
} from "../../src/state/mission";
import type { MissionTree, TaskTree } from "../../src/wire/schema";

const task = (name: string, state: TaskTree["state"], x = 0, y = 0): TaskTree => ({
  name,
  kind: "point",
  state,
  x,
  y,
  heading: null,
  outline: [[x, y]],
  vehicle: null,
  reason: state === "undone" ? "too far" : "",
});
const uav = { id: 3, name: "uav", status: "transit", travelled: 500, range: 2000, tasks: ["a", "b"] } as const;
const told = (tasks: readonly TaskTree[], travelled = 500): MissionTree => ({
  tasks,
  zones: [],
  members: [{ ...uav, travelled }],
  base: [0, 0, 0, 0],
});

afterEach(() => {
  mission.value = null;
  chosenTask.value = null;
  clearPendingTasks();
});

describe("progress", () => {
  it("counts what is done, what is being done and what will not be", () => {
    const tasks = [
      task("a", "completed"),
      task("b", "completed"),
      task("c", "started"),
      task("d", "undone"),
      task("e", "assigned"),
      task("f", "unassigned"),
    ];
    const { all, done, doing, undone, travelled } = progressOf(told(tasks));
    expect([all, done, doing, travelled]).toEqual([6, 2, 1, 500]);
    expect(undone.map(({ name, reason }) => [name, reason])).toEqual([["d", "too far"]]);
  });

  it("tells which share of its range a vehicle has used", () => {
    expect(usedRange({ ...uav, tasks: [] })).toBe(0.25);
    expect(usedRange({ ...uav, tasks: [], travelled: 9000 })).toBe(1);
    expect(usedRange({ ...uav, tasks: [], range: null })).toBeNull();
  });
});

describe("routes are asked for again", () => {
  it("when tasks, vehicles' orders or zones change, and not when they only travel", () => {
    const first = told([task("a", "assigned", 10, 20)]);
    expect(applyMission(first)).toBe(true);
    expect(applyMission(told([task("a", "assigned", 10, 20)], 900))).toBe(false);
    expect(applyMission(told([task("a", "assigned", 10, 21)], 900))).toBe(true);
    const zone = {
      name: "z",
      outline: [
        [0, 0],
        [1, 0],
        [0, 1],
        [0, 0],
      ],
    } as const;
    expect(planOf({ ...first, zones: [zone] })).not.toBe(planOf(first));
    const other = { ...first, members: [{ ...uav, tasks: ["b", "a"] }] };
    expect(planOf(other)).not.toBe(planOf(first));
    expect(applyMission(null)).toBe(true);
  });
});

describe("what was asked for", () => {
  it("is awaited until the task is there", () => {
    applyMission(told([task("a", "assigned", 10, 20)]));
    addPendingTask("a", { x: 30, y: 40, kind: "asked" });
    applyMission(told([task("a", "assigned", 10, 20)]));
    expect([...pendingTasks.value.keys()]).toEqual(["a"]);
    applyMission(told([task("a", "assigned", 30.004, 40)]));
    expect(pendingTasks.value.size).toBe(0);
  });

  it("is awaited no more when the task is done, or the run another one", () => {
    addPendingTask("a", { x: 30, y: 40, kind: "asked" });
    applyMission(told([task("a", "completed", 10, 20)]));
    expect(pendingTasks.value.size).toBe(0);
    addPendingTask("b", { x: 30, y: 40, kind: "asked" });
    clearPendingTasks();
    expect(pendingTasks.value.size).toBe(0);
  });

  it("stays in the hand while it is dragged", () => {
    addPendingTask("a", { x: 30, y: 40, kind: "dragged" });
    applyMission(told([task("a", "assigned", 30, 40)]));
    expect(pendingTasks.value.get("a")?.x).toBe(30);
    addPendingTask("a", null);
    expect(pendingTasks.value.size).toBe(0);
  });
});

it("forgets the chosen task when it is gone", () => {
  applyMission(told([task("a", "assigned"), task("b", "assigned")]));
  chosenTask.value = "b";
  applyMission(told([task("a", "assigned"), task("b", "completed")]));
  expect(chosenTask.value).toBe("b");
  applyMission(told([task("a", "assigned")]));
  expect(chosenTask.value).toBeNull();
});

it("names new tasks by the first number that is free", () => {
  expect(freeName(null)).toBe("point_1");
  expect(freeName(told([task("point_1", "completed"), task("point_3", "undone")]))).toBe("point_2");
  expect(freeName(told([task("point_1", "completed")]), ["point_2"])).toBe("point_3");
});
