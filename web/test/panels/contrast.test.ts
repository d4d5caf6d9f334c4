// Text contrast is at least 4.5:1 (WCAG AA) on all surfaces of both themes, including hovered and selected lines.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { OSD_COLOURS } from "../../src/scene/osd";

const css = readFileSync("src/style/theme.css", "utf8");
type Colour = readonly number[]; // red, green, blue from 0 to 255, and opacity

function coloursOf(theme: string): Map<string, Colour> {
  const block = css.split(`[data-theme="${theme}"] {`)[1]?.split("}")[0] ?? "";
  const found = new Map<string, Colour>();
  for (const [, name = "", hex = ""] of block.matchAll(/--([\w-]+): #([0-9a-f]{6});/g)) {
    found.set(
      name,
      [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)),
    );
  }
  for (const [, name = "", words = ""] of block.matchAll(/--([\w-]+): rgb\(([\d ]+\/ \d+)%\)/g)) {
    const [red = 0, green = 0, blue = 0, share = 0] = words.replace("/", "").split(/ +/).map(Number);
    found.set(name, [red, green, blue, share / 100]);
  }
  return found;
}

function over(below: Colour, above: Colour): Colour {
  const share = above[3] ?? 1;
  return [0, 1, 2].map((k) => (below[k] ?? 0) * (1 - share) + (above[k] ?? 0) * share);
}

function brightness(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.slice(0, 3).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a: Colour, b: Colour): number {
  const [low = 0, high = 0] = [brightness(a), brightness(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

it("matches the standard", () => {
  expect(contrast([0, 0, 0], [255, 255, 255])).toBeCloseTo(21, 6);
  expect(contrast([119, 119, 119], [255, 255, 255])).toBeCloseTo(4.48, 2); // #777 on white, the well-known near miss
});

describe.each(["dark", "light"])("%s", (theme) => {
  const colours = coloursOf(theme);
  const get = (name: string): Colour => colours.get(name) ?? [];
  const surfaces = ["bg", "panel", "raised", "sunk"].flatMap((name): [string, Colour][] => [
    [name, get(name)],
    [`${name}, hovered`, over(get(name), get("hover"))],
    [`${name}, chosen`, over(get(name), get("chosen"))],
  ]);

  it.each(["text", "soft", "faint"])("--%s", (name) => {
    const poor = surfaces.filter(([, surface]) => contrast(get(name), surface) < 4.5).map(([where]) => where);
    expect(poor).toEqual([]);
  });

  it.each(["accent", "amber-text", "red", "green"])("--%s, on plain panels", (name) => {
    for (const where of ["panel", "raised"]) expect(contrast(get(name), get(where))).toBeGreaterThan(4.5);
  });
});

it.each([
  ["dark", ["#0a0e13", "#223040", "#11171d"]], // sky above, sky at the horizon, ground
  ["light", ["#b9d3e6", "#eef1f0", "#eceae4"]],
] as const)("the OSD is readable over sky and ground of the %s theme", (theme, backgrounds) => {
  const colourOf = (hex: string): Colour => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  const { lit, warn, bad } = OSD_COLOURS[theme];
  for (const below of backgrounds) {
    for (const above of [lit, warn, bad]) expect(contrast(colourOf(above), colourOf(below))).toBeGreaterThan(4.5);
  }
});
