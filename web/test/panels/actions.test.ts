// What buttons and keys ask of the server.
import { beforeEach, describe, expect, it } from "vitest";
import { removeVehicles, reset, setCamera, setPace, step } from "../../src/panels/actions";
import { SHORTCUTS, shortcutFor } from "../../src/panels/shortcuts";
import { setCaller } from "../../src/state/caller";
import { camera, clock, focus, notices, select, selection } from "../../src/state/store";
import { asked, makeWorld } from "./world";

beforeEach(makeWorld);

describe("actions", () => {
  it("pauses before it steps, and only then", async () => {
    await step(5);
    expect(asked).toEqual([["pause", {}], ["simulation_step", { ticks: 5 }]]);
    asked.length = 0;
    clock.value = { ...clock.value, paused: true };
    await step(1);
    expect(asked).toEqual([["simulation_step", { ticks: 1 }]]);
  });

  it("resets with a seed or as before", async () => {
    await reset();
    await reset(8);
    expect(asked).toEqual([["reset", {}], ["reset", { seed: 8 }]]);
  });

  it("sets the pace at once and asks for it", () => {
    setPace(2.5);
    expect(clock.value.pace).toBe(2.5);
    expect(asked).toEqual([["set_pace", { pace: 2.5 }]]);
  });

  it("tells why something was refused", async () => {
    setCaller(() => Promise.reject(new Error("the clock belongs to notebook")));
    await reset();
    expect(notices.value.map(({ text }) => text)).toEqual(["Reset: the clock belongs to notebook"]);
  });

  it("forgets vehicles that it has removed", async () => {
    select([7, 20]);
    await removeVehicles([7]);
    expect([...selection.value]).toEqual([20]);
  });

  it("rides with the first vehicle when nothing is selected", () => {
    focus.value = null;
    setCamera("chase");
    expect([camera.value, focus.value]).toEqual(["chase", 7]);
  });
});

describe("shortcuts", () => {
  it("gives each key one meaning", () => {
    const keys = SHORTCUTS.filter(({ act }) => act).map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("leaves the keys of driving alone", () => {
    for (const key of ["w", "a", "s", "d", "g", "Delete", "Enter", "ArrowUp"]) expect(shortcutFor(key)).toBeUndefined();
    expect(shortcutFor("V")?.meaning).toBe("select");
  });
});
