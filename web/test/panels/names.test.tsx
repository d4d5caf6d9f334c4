// @vitest-environment happy-dom
// Every control of every panel has an accessible name.
import { signal } from "@preact/signals";
import { type ComponentChild, render } from "preact";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connection } from "../../src/net/connection";
import { stage } from "../../src/panels/actions";
import { EventsPanel } from "../../src/panels/events";
import { FleetPanel } from "../../src/panels/fleets";
import { Inspector } from "../../src/panels/inspector";
import { LayersPanel } from "../../src/panels/layers";
import { Banner, LogPanel, logEntries, Toasts } from "../../src/panels/notices";
import { PerformancePanel } from "../../src/panels/performance";
import { PlotsPanel } from "../../src/panels/plots";
import { HelpSheet } from "../../src/panels/shortcuts";
import { SpawnPanel } from "../../src/panels/spawn";
import { ToolBar } from "../../src/panels/toolbar";
import { TopBar } from "../../src/panels/topbar";
import { Boundary } from "../../src/panels/widgets";
import type { Stage } from "../../src/scene/stage";
import type { FrameSource } from "../../src/state/source";
import { focus, select, showNotice, source } from "../../src/state/store";
import { calls, makeWorld } from "./world";

let host: HTMLElement;

beforeEach(() => {
  makeWorld();
  host = document.createElement("div");
  document.body.append(host);
});

afterEach(() => {
  render(null, host);
  host.remove();
});

const settle = () => new Promise((resolve) => setTimeout(resolve, 30));

async function show(what: ComponentChild): Promise<HTMLElement> {
  render(what, host);
  await settle();
  return host;
}

/** The accessible name, as far as these panels need it. */
function nameOf(control: Element): string {
  const label = control.getAttribute("aria-label") ?? control.closest("label")?.textContent ?? "";
  return (label || (control.matches("input, select") ? "" : control.textContent) || "").trim();
}

function nameless(root: Element): string[] {
  const controls = [...root.querySelectorAll("button, input, select, textarea, [role=separator], summary")];
  expect(controls.length).toBeGreaterThan(0);
  return controls.filter((control) => nameOf(control) === "").map((control) => control.outerHTML.slice(0, 120));
}

describe("accessible names", () => {
  const panels: [string, () => ComponentChild][] = [
    ["top bar", () => <TopBar />],
    ["tool bar", () => <ToolBar />],
    ["fleets", () => <FleetPanel />],
    ["layers", () => <LayersPanel />],
    ["spawn", () => <SpawnPanel />],
    ["events", () => <EventsPanel />],
    ["plots", () => <PlotsPanel />],
    ["help", () => <HelpSheet />],
  ];
  it.each(panels)("%s", async (_name, make) => {
    expect(nameless(await show(make()))).toEqual([]);
  });

  it("popovers of the top bar", async () => {
    const root = await show(<TopBar />);
    for (const name of ["Step many ticks", "Reset"]) root.querySelector<HTMLElement>(`[aria-label="${name}"]`)?.click();
    await settle();
    expect(root.querySelectorAll("[role=dialog]").length).toBeGreaterThan(0);
    expect(nameless(root)).toEqual([]);
  });

  it("inspector of one and of several", async () => {
    select([7]);
    expect(nameless(await show(<Inspector />))).toEqual([]);
    select([20, 21]);
    await settle();
    expect(host.textContent).toContain("2 vehicles");
    expect(nameless(host)).toEqual([]);
  });

  it("token form and notices", async () => {
    connection.value = { state: "refused", reason: "a token is needed" };
    expect(nameless(await show(<Banner />))).toEqual([]);
    showNotice("error", "no");
    expect(nameless(await show(<Toasts />))).toEqual([]);
    logEntries.value = [{ number: 1, at: new Date(0), kind: "error", text: "no" }];
    expect(nameless(await show(<LogPanel />))).toEqual([]);
  });
});

describe("what panels show", () => {
  it("time, tick and scenario", async () => {
    const text = (await show(<TopBar />)).textContent ?? "";
    for (const word of ["race", "1:23.456", "tick 1,000", "0.50×"]) expect(text).toContain(word);
  });

  it("every column of the vehicle with its unit, and its inputs", async () => {
    select([7]);
    const text = (await show(<Inspector />)).textContent ?? "";
    const words = ["red", "id 7", "car.bicycle, sports", "12.500", "9.750", "m/s²", "kg", "Sensor: imu", "drive"];
    for (const word of words) expect(text).toContain(word);
    expect(calls).toContainEqual(["inspect", { vehicle: "red" }]);
    const slider = host.querySelector<HTMLInputElement>('[aria-label="steer, slider"]');
    expect(slider).not.toBeNull();
    if (slider === null) return;
    slider.value = "0.25";
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    expect(calls).toContainEqual(["set_control", { vehicle_id: 7, steer: 0.25 }]);
  });

  it("the inspector plots columns of frames under their names, and lists the internal state apart", async () => {
    select([7]);
    const shown = await show(<Inspector />);
    const sections = [...shown.querySelectorAll("details.section")].map((section) => [
      section.querySelector("summary")?.firstChild?.nextSibling?.textContent,
      [...section.querySelectorAll(".value-row .button")].map((button) => button.getAttribute("aria-label")),
    ]);
    expect(Object.fromEntries(sections)).toMatchObject({
      Motion: ["Plot speed", "Plot yaw", "Plot yaw_rate", "Plot pitch", "Plot roll"],
      State: ["Plot x"],
      "Internal state, without plots": [],
    });
  });

  it("shows that a vehicle was removed, and that nothing is selected", async () => {
    focus.value = 999;
    expect((await show(<Inspector />)).textContent).toContain("999 no longer exists");
    select([]);
    await settle();
    expect(host.textContent).toContain("Nothing selected");
  });

  it("figures of the run", async () => {
    const text = (await show(<PerformancePanel />)).textContent ?? "";
    const words = ["0.35 ms of 1.00 ms", "move", "0.25 ms", "page 1", "dropped groups", "17"];
    for (const word of words) expect(text).toContain(word);
  });

  it("events, and selects their subjects", async () => {
    const root = await show(<EventsPanel />);
    const rows = [...root.querySelectorAll<HTMLElement>(".event-row")];
    expect(rows.map((row) => row.textContent)).toEqual(["0:00.500lapred12.3 s", "0:00.900contactscouts[1]with red"]);
    rows[1]?.click();
    expect(focus.value).toBe(21);
  });

  it("looks at the place of a contact", async () => {
    const looked: number[][] = [];
    stage.value = { lookAtPoint: (...at: number[]) => looked.push(at) } as unknown as Stage;
    const detail = "red: 120 N s at 3.0 m/s at 1.50, -2.00, 0.40, normal 0.00, 1.00, 0.00";
    source.value = {
      ...(source.value as FrameSource),
      events: signal([{ number: 1, tick: 9, kind: "contact", subject: "red", detail }]),
    };
    (await show(<EventsPanel />)).querySelector<HTMLElement>(".event-row")?.click();
    stage.value = null;
    expect(looked.map((at) => at.slice(0, 3))).toEqual([[1.5, -2, 0.4]]);
  });

  it("waits without a source", async () => {
    source.value = null;
    connection.value = { state: "connecting" };
    expect((await show(<FleetPanel />)).textContent).toContain("Waiting for the server");
  });

  it("continues when a panel fails", async () => {
    const Broken = (): never => {
      throw new Error("out of paper");
    };
    const root = await show(
      <div>
        <Boundary name="The printer">
          <Broken />
        </Boundary>
        <p>still here</p>
      </div>,
    );
    expect(root.textContent).toContain("The printer failed");
    expect(root.textContent).toContain("out of paper");
    expect(root.textContent).toContain("still here");
  });
});
