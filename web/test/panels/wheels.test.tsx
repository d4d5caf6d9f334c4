// @vitest-environment happy-dom
// The wheels of a car: columns per wheel and per axle, friction circles, sliding.
import { render } from "preact";
import { expect, it } from "vitest";
import { summaryOf } from "../../src/panels/arrays";
import { InspectorColumns } from "../../src/panels/columns";
import { brief, quantitiesOf, Wheels, wheelColumns, wheelOf } from "../../src/panels/wheels";
import type { ValueTree } from "../../src/wire/schema";
import { inspectedRed, makeWorld } from "./world";

const ENDS = ["fl", "fr", "rl", "rr"];
const NAMES = ["load", "force_x", "force_y", "slip_ratio", "slip_angle", "mu_peak", "alpha_peak", "kappa_peak"];
const columns = [
  "x",
  "steer",
  ...NAMES.flatMap((name) => ENDS.map((end) => `${name}_${end}`)),
  "transfer_front",
  "transfer_rear",
];
const USUAL: Record<string, number> = { load: 4000, mu_peak: 1.1, alpha_peak: 0.12, kappa_peak: 0.1, steer: 0.2 };
const values = new Map(columns.map((name) => [name, USUAL[name.replace(/_(fl|fr|rl|rr)$/, "")] ?? 0]));
values.set("force_x_fr", 2640).set("force_y_fr", 3520).set("slip_angle_fr", 0.06).set("slip_ratio_fr", 0.08);
values.set("slip_angle_rl", -0.3);
const read = (name: string) => values.get(name) ?? Number.NaN;

it("finds the quantities that all wheels or both axles have", () => {
  expect(quantitiesOf(columns, ENDS)).toEqual(NAMES);
  expect(quantitiesOf(columns, ["front", "rear"])).toEqual(["transfer"]);
  expect(quantitiesOf(["load_fl", "load_fr", "load_rl", "speed"], ENDS)).toEqual([]); // one is missing
  expect(wheelColumns(columns).size).toBe(4 * 8 + 2);
  expect(wheelColumns(["x", "y", "speed"]).size).toBe(0);
});

it("compares force and slips with their peaks", () => {
  const wheel = wheelOf(read, columns, "fr");
  expect(wheel).toMatchObject({ along: 2640, left: 3520, most: 4400, steer: 0.2 });
  expect(wheel?.slip).toBeCloseTo(Math.hypot(0.5, 0.8), 9);
  expect(wheelOf(read, columns, "rr")?.steer).toBe(0);
  expect(wheelOf(read, ["load_fl"], "fl")).toBeNull();
});

it("draws circles and a table, and marks sliding wheels", () => {
  const host = document.createElement("div");
  render(<Wheels id={1} columns={columns} read={read} unitOf={() => "N"} meaningOf={() => ""} />, host);
  const titles = [...host.querySelectorAll("svg title")].map((one) => one.textContent);
  expect(titles[1]).toBe("front right: 100 % of its grip"); // 4400 of 4400 N
  expect(titles[2]).toBe("rear left: 0 % of its grip, sliding");
  expect(host.querySelectorAll("tbody tr").length).toBe(9);
  expect([...host.querySelectorAll("td.slides")].map((one) => one.textContent)).toEqual(["−0.300"]);
  render(<Wheels id={1} columns={["x", "speed"]} read={read} unitOf={() => ""} meaningOf={() => ""} />, host);
  expect(host.querySelector("details")).toBeNull();
});

it("writes three digits", () => {
  expect([12345.6, 123.4, 12.34, 1.234, 0.01234, -0.00001, Number.NaN].map(brief)).toEqual([
    "12346",
    "123",
    "12.3",
    "1.23",
    "0.012",
    "0",
    "–",
  ]);
});

it("shows axles of which the model has no peaks, as those of the bicycle model", async () => {
  const host = document.createElement("div");
  const bicycle = ["slip_angle_front", "slip_angle_rear", "force_y_front", "force_y_rear"];
  const columns = bicycle.map((name) => ({ ...(inspectedRed.columns[0] as ValueTree), name, value: 0.25 }));
  makeWorld();
  render(<InspectorColumns tree={{ ...inspectedRed, columns }} />, host);
  expect([...host.querySelectorAll(".wheels td:not(.unit)")].map((one) => one.textContent).filter(Boolean)).toEqual([
    "0.250",
    "0.250",
    "0.250",
    "0.250",
  ]);
  expect(host.querySelector("td.slides")).toBeNull();
});

it("summarises arrays of sensors", () => {
  const array = { name: "lidar.ranges", shape: [4], sensor: "lidar", unit: "m", meaning: "", fields: [], options: {} };
  expect(summaryOf(array, [2, Number.POSITIVE_INFINITY, 7.25, Number.NEGATIVE_INFINITY])).toBe("2 of 4, 2.0 to 7.3 m");
  expect(summaryOf(array, [1, 2])).toBe("–"); // of another roster
  const fields = ["x", "y"].map((name) => ({ name, unit: "m", meaning: "", low: null, high: null, choices: [] }));
  expect(summaryOf({ ...array, shape: [2, 2], fields }, [1, 2, Number.NaN, Number.NaN])).toBe("1 of 2 rows");
});
