// The protobuf wire format, with bytes from its documentation or made by hand.
// Field numbers match messages.proto.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { decodeRoster, rangesOf } from "../../src/replay/messages";
import { ENUMS, FIELDS, ProtoReader } from "../../src/replay/protobuf";

function reader(...bytes: number[]): ProtoReader {
  const made = new ProtoReader(Uint8Array.from(bytes));
  made.next();
  return made;
}

describe("ProtoReader", () => {
  it("reads the examples of the documentation", () => {
    const number = reader(0x08, 0x96, 0x01);
    expect([number.field, number.uint()]).toEqual([1, 150]);
    const words = reader(0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67);
    expect([words.field, words.string()]).toEqual([2, "testing"]);
    const packed: number[] = [];
    reader(0x32, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05).uints(packed);
    expect(packed).toEqual([3, 270, 86942]);
  });

  it("reads numbers beyond 32 bits and doubles", () => {
    expect(reader(0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01).uint()).toBe(2 ** 35);
    expect(reader(0x09, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f).double()).toBe(1.5);
  });

  it("skips unknown fields", () => {
    const made = new ProtoReader(Uint8Array.from([0x0d, 1, 2, 3, 4, 0x12, 1, 65, 0x08, 5]));
    const fields: number[] = [];
    while (made.next()) {
      fields.push(made.field);
      made.skip();
    }
    expect(fields).toEqual([1, 2, 1]);
  });

  it("rejects truncated, endless or mistyped fields", () => {
    expect(() => reader(0x12, 0x07, 0x74).bytes()).toThrow("truncated message");
    expect(() => reader(0x08, ...new Array<number>(11).fill(0xff)).uint()).toThrow("longer than 10 bytes");
    expect(() => reader(0x08, 1).double()).toThrow("wire type");
    expect(() => reader(0x00, 1)).toThrow("field number 0");
  });
});

describe("rosters", () => {
  it("have ids as ranges", () => {
    expect(rangesOf([])).toEqual([]);
    expect(rangesOf([4, 5, 6, 9, 8])).toEqual([
      [4, 3],
      [9, 1],
      [8, 1],
    ]);
  });

  it("reject a wrong number of members", () => {
    expect(() => decodeRoster(Uint8Array.from([0x12, 3, 0x2a, 1, 7]), 0)).toThrow("1 ids, 0 members");
  });
});

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
