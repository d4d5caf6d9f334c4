// Cursor positions in block and flow YAML, marked by `|`.
import { describe, expect, it } from "vitest";
import { entriesOf, placeAt } from "../../src/editor/yaml-scan";

function at(marked: string) {
  const offset = marked.indexOf("|");
  return placeAt(marked.replace("|", ""), offset)?.cursor ?? null;
}

describe("block YAML", () => {
  it.each([
    ["|", [], "key", ""],
    ["na|", [], "key", "na"],
    ["name: race\n|", [], "key", ""],
    ["name: ra|", ["name"], "value", "ra"],
    ["name: |", ["name"], "value", ""],
    ["clock:\n  |", ["clock"], "key", ""],
    ["clock:\n  rate: 100\n  pa|", ["clock"], "key", "pa"],
    ["clock:\n  rate: 100\n|", [], "key", ""],
    ["clock:\n  sync:\n    on_timeout: h|", ["clock", "sync", "on_timeout"], "value", "h"],
    ["clock:\n  sync:\n    every: 2\n  |", ["clock"], "key", ""],
    ["vehicles:\n  - |", ["vehicles", 0], "key", ""],
    ["vehicles:\n  - na|", ["vehicles", 0], "key", "na"],
    ["vehicles:\n  - name: red\n    mo|", ["vehicles", 0], "key", "mo"],
    ["vehicles:\n  - name: red\n    model: |", ["vehicles", 0, "model"], "value", ""],
    ["vehicles:\n  - name: red\n  - name: blue\n    |", ["vehicles", 1], "key", ""],
    ["vehicles:\n- name: red\n- mo|", ["vehicles", 1], "key", "mo"],
    ["vehicles:\n- name: red\n  model: quad\n|", [], "key", ""],
    ["vehicles:\n  - name: red\n    spawn:\n      grid:\n        sp|", ["vehicles", 0, "spawn", "grid"], "key", "sp"],
    ["vehicles:\n  - name: red\n    sensors:\n      - im|", ["vehicles", 0, "sensors", 0], "key", "im"],
    ["vehicles:\n  - name: red\n    # why\n    |", ["vehicles", 0], "key", ""],
    ["na|me: race\nseed: 1", [], "key", "na"],
    ["clock:\n  ra|te", ["clock"], "key", "ra"],
    ["clock:\n  |\nworld: {mu: 1}", ["clock"], "key", ""],
    ["vehicles:\n  - name: red\n\n    mo|\n\n  - name: blue", ["vehicles", 0], "key", "mo"],
  ])("%j", (marked, path, place, prefix) => {
    expect(at(marked)).toMatchObject({ path, place, prefix });
  });

  const nowhere = [
    "name: race # com|ment",
    "# co|mment",
    "description: >-\n  some te|xt\nname: x",
    "name:|",
    "name: race\n  |",
  ];
  it.each(nowhere)("%j has no completion", (marked) => expect(at(marked)).toBeNull());
});

describe("flow YAML", () => {
  it.each([
    ["clock: {|}", ["clock"], "key", ""],
    ["clock: {ra|}", ["clock"], "key", "ra"],
    ["clock: {rate: 100, pa|", ["clock"], "key", "pa"],
    ["clock: {rate: 10|0, pace: 1}", ["clock", "rate"], "value", "10"],
    ["clock: {rate: 100, sync: {on_timeout: |}}", ["clock", "sync", "on_timeout"], "value", ""],
    ["clock: {sync: {every: 2}, |}", ["clock"], "key", ""],
    ["vehicles:\n  - {name: red, mo|}", ["vehicles", 0], "key", "mo"],
    ["vehicles:\n  - {name: red}\n  - {model: qu|}", ["vehicles", 1, "model"], "value", "qu"],
    ["vehicles: [{name: red}, {na|}]", ["vehicles", 1], "key", "na"],
    ["vehicles:\n  - name: a\n    sensors: [imu, gn|]", ["vehicles", 0, "sensors", 1], "value", "gn"],
    ["vehicles:\n  - driver: {flock: {radius: 1,\n      sp|}}", ["vehicles", 0, "driver", "flock"], "key", "sp"],
    ["clock: &fast {rate: 1, |}", ["clock"], "key", ""],
  ])("%j", (marked, path, place, prefix) => {
    expect(at(marked)).toMatchObject({ path, place, prefix, flow: true });
  });

  it("continues at the next key after an unclosed bracket", () => {
    expect(at("clock: {rate: 1\nworld:\n  m|")).toMatchObject({ path: ["world"], place: "key", prefix: "m" });
  });
});

it("lists keys with their values and positions", () => {
  const text = "vehicles:\n  - {name: red, model: quad}\n  - name: 'blue' # second\n";
  const entries = entriesOf(text);
  expect(entries.map(({ path, value }) => [path.join("."), value])).toEqual([
    ["vehicles", ""],
    ["vehicles.0.name", "red"],
    ["vehicles.0.model", "quad"],
    ["vehicles.1.name", "blue"],
  ]);
  expect(entries.map(({ from, to }) => text.slice(from, to))).toEqual(["vehicles", "name", "model", "name"]);
});
