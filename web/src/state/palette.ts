// Fleet colours that differ on dark and light backgrounds.
interface Colour {
  hex: string; // "#58c4ff"
  rgb: readonly [number, number, number]; // 0 to 1, as in the hex (sRGB)
}

const HUES = ["#58c4ff", "#ffb03b", "#5fd38d", "#c792ea", "#ff7a90", "#7fdbca", "#ffd866", "#8aa2ff"] as const;
const LIGHTER = 0.35; // towards white, in each round
const ROUNDS = 3;

const COLOURS: readonly Colour[] = Array.from({ length: ROUNDS * HUES.length }, (_, index) => {
  const hue = HUES[index % HUES.length] as string;
  return lighter(hue, 1 - (1 - LIGHTER) ** Math.floor(index / HUES.length));
});

/** The colour with this number; the palette repeats. */
export function paletteColour(number: number): Colour {
  return COLOURS[((number % COLOURS.length) + COLOURS.length) % COLOURS.length] as Colour;
}

/**
 * Colour numbers of the fleets of a roster, in its order. They depend on names and ids alone, so that all windows agree:
 * numbered names get neighbouring colours, and of two fleets with the same colour the one with the larger ids, which was
 * added later, gets the next free colour.
 */
export function fleetColours(fleets: readonly { name: string; ids: readonly (readonly number[])[] }[]): number[] {
  const firstId = (index: number): number => fleets[index]?.ids[0]?.[0] ?? Number.POSITIVE_INFINITY;
  const taken = new Set<number>();
  const chosen = fleets.map(() => 0);
  for (const index of [...fleets.keys()].sort((a, b) => firstId(a) - firstId(b) || a - b)) {
    const start = [...(fleets[index]?.name ?? "")].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0);
    let tries = 0;
    while (tries < COLOURS.length && taken.has(nth(start, tries))) tries += 1;
    taken.add(nth(start, tries));
    chosen[index] = nth(start, tries);
  }
  return chosen;
}

/** The nth choice: all hues from a first one on, then their lighter variants. */
function nth(start: number, tries: number): number {
  return HUES.length * Math.floor(tries / HUES.length) + ((start + tries) % HUES.length);
}

/** The colour of a fleet; the first colour if unknown. */
export function fleetColour(fleet: { readonly colour: number } | undefined): Colour {
  return paletteColour(fleet?.colour ?? 0);
}

/** "#rrggbb" as [r, g, b], 0 to 1. */
export function rgbOf(hex: string): [number, number, number] {
  const value = Number.parseInt(hex.slice(1), 16);
  return [(value >> 16) / 255, ((value >> 8) & 255) / 255, (value & 255) / 255];
}

export function hexOf(rgb: readonly number[]): string {
  return `#${rgb
    .map((part) =>
      Math.round(255 * part)
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`;
}

function lighter(hex: string, share: number): Colour {
  const [red, green, blue] = rgbOf(hex);
  const rgb = [red + (1 - red) * share, green + (1 - green) * share, blue + (1 - blue) * share] as const;
  return { hex: hexOf(rgb), rgb };
}
