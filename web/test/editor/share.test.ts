import { deflateRawSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { codeIn, linkTo, nameIn, packed, unpacked } from "../../src/editor/share";

const TEXT = "name: büro\nvehicles:\n  - {name: red, model: car.bicycle} # ≥ 1 µs\n";

describe("links", () => {
  it("round-trips the text", async () => {
    const link = await linkTo(TEXT.repeat(50), "http://host:8000/?token=secret&x=1#old");
    expect(link).not.toContain("secret");
    expect(link.startsWith("http://host:8000/?x=1#scenario=")).toBe(true);
    const code = codeIn(new URL(link).hash);
    expect(await unpacked(code ?? "")).toBe(TEXT.repeat(50));
  });

  it("are raw deflate in base64url", async () => {
    expect(await packed(TEXT)).toMatch(/^[\w-]+$/);
    expect(await unpacked(deflateRawSync(TEXT).toString("base64url"))).toBe(TEXT);
    expect(await unpacked(await packed(""))).toBe("");
  });

  it("rejects damaged or too large links", async () => {
    const code = await packed(TEXT);
    await expect(unpacked(code.slice(0, -8))).rejects.toThrow(/damaged/);
    await expect(unpacked("%%%")).rejects.toThrow(/damaged/);
    const bomb = deflateRawSync("x".repeat(3_000_000)).toString("base64url");
    await expect(unpacked(bomb)).rejects.toThrow(/damaged/);
  });

  it("is distinguished from other addresses", () => {
    expect(codeIn("#scenario=abc-_")).toBe("abc-_");
    expect(codeIn("#scenario=")).toBeNull();
    expect(codeIn("#elsewhere")).toBeNull();
    expect(codeIn("")).toBeNull();
  });

  it("is named after the scenario", () => {
    expect(nameIn("# x\nname: race\n")).toBe("race");
    expect(nameIn("vehicles:\n  - name: red\n")).toBeNull();
  });
});
