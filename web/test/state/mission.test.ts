// The mission: progress, ranges, and pending changes.
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
const missionOf = (tasks: readonly TaskTree[], travelled = 500): MissionTree => ({
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
  it("counts done, active and failed tasks", () => {
    const tasks = [
      task("a", "completed"),
      task("b", "completed"),
      task("c", "started"),
      task("d", "undone"),
      task("e", "assigned"),
      task("f", "unassigned"),
    ];
    const { all, done, doing, undone, travelled } = progressOf(missionOf(tasks));
    expect([all, done, doing, travelled]).toEqual([6, 2, 1, 500]);
    expect(undone.map(({ name, reason }) => [name, reason])).toEqual([["d", "too far"]]);
  });

  it("computes the used share of a vehicle's range", () => {
    expect(usedRange({ ...uav, tasks: [] })).toBe(0.25);
    expect(usedRange({ ...uav, tasks: [], travelled: 9000 })).toBe(1);
    expect(usedRange({ ...uav, tasks: [], range: null })).toBeNull();
  });
});

describe("routes are requested again", () => {
  it("when tasks, assignments or zones change, but not on mere progress", () => {
    const first = missionOf([task("a", "assigned", 10, 20)]);
    expect(applyMission(first)).toBe(true);
    expect(applyMission(missionOf([task("a", "assigned", 10, 20)], 900))).toBe(false);
    expect(applyMission(missionOf([task("a", "assigned", 10, 21)], 900))).toBe(true);
    const zone = {
      name: "z",
      outline: [
        [0, 0],
        [1, 0],
        [0, 1],
        [0, 0],
      ],
      floor: null,
      ceiling: null,
    } as const;
    expect(planOf({ ...first, zones: [zone] })).not.toBe(planOf(first));
    const other = { ...first, members: [{ ...uav, tasks: ["b", "a"] }] };
    expect(planOf(other)).not.toBe(planOf(first));
    expect(applyMission(null)).toBe(true);
  });
});

describe("pending changes", () => {
  it("are kept until the task is there", () => {
    applyMission(missionOf([task("a", "assigned", 10, 20)]));
    addPendingTask("a", { x: 30, y: 40, kind: "requested" });
    applyMission(missionOf([task("a", "assigned", 10, 20)]));
    expect([...pendingTasks.value.keys()]).toEqual(["a"]);
    applyMission(missionOf([task("a", "assigned", 30.004, 40)]));
    expect(pendingTasks.value.size).toBe(0);
  });

  it("are dropped when the task is done, or the run is another", () => {
    addPendingTask("a", { x: 30, y: 40, kind: "requested" });
    applyMission(missionOf([task("a", "completed", 10, 20)]));
    expect(pendingTasks.value.size).toBe(0);
    addPendingTask("b", { x: 30, y: 40, kind: "requested" });
    clearPendingTasks();
    expect(pendingTasks.value.size).toBe(0);
  });

  it("are kept while dragging", () => {
    addPendingTask("a", { x: 30, y: 40, kind: "dragged" });
    applyMission(missionOf([task("a", "assigned", 30, 40)]));
    expect(pendingTasks.value.get("a")?.x).toBe(30);
    addPendingTask("a", null);
    expect(pendingTasks.value.size).toBe(0);
  });
});

it("clears the selected task when it is removed", () => {
  applyMission(missionOf([task("a", "assigned"), task("b", "assigned")]));
  chosenTask.value = "b";
  applyMission(missionOf([task("a", "assigned"), task("b", "completed")]));
  expect(chosenTask.value).toBe("b");
  applyMission(missionOf([task("a", "assigned")]));
  expect(chosenTask.value).toBeNull();
});

it("names new tasks by the first free number", () => {
  expect(freeName(null)).toBe("point_1");
  expect(freeName(missionOf([task("point_1", "completed"), task("point_3", "undone")]))).toBe("point_2");
  expect(freeName(missionOf([task("point_1", "completed")]), ["point_2"])).toBe("point_3");
});
