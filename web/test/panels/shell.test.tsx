// @vitest-environment happy-dom
// The whole page: layout, splitters, tabs, banner.
import { render } from "preact";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connection, pendingCalls } from "../../src/net/connection";
import { bottomTab, fold, folded, rightTab, sizes } from "../../src/panels/layout";
import { Shell } from "../../src/panels/shell";
import { clockLost } from "../../src/state/clock";
import { clock, figures, pageRates } from "../../src/state/store";
import { calls, makeWorld, someFigures } from "./world";

let page: HTMLElement;
const settle = () => new Promise((resolve) => setTimeout(resolve, 30));
const find = (selector: string): HTMLElement => {
  const found = page.querySelector<HTMLElement>(selector);
  if (found === null) throw new Error(`there is no ${selector}`);
  return found;
};
const press = (target: HTMLElement, key: string, shiftKey = false) =>
  target.dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey, bubbles: true }));

beforeEach(async () => {
  clockLost();
  makeWorld();
  sizes.value = { left: 17, right: 22, bottom: 15 };
  for (const side of ["left", "right", "bottom"] as const) fold(side, false);
  rightTab.value = "inspect";
  bottomTab.value = "events";
  page = document.createElement("div");
  document.body.append(page);
  render(<Shell host={document.createElement("div")} />, page);
  await settle();
});

afterEach(() => {
  render(null, page);
  page.remove();
});

describe("shell", () => {
  it("has accessible names for all controls, and one main landmark", () => {
    const controls = [...page.querySelectorAll("button, input, select, [role=separator]")];
    const named = (one: Element) =>
      one.getAttribute("aria-label") || one.closest("label")?.textContent || one.textContent;
    expect(controls.filter((one) => !named(one)?.trim()).map((one) => one.outerHTML)).toEqual([]);
    expect(page.querySelectorAll("main").length).toBe(1);
    expect(controls.length).toBeGreaterThan(30);
  });

  it("moves splitters with the arrow keys, within limits", async () => {
    const left = find('[aria-label="Size of the fleets panel"]');
    press(left, "ArrowRight");
    expect(sizes.value.left).toBe(18);
    press(left, "ArrowLeft", true);
    expect(sizes.value.left).toBe(14);
    for (let k = 0; k < 9; k++) press(left, "ArrowLeft");
    expect(sizes.value.left).toBe(11);
    press(find('[aria-label="Size of the inspector panel"]'), "ArrowLeft");
    expect(sizes.value.right).toBe(23);
    await settle();
    expect(find(".side.left").style.width).toBe("11rem");
  });

  it("collapses and expands panels", async () => {
    find('[aria-label="Collapse the fleets panel"]').click();
    await settle();
    expect(folded.value.left).toBe(true);
    find('[aria-label="Show the fleets panel"]').click();
    await settle();
    expect(page.querySelector(".side.left")).not.toBeNull();
  });

  it("changes tabs with the arrow keys; only the selected one is a tab stop", async () => {
    press(find("#tab-inspect"), "ArrowRight");
    await settle();
    expect(rightTab.value).toBe("spawn");
    const tabs = [...page.querySelectorAll<HTMLElement>('[aria-label="Details"] [role=tab]')];
    expect(tabs.map((tab) => tab.tabIndex)).toEqual([-1, 0, -1]);
  });

  it("shows what the server prepares", async () => {
    connection.value = { state: "connecting", note: "compiling kernels; about a minute the first time" };
    await settle();
    const words = "Preparing the simulation: compiling kernels; about a minute the first time.";
    expect(find(".banner").textContent).toBe(words);
  });

  it("shows that another scenario starts, instead of a lost connection", async () => {
    const lost = { state: "lost", reason: "the simulation has ended; retrying in 0.5 s", retryAt: 0 } as const;
    connection.value = { ...lost, note: "starting birds" };
    await settle();
    expect(find(".banner").textContent).toBe("Starting birds.");
    expect(find(".chip.connection").textContent).toContain("starting");
    expect(find(".timeline-badge").textContent).toBe("offline");
    connection.value = { ...lost, ended: true };
    await settle();
    expect(find(".banner").textContent).toBe("The simulation has ended.Reconnect");
    connection.value = { ...lost, reason: "no response; retrying in 0.5 s" };
    await settle();
    expect(find(".banner").textContent).toContain("Connection lost: no response.");
  });

  it("shows a pending command, not the page's own requests", async () => {
    pendingCalls.value = ["inspect", "override"].map((method) => ({ method, since: performance.now() - 12_000 }));
    await settle();
    expect(find(".toast.pending").textContent).toContain("Override pending.");
    expect(page.querySelectorAll(".toast.pending").length).toBe(1);
    pendingCalls.value = [];
  });

  it("shows a reduced update rate in place of the connection", async () => {
    expect(find(".chip.connection .text").textContent).toBe("live");
    pageRates.value = { ...pageRates.value, slowed: true, granted: 20 };
    await settle();
    expect(find(".chip.connection .text").textContent).toBe("slowed");
    expect(find(".chip.connection").title).toContain("reduced to 20 Hz");
    expect(page.querySelectorAll(".state .chip").length).toBe(1);
    pageRates.value = { ...pageRates.value, slowed: false };
  });

  it("shows who controls the clock, and releases it", async () => {
    clock.value = { ...clock.value, owner: "web client 127.0.0.1:5000", paused: true };
    await settle();
    expect(find(".owner").textContent).toBe("by another page");
    find('[aria-label="Step one tick"]').click();
    await settle();
    expect(find(".owner").textContent).toBe("release clock");
    find(".owner").click();
    await settle();
    expect(calls.map(([method]) => method)).toEqual(["simulation_step", "release_clock"]);
    expect(page.querySelector(".owner")).toBeNull();
  });

  it("shows that a program steps the simulation", async () => {
    figures.value = { ...someFigures, running: false };
    await settle();
    expect(find(".factor").textContent).toBe("stepped");
    expect([find(".play").hasAttribute("disabled"), find(".play").title]).toEqual([
      true,
      "the run is stepped by a program; call sim.run() or sim.running() there",
    ]);
    expect(find('[aria-label="Step one tick"]').hasAttribute("disabled")).toBe(false);
  });

  it("resets once with Enter in the seed field, and returns the keys to the view", async () => {
    find('[aria-label="Reset"]').click();
    await settle();
    const seed = find(".popover input") as HTMLInputElement;
    seed.value = "9";
    seed.dispatchEvent(new Event("input", { bubbles: true }));
    find(".popover form").dispatchEvent(new Event("submit", { bubbles: true, cancelable: true }));
    await settle();
    expect(calls).toEqual([["reset", { seed: 9 }]]);
    expect(page.querySelector(".popover")).toBeNull();
    expect(document.activeElement).toBe(document.body);
  });

  it("shows a lost connection and the next retry, and accepts a token", async () => {
    connection.value = { state: "lost", reason: "no response; retrying in 5 s", retryAt: performance.now() + 4500 };
    await settle();
    expect(find(".banner").textContent).toContain("Connection lost: no response. Retrying in 5 s.");
    connection.value = { state: "refused", reason: "wrong token" };
    await settle();
    expect(find(".banner").textContent).toContain("Wrong token.");
    expect(page.querySelector("input[type=password]")).not.toBeNull();
  });
});
