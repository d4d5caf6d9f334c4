// @vitest-environment happy-dom
// The radio panel: state and control of jammers, the waterfall's axes, neighbours by name, colours of events.
import { signal } from "@preact/signals";
import { type ComponentChild, render } from "preact";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Emitters } from "../../src/panels/emitters";
import { Neighbours, neighboursOf } from "../../src/panels/neighbours";
import { BudgetTable, packetRows } from "../../src/panels/radio";
import { colourOf } from "../../src/panels/timeline-track";
import { frequencyLabels, lineOfRows, withLine } from "../../src/panels/waterfall";
import { aboutEmitter, modeOf, plansIn, statusOf, statusText } from "../../src/state/emitters";
import { applyRadio } from "../../src/state/radio";
import type { FrameSource } from "../../src/state/source";
import { metadata, roster, selection, source } from "../../src/state/store";
import type { JammerView, LinkBudget, RadioTree, Spectrum, SpooferView } from "../../src/wire/schema";
import { calls, makeWorld } from "./world";

const JAMMER: JammerView = {
  name: "amber",
  kind: "swept",
  on: true,
  scheduled: true,
  active: 1,
  position: [1, 2, 3],
  vehicle: "red",
  power: 26,
  frequency: 2.44e9,
  bandwidth: 4e6,
  false_frames: 0,
};
const SPOOFER: SpooferView = {
  name: "mirage",
  on: true,
  scheduled: true,
  active: false,
  position: [0, 0, 20],
  vehicle: null,
  power: -35,
  captured: 3,
};
const SECTION = {
  jammers: [{ name: "amber", kind: "swept", vehicle: "red", sweep: [2.42e9, 2.46e9] }],
  spoofers: [{ name: "mirage", on: [[40, 220]] }],
};
const PLANS = plansIn(SECTION);
const amber = PLANS.get("amber") as NonNullable<ReturnType<typeof PLANS.get>>;
const mirage = PLANS.get("mirage") as typeof amber;

let host: HTMLElement;

beforeEach(() => {
  makeWorld();
  if (metadata.value) metadata.value = { ...metadata.value, scenario: { radio: SECTION } };
  host = document.createElement("div");
  document.body.append(host);
});

afterEach(() => {
  render(null, host);
  host.remove();
});

async function show(what: ComponentChild): Promise<HTMLElement> {
  render(what, host);
  await new Promise((resolve) => setTimeout(resolve, 20));
  return host;
}

test("the state of an emitter is whether it transmits, not its switch", () => {
  expect(statusOf(JAMMER, amber)).toBe("transmits");
  expect(statusOf({ ...JAMMER, on: false, active: 0 }, amber)).toBe("off");
  expect(statusOf(SPOOFER, mirage)).toBe("scheduled");
  expect([5, 50, 300].map((time) => statusText(SPOOFER, mirage, time))).toEqual([
    "scheduled from 40 s",
    "scheduled",
    "scheduled, ended",
  ]);
  expect(statusText({ ...JAMMER, kind: "follower", active: 0 }, amber, 5)).toBe("listens");
  expect(statusText({ ...JAMMER, position: null, active: 0 }, amber, 5)).toBe("silent: its vehicle is gone");
});

test("an emitter is on, off, or follows its schedule", () => {
  expect(modeOf(JAMMER, amber)).toBe("on"); // it has no schedule
  expect(modeOf(SPOOFER, mirage)).toBe("schedule");
  expect(modeOf({ ...SPOOFER, scheduled: false }, mirage)).toBe("on");
  expect(modeOf({ ...SPOOFER, on: false }, mirage)).toBe("off");
});

test("a swept jammer shows its range; unknown numbers of recordings are left out", () => {
  expect(aboutEmitter(JAMMER, amber)).toBe("swept, 2.42 to 2.46 GHz, 26 dBm, on red");
  expect(aboutEmitter(SPOOFER, mirage)).toBe("−35 dBm, 3 captured");
  const liar = { ...JAMMER, kind: "deceptive", vehicle: null, frequency: 868e6 };
  expect(aboutEmitter(liar, amber)).toBe("deceptive, 868 MHz, 26 dBm, 0 false frames");
  expect(aboutEmitter(liar, amber, true)).toBe("deceptive, 868 MHz, 26 dBm");
});

function choose(name: string, value: string): void {
  const select = host.querySelector<HTMLSelectElement>(`[aria-label="${name}: control"]`);
  if (select === null) throw new Error(`there is no control of ${name}`);
  select.value = value;
  select.dispatchEvent(new Event("change", { bubbles: true }));
}

test("the control switches by hand, or returns to the schedule", async () => {
  await show(<Emitters title="Spoofers" method="set_spoofer" emitters={[SPOOFER]} />);
  for (const mode of ["on", "off", "schedule"]) choose("mirage", mode);
  expect(calls).toEqual([
    ["set_spoofer", { name: "mirage", on: true }],
    ["set_spoofer", { name: "mirage", on: false }],
    ["set_spoofer", { name: "mirage", scheduled: true }],
  ]);
  await show(<Emitters title="Jammers" method="set_jammer" emitters={[JAMMER]} />);
  expect([...host.querySelectorAll("option")].map(({ value }) => value)).toEqual(["on", "off"]);
});

test("a jammer that was taken off its vehicle can be put back", async () => {
  const back = () => host.querySelector<HTMLButtonElement>('[aria-label="Put amber back on red"]');
  await show(<Emitters title="Jammers" method="set_jammer" emitters={[JAMMER]} />);
  expect(back()).toBeNull();
  await show(<Emitters title="Jammers" method="set_jammer" emitters={[{ ...JAMMER, vehicle: null }]} />);
  back()?.click();
  expect(calls).toEqual([["set_jammer", { name: "amber", vehicle: "red" }]]);
});

test("recordings are read-only, with the reason", async () => {
  const opened = { kind: "recording", routes: [], radioSection: SECTION, timeline: null, events: signal([]) };
  source.value = { ...source.value, ...opened } as unknown as FrameSource;
  await show(<Emitters title="Jammers" method="set_jammer" emitters={[{ ...JAMMER, vehicle: null }]} />);
  const controls = [...host.querySelectorAll<HTMLButtonElement | HTMLSelectElement>("button, select")];
  expect(controls.map(({ disabled, title }) => [disabled, title])).toEqual(
    Array.from({ length: 3 }, () => [true, "recordings are read-only"]),
  );
  expect(host.textContent).toContain("swept, 2.42 to 2.46 GHz");
});

test("neighbours are listed by name, the best first", async () => {
  const stations = [{ name: "base" }, { name: "outpost" }];
  const found = neighboursOf([20, -3, -1, 21, 99], [12, 25.5, -100, 30, 40], roster.value, stations);
  expect(found).toEqual([
    { name: "scouts[1]", id: 21, sinr: 30 },
    { name: "outpost", id: null, sinr: 25.5 },
    { name: "scouts[0]", id: 20, sinr: 12 },
  ]);
  applyRadio({ fleets: [{ name: "red", radios: [{ needed: 10 }] }], stations } as unknown as RadioTree);
  await show(<Neighbours fleet="red" peers={[20, -3, 21]} sinr={[12, 25.5, 9]} />);
  const rows = [...host.querySelectorAll(".value-row")].map((row) => row.textContent);
  expect(rows).toEqual(["outpost25.5dB", "scouts[0]12.0dB", "scouts[1]9.0dB"]);
  expect([...host.querySelectorAll(".value")].map((one) => one.className)).toEqual([
    "value green",
    "value amber",
    "value red",
  ]);
  host.querySelector("button")?.click();
  expect([...selection.value]).toEqual([20]);
});

const line = (time: number) => ({ time }) as Spectrum;

test("lines of the waterfall are at their times", () => {
  let lines: Spectrum[] = [];
  for (const time of [1, 5, 5, 20, 26]) lines = withLine(lines, line(time));
  expect(lines.map(({ time }) => time)).toEqual([5, 20, 26]); // 24 s; one line for each time
  expect(withLine(lines, line(3)).map(({ time }) => time)).toEqual([3]); // the run was reset
  // 24 rows of 1 s, the newest on top: 10 s in one row, 1 s from then on, 0 s, nothing before
  const rows = [2, ...Array(9).fill(1), 0, ...Array(13).fill(-1)];
  expect(lineOfRows([0, 1, 10], 24)).toEqual(rows);
  expect(lineOfRows([], 2)).toEqual([-1, -1]);
});

test("frequencies have as many decimals as they need", () => {
  expect(frequencyLabels(2376e6, 2504e6)).toEqual(["2376", "2440", "2504 MHz"]);
  expect(frequencyLabels(2436e6, 2444e6)).toEqual(["2436.0", "2440.0", "2444.0 MHz"]);
  expect(frequencyLabels(868e6, 868.25e6)).toEqual(["868.000", "868.125", "868.250 MHz"]);
});

test("what is lost is amber or red, what returns is green", () => {
  expect(["link_down", "network_split", "jammed", "gnss_spoofed"].map(colourOf)).toEqual([
    "--amber",
    "--amber",
    "--red",
    "--red",
  ]);
  const back = ["link_up", "network_joined", "unjammed", "gnss_released"];
  expect(new Set(back.map(colourOf))).toEqual(new Set(["--green"]));
});

test("packets are counted by service; what sent nothing is left out", () => {
  const traffic = { sent: 9, delivered: 4, lost: 1, no_route: 2, expired: 0, ttl: 1, queue_full: 1, damaged: 7 };
  const commands = { sent: 50, delivered: 30, lost: 2, dropped: 18, waiting: 0 };
  const tree = { traffic, services: { commands } } as unknown as RadioTree;
  expect(packetRows(tree)).toEqual([
    ["messages", 9, 4, 4, 1],
    ["commands", 50, 30, 2, 18],
  ]);
  expect(packetRows({ ...tree, traffic: { sent: 0 }, services: {} })).toEqual([]);
});

const BUDGET: LinkBudget = {
  source: "dot",
  to: "base",
  distance: 150,
  frequency: 2.4e9,
  power: 20,
  source_gain: 0,
  receiver_gain: 0,
  polarisation: 0,
  model: "free_space",
  path_loss: 83.57,
  diffraction: 0,
  obstacles: 0,
  shadowing: 0,
  fading: 0,
  received: -63.57,
  sensitivity: -90,
  noise: -104.96,
  interference: -300,
  jamming: -300,
  sinr: 41.4,
  needed: 6.5,
  ber: 0,
  per: 0,
  capacity: 27e6,
  up: true,
  outside: 0,
  mismatch: "",
  burst_share: 0,
  burst_sinr: 0,
  collided: 0,
  throughput: 1e6,
  denied: 0,
  denying: 0,
  energy: 0,
};

/** Return the rows of a budget as label -> value. */
function budgetRows(changes: Partial<LinkBudget>): Map<string, string> {
  render(<BudgetTable budget={{ ...BUDGET, ...changes }} />, host);
  const text = (tag: string) => [...host.querySelectorAll(tag)].map((one) => one.textContent ?? "");
  const values = text("dd");
  return new Map(text("dt").map((label, k) => [label, values[k] ?? ""]));
}

test("a budget shows bursts, collisions and denied access only where there are any", () => {
  const plain = budgetRows({});
  expect(plain.get("packet error rate")).toBe("0.00 %");
  expect(plain.get("throughput")).toBe("1.00 Mbit/s");
  const further = ["SINR in bursts of a jammer", "time in bursts", "packets that collide", "time without the channel"];
  for (const label of [...further, "jamming at the transmitter"]) expect(plain.has(label)).toBe(false);
  const busy = budgetRows({ collided: 0.38, per: 0.38, throughput: 0.62e6 });
  expect([busy.get("packets that collide"), busy.get("packet error rate")]).toEqual(["38 %", "38 %"]);
  expect([busy.get("throughput"), busy.has("time in bursts")]).toEqual(["0.62 Mbit/s", false]);
  const denied = budgetRows({ up: false, per: 1, throughput: 0, denied: 1, denying: -65.6, energy: -70 });
  expect(denied.get("jamming at the transmitter")).toBe("−65.6 dBm");
  expect(denied.get("denies the channel from")).toBe("−70.0 dBm");
  expect(denied.get("time without the channel")).toBe("100 %");
});
