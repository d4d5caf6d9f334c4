// Colours of fleets: told apart on a dark and on a light ground.
export interface Colour {
  hex: string; // "#58c4ff"
  rgb: readonly [number, number, number]; // 0 to 1, as in the hex (sRGB)
}

const HUES = ["#58c4ff", "#ffb03b", "#5fd38d", "#c792ea", "#ff7a90", "#7fdbca", "#ffd866", "#8aa2ff"] as const;
const LIGHTER = 0.35; // of the way to white, each time around
const ROUNDS = 3;

const COLOURS: readonly Colour[] = Array.from({ length: ROUNDS * HUES.length }, (_, index) => {
  const hue = HUES[index % HUES.length] as string;
  return lighter(hue, 1 - (1 - LIGHTER) ** Math.floor(index / HUES.length));
});

/** The colour of the fleet with that index in the roster. */
export function fleetColour(index: number): Colour {
  return COLOURS[((index % COLOURS.length) + COLOURS.length) % COLOURS.length] as Colour;
}

/** "#rrggbb" as [r, g, b], 0 to 1. */
export function rgbOf(hex: string): [number, number, number] {
  const value = Number.parseInt(hex.slice(1), 16);
  return [(value >> 16) / 255, ((value >> 8) & 255) / 255, (value & 255) / 255];
}

export function hexOf(rgb: readonly number[]): string {
  return `#${rgb.map((part) => Math.round(255 * part).toString(16).padStart(2, "0")).join("")}`;
}

function lighter(hex: string, share: number): Colour {
  const [red, green, blue] = rgbOf(hex);
  const rgb = [red + (1 - red) * share, green + (1 - green) * share, blue + (1 - blue) * share] as const;
  return { hex: hexOf(rgb), rgb };
}
