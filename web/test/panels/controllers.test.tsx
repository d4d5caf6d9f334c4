// @vitest-environment happy-dom
// Who controls a vehicle, in the inspector: its autopilot with mode, system and port; another window.
import { render } from "preact";
import { afterEach, beforeEach, expect, it } from "vitest";
import { drive } from "../../src/control/driving";
import { VehicleHead } from "../../src/panels/vehicle-card";
import { applyAutopilots, blockedAmong, shownRoutes } from "../../src/state/controllers";
import { figures, metadata, notices, routes } from "../../src/state/store";
import type { AutopilotTree } from "../../src/wire/schema";
import { calls, inspectedRed, makeWorld, someFigures } from "./world";

let page: HTMLElement;
const settle = () => new Promise((resolve) => setTimeout(resolve, 30));
const button = (text: string) => [...page.querySelectorAll("button")].find((one) => one.textContent === text);
const facts = () =>
  Object.fromEntries([...page.querySelectorAll("dt")].map((one) => [one.textContent, one.nextSibling?.textContent]));

const copter: AutopilotTree = {
  id: 20,
  system: 2,
  autopilot: "builtin",
  link: "udp 18571, to udp 127.0.0.1:14551",
  mode: "AUTO",
  armed: true,
  item: "3/5",
  note: "",
  waypoints: [
    [0, 0, 10],
    [30, 0, 10],
  ],
};
const armed = { name: "armed", unit: "", meaning: "", low: 0, high: 1, choices: [], value: 0 };
const scout = { ...inspectedRed, id: 20, name: "scouts[0]", fleet: "scouts", kind: "quad", command: [armed] };

beforeEach(() => {
  makeWorld();
  routes.value = [];
  page = document.body.appendChild(document.createElement("div"));
});

afterEach(() => {
  applyAutopilots([]);
  render(null, page);
  page.remove();
});

it("shows the state of an autopilot, and disables what it would refuse", async () => {
  applyAutopilots([copter]);
  render(<VehicleHead tree={scout} />, page);
  await settle();
  expect(facts()).toMatchObject({
    Control: "builtin autopilot",
    Mode: "AUTO, armed",
    Mission: "item 3/5, 2 waypoints",
    MAVLink: "udp 18571, to udp 127.0.0.1:14551",
  });
  expect([...page.querySelectorAll(".chip")].map((one) => one.textContent)).toEqual(["id 20", "system 2"]);
  for (const word of ["Drive", "Disarm", "Go to"]) {
    expect([word, button(word)?.disabled]).toEqual([word, true]);
    expect(button(word)?.title).toBe("Flown by its autopilot: send commands to MAVLink system 2");
  }
  await drive(20); // with a key
  expect(calls.filter(([method]) => method === "drive")).toEqual([]);
  expect(notices.value.at(-1)?.text).toMatch("Cannot drive: scouts[0] is flown by its autopilot");
  expect(blockedAmong([7])).toBe("");
  expect(blockedAmong([7, 20])).toBe("scouts[0] is flown by its autopilot: send commands to MAVLink system 2");
});

it("draws the waypoints of an autopilot as a route of its fleet", () => {
  applyAutopilots([copter, { ...copter, id: 21, waypoints: [] }]);
  expect(shownRoutes.value).toEqual([
    { fleet: "scouts", ids: [[20, 1]], behaviour: "autopilot", closed: false, points: copter.waypoints },
  ]);
});

it("offers to take over a vehicle that another window drives", async () => {
  if (metadata.value) metadata.value = { ...metadata.value, client: "web client 1" };
  figures.value = { ...someFigures, drivers: { "7": "web client 2" } };
  render(<VehicleHead tree={inspectedRed} />, page);
  await settle();
  expect(facts()["Control"]).toBe("another window");
  expect([button("Drive"), button("Go to")?.disabled]).toEqual([undefined, true]);
  button("Take over")?.click();
  await settle();
  expect(calls).toContainEqual(["drive", { vehicle_id: 7, take_over: true }]);
});

it("shows the substeps of a tick, unless they are unknown", async () => {
  render(<VehicleHead tree={inspectedRed} />, page);
  await settle();
  expect(facts()["Substeps"]).toBe("4 per tick");
  render(<VehicleHead tree={{ ...inspectedRed, substeps: null }} />, page);
  await settle();
  expect(facts()["Substeps"]).toBeUndefined();
});

it("shows no waypoints of a vehicle that was removed", () => {
  applyAutopilots([copter]);
  expect(shownRoutes.value).toHaveLength(1);
  applyAutopilots([{ ...copter, id: 99 }]);
  expect(shownRoutes.value).toHaveLength(0);
});
