// Completion and documentation with a small schema.
import { describe, expect, it } from "vitest";
import { type CompletionData, docAt, type Schema, suggest } from "../../src/editor/completion";

const schema: Schema = {
  type: "object",
  properties: {
    name: { type: "string", description: "Name of the scenario." },
    clock: { $ref: "#/$defs/Clock" },
    vehicles: { type: "array", items: { $ref: "#/$defs/Entry" }, description: "Who is there." },
  },
  required: ["vehicles"],
  $defs: {
    Clock: {
      type: "object",
      properties: {
        rate: { type: "number", default: 240, description: "Ticks per second." },
        sync: { anyOf: [{ $ref: "#/$defs/Sync" }, { type: "null" }] },
      },
    },
    Sync: {
      type: "object",
      properties: { on_timeout: { enum: ["hold", "brake", "pause"], description: "When late." } },
    },
    Entry: {
      type: "object",
      required: ["model"],
      properties: {
        name: { type: "string" },
        model: { type: "string", description: "The vehicle model." },
        preset: { anyOf: [{ type: "string" }, { type: "null" }] },
        behaviour: { $ref: "#/$defs/Choice" },
        loop: { $ref: "#/$defs/Loop" },
      },
    },
    Choice: {
      anyOf: [
        { const: "flock", description: "Fly together." },
        { const: "hold", description: "Stay." },
        { type: "object", properties: { flock: { $ref: "#/$defs/Flock" } } },
      ],
    },
    Flock: { type: "object", properties: { radius: { type: "number", description: "How far it looks." } } },
    Loop: { anyOf: [{ $ref: "#/$defs/Loop" }] },
  },
};

const model = (name: string, presets: string[]) => {
  return { model: name, kind: "car", summary: `A ${name}.`, presets, inputs: [] };
};
const known: CompletionData = { schema, models: [model("car.bicycle", ["sports", "sedan"]), model("quad", ["micro"])] };

function labels(marked: string): string[] | null {
  const offset = marked.indexOf("|");
  return suggest(marked.replace("|", ""), offset, known)?.options.map(({ label }) => label) ?? null;
}

describe("keys", () => {
  it.each([
    ["|", ["name", "clock", "vehicles"]],
    ["name: x\n|", ["clock", "vehicles"]],
    ["|\nvehicles: []", ["name", "clock"]],
    ["clock:\n  |", ["rate", "sync"]],
    ["clock: {rate: 1, |}", ["sync"]],
    ["clock: {sync: {|}}", ["on_timeout"]],
    ["vehicles:\n  - name: red\n    |", ["model", "preset", "behaviour", "loop"]],
    ["vehicles:\n  - {name: red, model: quad, |}", ["preset", "behaviour", "loop"]],
    ["vehicles:\n  - behaviour: {flock: {r|}}", ["radius"]],
    ["vehicles:\n  - loop: {|}", null],
    ["nothing:\n  |", null],
  ])("%j", (marked, expected) => expect(labels(marked)).toEqual(expected));

  it("ignores the key at the cursor when listing used keys", () => {
    expect(labels("clock:\n  ra|te: 1\n")).toEqual(["rate", "sync"]);
  });

  it("are inserted with what must follow, from the start of the word", () => {
    const found = suggest("clock:\n  ra", 11, known);
    expect(found?.from).toBe(9);
    expect(found?.options.find(({ label }) => label === "rate")?.insert).toBe("rate: ");
    expect(suggest("", 0, known)?.options.find(({ label }) => label === "clock")?.insert).toBe("clock:");
  });

  it("show which are required, and their description", () => {
    const entry = suggest("vehicles:\n  - ", 14, known)?.options.find(({ label }) => label === "model");
    expect(entry).toMatchObject({ detail: "required", info: "The vehicle model." });
  });
});

describe("values", () => {
  it.each([
    ["clock: {sync: {on_timeout: |}}", ["hold", "brake", "pause"]],
    ["clock:\n  sync:\n    on_timeout: b|", ["hold", "brake", "pause"]],
    ["vehicles:\n  - model: |", ["car.bicycle", "quad"]],
    ["vehicles:\n  - model: quad\n    preset: |", ["micro"]],
    ["vehicles:\n  - {preset: |, model: car.bicycle}", ["sports", "sedan"]],
    ["vehicles:\n  - preset: |", ["sports", "sedan", "micro"]],
    ["vehicles:\n  - behaviour: |", ["flock", "hold"]],
    ["name: |", null],
  ])("%j", (marked, expected) => expect(labels(marked)).toEqual(expected));
});

describe("explanations", () => {
  it("of a key, with its default", () => {
    const text = "clock: {rate: 100}";
    expect(docAt(text, 9, known)).toEqual({ from: 8, to: 12, title: "rate", text: "Ticks per second.\nDefault: 240" });
  });

  it("of a key with choices", () => {
    expect(docAt("clock: {sync: {on_timeout: hold}}", 18, known)?.text).toBe("When late.\nOne of: hold, brake, pause");
  });

  it("of a value known to the server", () => {
    expect(docAt("vehicles:\n  - model: quad\n", 22, known)).toMatchObject({ from: 21, to: 25, text: "A quad." });
    expect(docAt("vehicles:\n  - behaviour: hold\n", 27, known)?.text).toBe("Stay.");
  });

  it("of nothing else", () => {
    expect(docAt("name: x # rate", 11, known)).toBeNull();
    expect(docAt("unknown: 1", 3, known)).toBeNull();
  });
});
