// @vitest-environment happy-dom
// Initially collapsed panels; only the user's choices are stored.
import { signal } from "@preact/signals";
import { beforeEach, describe, expect, it } from "vitest";
import { folded, foldedAtFirst, isEmbedded, showBottom } from "../../src/panels/layout";
import { addSeries } from "../../src/panels/plot-list";
import { persisted } from "../../src/state/persist";
import { makeWorld } from "./world";

beforeEach(() => {
  localStorage.clear();
  makeWorld();
});

describe("initially collapsed panels", () => {
  it.each([
    [1280, 720, { left: false, right: false, bottom: true }],
    [1920, 1080, { left: false, right: false, bottom: false }],
    [800, 1100, { left: true, right: true, bottom: true }],
  ])("%d x %d", (width, height, expected) => {
    expect(foldedAtFirst(width, height)).toEqual(expected);
  });

  it("collapses all panels in another page", () => {
    expect(foldedAtFirst(1920, 1080, isEmbedded("?embed=1"))).toEqual({ left: true, right: true, bottom: true });
    expect(["", "?embed=0", "?token=embed"].map(isEmbedded)).toEqual([false, false, false]);
  });

  it("expands the lower panel for a plot", () => {
    folded.value = foldedAtFirst(1280, 720);
    addSeries(7, "x");
    expect(folded.value.bottom).toBe(false);
  });

  it("stores only what the user has chosen", () => {
    const stop = persisted(folded, "panels.folded");
    expect(localStorage.getItem("paddock.panels.folded")).toBeNull();
    folded.value = foldedAtFirst(1280, 720);
    showBottom("events");
    stop();
    const next = signal(foldedAtFirst(1280, 720));
    persisted(next, "panels.folded")();
    expect(next.value.bottom).toBe(false);
  });
});
