// The whole page: rooms, splitters, tabs, banner.
import { render } from "preact";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bottomTab, fold, folded, rightTab, sizes } from "../../src/panels/layout";
import { Shell } from "../../src/panels/shell";
import { connection } from "../../src/state/store";
import { makeWorld } from "./world";

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
  it("has a name for every control, and one main landmark", () => {
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

  it("folds and unfolds panels", async () => {
    find('[aria-label="Fold the fleets panel"]').click();
    await settle();
    expect(folded.value.left).toBe(true);
    find('[aria-label="Show the fleets"]').click();
    await settle();
    expect(page.querySelector(".side.left")).not.toBeNull();
  });

  it("changes tabs with the arrow keys; only the chosen one is in the tab order", async () => {
    press(find("#tab-inspect"), "ArrowRight");
    await settle();
    expect(rightTab.value).toBe("spawn");
    const tabs = [...page.querySelectorAll<HTMLElement>('[aria-label="Details"] [role=tab]')];
    expect(tabs.map((tab) => tab.tabIndex)).toEqual([-1, 0, -1]);
  });

  it("says that the server is gone, when it tries again, and takes a token", async () => {
    connection.value = { state: "lost", reason: "no answer; trying again in 5 s", retryAt: performance.now() + 4500 };
    await settle();
    expect(find(".banner").textContent).toContain("The server is gone: no answer. Next try in 5 s.");
    connection.value = { state: "refused", reason: "the token is wrong" };
    await settle();
    expect(find(".banner").textContent).toContain("The token is wrong.");
    expect(page.querySelector("input[type=password]")).not.toBeNull();
  });
});
