// Field numbers match messages.proto.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { ENUMS, FIELDS } from "../../src/replay/protobuf";

const here = dirname(fileURLToPath(import.meta.url));
const proto = readFileSync(join(here, "..", "..", "..", "src", "paddock", "wire", "messages.proto"), "utf8");

/** The text between the braces of a message or an enum. */
function body(kind: "message" | "enum", name: string): string {
  const start = new RegExp(`\\b${kind} ${name} \\{`).exec(proto);
  if (start === null) throw new Error(`there is no ${kind} ${name}`);
  const from = start.index + start[0].length;
  let depth = 1;
  let at = from;
  for (; depth > 0; at++) depth += proto[at] === "{" ? 1 : proto[at] === "}" ? -1 : 0;
  return proto.slice(from, at - 1).replace(/\/\/.*$/gm, "");
}

function numbersIn(text: string): Record<string, number> {
  const plain = text.replace(/enum \w+ \{[^}]*\}/g, "");
  return Object.fromEntries([...plain.matchAll(/(\w+) = (\d+);/g)].map((found) => [found[1], Number(found[2])]));
}

describe("fields", () => {
  it.each(Object.entries(FIELDS))("of %s match the .proto", (name, fields) => {
    expect(numbersIn(body("message", name))).toMatchObject(fields);
  });

  it.each(Object.entries(ENUMS))("of enum %s are in the order of the .proto", (name, values) => {
    const found = numbersIn(body("enum", name));
    expect(Object.entries(found).sort((a, b) => a[1] - b[1])).toEqual(values.map((value, k) => [value, k]));
  });

  it("are all that the .proto declares", () => {
    expect(numbersIn(body("message", "State"))).toMatchObject({ tick: 1, sim_time: 2, blocks: 7 });
  });
});
