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

/** Colours by fleet name; a fleet keeps its colour. */
const numbers = new Map<string, number>();

/**
 * Assign colours to the fleets of a roster, in order: unused colours first, then the first colour that none of them
 * has.
 */
export function enterFleets(names: readonly string[]): void {
  const together = new Set(names.flatMap((name) => numbers.get(name) ?? []));
  for (const name of names) {
    if (numbers.has(name)) continue;
    const number = numbers.size < HUES.length ? numbers.size : firstNotIn(together);
    numbers.set(name, number);
    together.add(number);
  }
}

/** The colour of a fleet; the first colour if unknown. */
export function fleetColour(name: string): Colour {
  return paletteColour(numbers.get(name) ?? 0);
}

function firstNotIn(taken: ReadonlySet<number>): number {
  let number = 0;
  while (taken.has(number)) number += 1;
  return number;
}

/** "#rrggbb" as [r, g, b], 0 to 1. */
function rgbOf(hex: string): [number, number, number] {
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
