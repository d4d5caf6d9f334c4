// @vitest-environment happy-dom
// Keys of the whole page: Space plays and pauses wherever the pointer put the focus; fast typing after "/".
import { render } from "preact";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { fold, folded, rightTab } from "../../src/panels/layout";
import { Shell } from "../../src/panels/shell";
import { startShortcuts } from "../../src/panels/shortcuts";
import { clockLost } from "../../src/state/clock";
import { applyAutopilots } from "../../src/state/controllers";
import { camera, clock, select, selection } from "../../src/state/store";
import { calls, makeWorld } from "./world";

vi.mock("../../src/panels/plots", () => ({ PlotsPanel: () => null })); // charts need a canvas

let page: HTMLElement;
let stop: () => void;
const settle = () => new Promise((resolve) => setTimeout(resolve, 30));
const find = (selector: string): HTMLElement => page.querySelector(selector) as HTMLElement;
const commands = () => calls.map(([method]) => method).filter((method) => method !== "inspect");

const pilot = {
  system: 2,
  autopilot: "builtin",
  link: "",
  mode: "AUTO",
  armed: true,
  item: "",
  note: "",
  waypoints: [],
} as const;

/** A key, with the click that browsers make of Space on a button. */
function press(key: string): void {
  const target = document.activeElement ?? document.body;
  const init = { key, bubbles: true, cancelable: true };
  const down = target.dispatchEvent(new KeyboardEvent("keydown", init));
  const up = target.dispatchEvent(new KeyboardEvent("keyup", init));
  if (key === " " && down && up && target instanceof HTMLButtonElement) target.click();
}

function click(target: HTMLElement): void {
  target.dispatchEvent(new Event("pointerdown", { bubbles: true }));
  target.focus();
  target.click();
}

beforeEach(async () => {
  clockLost();
  makeWorld();
  fold("left", false);
  fold("right", false);
  rightTab.value = "inspect";
  page = document.body.appendChild(document.createElement("div"));
  render(<Shell host={document.createElement("div")} />, page);
  stop = startShortcuts();
  await settle();
});

afterEach(() => {
  stop();
  render(null, page);
  page.remove();
});

it("Space pauses after a click on a vehicle's row", async () => {
  click(find(".tree-row .pick"));
  expect([...selection.value]).toEqual([7]);
  press(" ");
  await settle();
  expect(commands()).toEqual(["pause"]);
  expect(clock.value.paused).toBe(true);
  press(" ");
  await settle();
  expect(commands()).toEqual(["pause", "resume"]);
});

it("Space pauses after a click on a plot button, and does not press it again", async () => {
  select([7]);
  const button = await vi.waitFor(() => {
    const found = find(".side.right [aria-label^='Plot ']"); // the inspector is loaded on first use
    expect(found).not.toBeNull();
    return found;
  }, 20_000);
  click(button);
  await settle();
  const pressed = button.getAttribute("aria-pressed");
  button.focus();
  press(" ");
  await settle();
  expect(commands()).toEqual(["pause"]);
  expect(button.getAttribute("aria-pressed")).toBe(pressed);
});

it("Space presses a button that was reached with Tab", async () => {
  press("Tab");
  find("#tab-layers").focus();
  press(" ");
  await settle();
  expect([commands(), rightTab.value]).toEqual([[], "layers"]);
});

it("Space is a character in a text field", async () => {
  click(find("input[type=search]"));
  press(" ");
  await settle();
  expect(commands()).toEqual([]);
});

it("after / the field has the focus before the next key, also in a folded panel", async () => {
  camera.value = "orbit";
  fold("left", true);
  await settle();
  press("/");
  expect(document.activeElement).toBe(find("input[type=search]"));
  press("c"); // would change the camera
  press("3");
  expect(camera.value).toBe("orbit");
  find("input[type=search]").blur();
  press("c");
  expect(camera.value).not.toBe("orbit");
});

it("Enter and Esc leave the search field, so that shortcuts work again", async () => {
  for (const key of ["Enter", "Escape"]) {
    calls.length = 0;
    select([]);
    press("/");
    const field = document.activeElement as HTMLInputElement;
    expect(field.type).toBe("search");
    field.value = "red";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    await settle();
    press(key);
    await settle();
    expect(document.activeElement).not.toBe(field);
    expect(selection.value.size).toBe(key === "Enter" ? 1 : 0);
    if (key === "Escape") expect(field.value).toBe("");
    press(" ");
    await settle();
    expect(commands()).toEqual([key === "Enter" ? "pause" : "resume"]);
  }
});

it("Space pauses after a choice in a list that was opened with the pointer", async () => {
  const list = find("select");
  click(list);
  list.dispatchEvent(new Event("change", { bubbles: true }));
  press(" ");
  await settle();
  expect(commands()).toEqual(["pause"]);
});

it("Go to and routes are disabled for vehicles with autopilots", async () => {
  applyAutopilots([{ ...pilot, id: 7 }]);
  select([7]);
  await settle();
  const button = (label: string) => page.querySelector(`.toolbar button[aria-label^="${label}"]`) as HTMLButtonElement;
  expect(button("Go to").disabled).toBe(true);
  expect(button("Go to").title).toContain("flown by its autopilot");
  expect(button("Draw a route").disabled).toBe(true);
  expect(button("Spawn").disabled).toBe(false);
  applyAutopilots([]);
  await settle();
  expect(button("Go to").disabled).toBe(false);
});

it("driving collapses the panels that cover the world of a narrow window", async () => {
  select([7]);
  await settle();
  Object.defineProperty(window, "innerWidth", { value: 390, configurable: true });
  const drive = [...page.querySelectorAll("button")].find((one) => one.textContent === "Drive") as HTMLButtonElement;
  click(drive);
  expect(folded.value).toMatchObject({ left: true, right: true });
});
