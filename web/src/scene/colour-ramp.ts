// Colour ramp for values: perceptually even (OKLab), increasing lightness, readable on each theme's background.

type Rgb = [number, number, number]; // 0 to 1, sRGB

type Stop = readonly [lightness: number, chroma: number, hue: number]; // OKLCH, hue in degrees

const STOPS: Record<"dark" | "light", readonly Stop[]> = {
  dark: [
    [0.5, 0.17, 280],
    [0.63, 0.14, 235],
    [0.76, 0.14, 165],
    [0.9, 0.17, 102],
  ],
  light: [
    [0.4, 0.17, 285],
    [0.49, 0.12, 240],
    [0.59, 0.13, 155],
    [0.69, 0.15, 75],
  ],
};
export const UNKNOWN: Record<"dark" | "light", Rgb> = { dark: [0.42, 0.46, 0.5], light: [0.62, 0.62, 0.62] };
const STEPS = 256;

/** The colour of a value from 0 to 1 (clamped; NaN: grey). */
export function ramp(value: number, theme: "dark" | "light" = "dark"): Rgb {
  if (Number.isNaN(value)) return [...UNKNOWN[theme]];
  const stops = STOPS[theme].map(labOf);
  const along = Math.min(Math.max(value, 0), 1) * (stops.length - 1);
  const k = Math.min(Math.floor(along), stops.length - 2);
  const [a, b] = [stops[k] as Rgb, stops[k + 1] as Rgb];
  const mixed = a.map((component, i) => component + (along - k) * ((b[i] as number) - component)) as Rgb;
  return rgbOf(mixed);
}

/** As a CSS colour, for legends. */
export function rampCss(value: number, theme: "dark" | "light" = "dark"): string {
  return `rgb(${ramp(value, theme)
    .map((component) => Math.round(255 * component))
    .join(" ")})`;
}

/** The ramp as a CSS gradient, left to right. */
export function rampGradient(theme: "dark" | "light" = "dark"): string {
  const stops = Array.from({ length: 13 }, (_, k) => rampCss(k / 12, theme));
  return `linear-gradient(to right, ${stops.join(", ")})`;
}

/** 256 colours of 3 bytes, and grey at index 256. */
export function rampTable(theme: "dark" | "light"): Uint8Array {
  const table = new Uint8Array(3 * (STEPS + 1));
  for (let k = 0; k <= STEPS; k++) {
    const colour = ramp(k < STEPS ? k / (STEPS - 1) : Number.NaN, theme);
    table.set(
      colour.map((component) => Math.round(255 * component)),
      3 * k,
    );
  }
  return table;
}

function labOf([lightness, chroma, hue]: Stop): Rgb {
  const angle = (hue * Math.PI) / 180;
  return [lightness, chroma * Math.cos(angle), chroma * Math.sin(angle)];
}

/** OKLab to sRGB (B. Ottosson), clipped to the gamut. */
export function rgbOf([lightness, a, b]: Rgb): Rgb {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  return linear.map((component) => Math.min(1, Math.max(0, gamma(component)))) as Rgb;
}

function gamma(linear: number): number {
  return linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055;
}
