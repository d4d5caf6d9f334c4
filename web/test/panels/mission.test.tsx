// @vitest-environment happy-dom
// The mission panel: contents, server calls, accessible names.
import { render } from "preact";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { stage } from "../../src/panels/actions";
import { filterTasks, formatDistance, MissionPanel, nextTasks } from "../../src/panels/mission";
import type { Stage } from "../../src/scene/stage";
import { chosenTask, mission } from "../../src/state/mission";
import { selection, tool } from "../../src/state/store";
import type { MissionTree, TaskTree } from "../../src/wire/schema";
import { calls, makeWorld } from "./world";

const task = (name: string, state: TaskTree["state"], more: Partial<TaskTree> = {}): TaskTree => ({
  name,
  kind: "point",
  state,
  x: 100,
  y: 50,
  heading: null,
  outline: [[100, 50]],
  vehicle: null,
  reason: "",
  ...more,
});
const MISSION: MissionTree = {
  tasks: [
    task("mast", "completed", { vehicle: "scouts[0]" }),
    task("farm", "started", { vehicle: "scouts[1]" }),
    task("weir", "undone", { reason: "no vehicle has the range" }),
    task("field", "assigned", {
      kind: "area",
      outline: [
        [0, 0],
        [600, 0],
        [600, 800],
        [0, 800],
        [0, 0],
      ],
    }),
  ],
  zones: [],
  members: [
    { id: 20, name: "scouts[0]", status: "returning", travelled: 4100, range: 20_000, tasks: [] },
    { id: 21, name: "scouts[1]", status: "busy", travelled: 940, range: null, tasks: ["farm", "field", "a", "b", "c"] },
    { id: null, name: "lost", status: "damaged", travelled: 0, range: 100, tasks: [] },
  ],
  base: [0, 0, 0, 0],
};
const settle = () => new Promise((resolve) => setTimeout(resolve, 30));
let host: HTMLElement;

beforeEach(async () => {
  makeWorld();
  mission.value = MISSION;
  chosenTask.value = null;
  host = document.createElement("div");
  document.body.append(host);
  render(<MissionPanel />, host);
  await settle();
});

afterEach(() => {
  render(null, host);
  host.remove();
  mission.value = null;
  tool.value = "select";
  stage.value = null;
  vi.restoreAllMocks();
});

const button = (name: string): HTMLButtonElement => {
  const all = [...host.querySelectorAll("button")];
  const found = all.find((one) => one.getAttribute("aria-label")?.startsWith(name));
  if (found === undefined) throw new Error(`there is no button ${name}`);
  return found;
};

it("shows progress, assignments, and why tasks fail", () => {
  const words = [
    "1 of 4 done",
    "1 started",
    "1 undone",
    "5.0 km flown or driven",
    "4.1 km of 20.0 km",
    "returning",
    "damaged",
    "no vehicle has the range",
    "farm, field, a and 2 more",
    "idle",
    "completed · scouts[0]",
  ];
  for (const word of words) expect(host.textContent).toContain(word);
  const bar = host.querySelector(".task-bar");
  expect(bar?.getAttribute("aria-label")).toBe("Tasks: 1 completed, 1 started, 1 assigned, 1 undone");
  expect(host.querySelector('[aria-label="21 % of its range used"]')).not.toBeNull();
});

it("has accessible names for all controls, all of them in the tab order", () => {
  const controls = [...host.querySelectorAll<HTMLElement>("button, input")];
  expect(controls.length).toBeGreaterThan(10);
  expect(controls.filter((one) => !one.getAttribute("aria-label")?.trim())).toEqual([]);
  expect(controls.filter((one) => one.tabIndex < 0)).toEqual([]);
});

it("moves the camera to a task, at a distance that fits its size", () => {
  const lookAtPoint = vi.fn();
  stage.value = { lookAtPoint } as unknown as Stage;
  button("Look at field").click();
  expect(lookAtPoint).toHaveBeenCalledWith(300, 400, 0, 3.2 * 500);
  expect(chosenTask.value).toBe("field");
  button("Look at mast").click();
  expect(lookAtPoint).toHaveBeenLastCalledWith(100, 50, 0, 60);
});

it("adds tasks with a tool, and leaves the tool", async () => {
  button("Add a point task").click();
  await settle();
  expect(tool.value).toBe("task");
  expect(button("Add a point task").getAttribute("aria-pressed")).toBe("true");
  button("Add a point task").click();
  expect(tool.value).toBe("select");
});

it("removes tasks that are not done yet", async () => {
  expect(host.querySelector('[aria-label="Remove the task mast"]')).toBeNull();
  button("Remove the task farm").click();
  await settle();
  expect(calls).toEqual([["remove_task", { name: "farm" }]]);
});

it("damages a vehicle only after confirmation", async () => {
  const confirm = vi.spyOn(window, "confirm").mockReturnValue(false);
  button("Mark scouts[1] as damaged").click();
  await settle();
  expect(calls).toEqual([]);
  expect(confirm.mock.calls[0]?.[0]).toContain("scouts[1]");
  confirm.mockReturnValue(true);
  button("Mark scouts[1] as damaged").click();
  await settle();
  expect(calls).toEqual([["damage_vehicle", { vehicle_id: 21 }]]);
  expect(host.querySelector('[aria-label="Mark lost as damaged"]')).toBeNull();
});

it("selects a vehicle", () => {
  button("Select scouts[1]").click();
  expect([...selection.value]).toEqual([21]);
});

it("shows that there is no mission", async () => {
  mission.value = null;
  await settle();
  expect(host.textContent).toContain("No mission");
});

it("sorts failed tasks to the top, and finds by reason", () => {
  expect(filterTasks(MISSION.tasks, "").map(({ name }) => name)).toEqual(["weir", "farm", "field", "mast"]);
  expect(filterTasks(MISSION.tasks, "RANGE").map(({ name }) => name)).toEqual(["weir"]);
  expect(filterTasks(MISSION.tasks, "area").map(({ name }) => name)).toEqual(["field"]);
});

it("formats distances and lists", () => {
  expect([formatDistance(940.4), formatDistance(4149), formatDistance(Number.NaN)]).toEqual(["940 m", "4.1 km", "–"]);
  expect(nextTasks(["a", "b", "c"])).toBe("a, b, c");
});
