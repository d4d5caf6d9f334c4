// @vitest-environment happy-dom
// Dragging and adding tasks: server calls and cancellation.
import { signal } from "@preact/signals";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { cancelDragged, setDragged } from "../../src/control/pointer";
import { addTaskAt, TaskDrag } from "../../src/control/tools/mission";
import { server } from "../../src/net/connection";
import type { Stage } from "../../src/scene/stage";
import { MarkerBoard } from "../../src/state/markers";
import { clearPendingTasks, pendingTasks } from "../../src/state/mission";
import { Roster } from "../../src/state/roster";
import { notices, source } from "../../src/state/store";

const calls = vi.spyOn(server, "call");

/** A map with 2 m per px, north up. */
const stage = {
  canvas: document.createElement("canvas"),
  groundPoint: (x: number, y: number) => (y < 0 ? null : [2 * x, -2 * y, 0]),
  projectPoint: () => null,
  onDrawn: () => () => undefined,
} as unknown as Stage;

beforeEach(() => {
  calls.mockReset().mockResolvedValue({ tick: 1, time: 1 } as never);
  notices.value = [];
  source.value = {
    label: "",
    kind: "live",
    roster: signal(Roster.empty),
    markers: new MarkerBoard(),
    events: signal([]),
    timeline: null,
    sample: () => null,
    close: () => undefined,
  };
});

afterEach(() => {
  clearPendingTasks();
  source.value = null;
});

it("moves a task to the drop position, rounded to millimetres", async () => {
  const drag = new TaskDrag(stage, "mast");
  drag.move(10, 20);
  expect(pendingTasks.value.get("mast")).toEqual({ x: 20, y: -40, kind: "dragged" });
  drag.move(10.00012, 30);
  drag.move(10, -5); // beyond the horizon
  await drag.drop();
  expect(calls.mock.calls).toEqual([["move_task", { name: "mast", x: 20, y: -60 }]]);
  expect(pendingTasks.value.get("mast")).toEqual({ x: 20, y: -60, kind: "requested" });
});

it("cancels a drag without a call", () => {
  const drag = new TaskDrag(stage, "mast");
  drag.move(10, 20);
  setDragged(() => drag.cancel());
  expect(cancelDragged()).toBe(true);
  expect(cancelDragged()).toBe(false);
  expect([pendingTasks.value.size, calls.mock.calls.length]).toEqual([0, 0]);
});

it("shows why a task cannot be moved", async () => {
  calls.mockRejectedValue(new Error("task 'mast' is already completed"));
  const drag = new TaskDrag(stage, "mast");
  drag.move(10, 20);
  await drag.drop();
  expect(notices.value.map(({ text }) => text)).toEqual(["Cannot move mast: task 'mast' is already completed"]);
  expect(pendingTasks.value.size).toBe(0);
});

it("adds tasks with unique names at the clicked points", async () => {
  await Promise.all([addTaskAt(stage, 1, 2), addTaskAt(stage, 3, 4)]);
  expect(calls.mock.calls).toEqual([
    ["add_task", { task: { name: "point_1", point: { at: [2, -4] } } }],
    ["add_task", { task: { name: "point_2", point: { at: [6, -8] } } }],
  ]);
});
