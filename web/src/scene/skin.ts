// The colours of the theme as numbers, read from the page's CSS custom properties.
import { Color } from "three";
import type { Theme } from "../state/store";

export interface Skin {
  theme: Theme;
  background: Color;
  panel: Color;
  line: Color;
  text: Color;
  faint: Color;
  accent: Color;
  amber: Color;
  red: Color;
  green: Color;
  skyTop: Color;
  skyLow: Color;
  ground: Color;
  gridMinor: Color;
  gridMajor: Color;
}

const OTHERWISE: Record<Theme, Record<string, string>> = {
  dark: {
    bg: "#0d1115",
    panel: "#141a20",
    line: "#242c35",
    text: "#d7dee6",
    faint: "#7d8894",
    accent: "#58c4ff",
    amber: "#ffb03b",
    red: "#ff5c5c",
    green: "#5fd38d",
  },
  light: {
    bg: "#f5f3ef",
    panel: "#ffffff",
    line: "#ddd8cf",
    text: "#1c2228",
    faint: "#6b7178",
    accent: "#0b79c4",
    amber: "#b86e00",
    red: "#d43c3c",
    green: "#2c8f57",
  },
};

/** Read the theme's colours from an element's custom properties. */
export function readSkin(element: Element, theme: Theme): Skin {
  const style = getComputedStyle(element);
  const colour = (name: string): Color => {
    const colour = style.getPropertyValue(`--${name}`).trim();
    const css = /^#[0-9a-f]{6}$/i.test(colour) ? colour : (OTHERWISE[theme][name] ?? "#888888");
    return raw(css);
  };
  const named = {
    background: colour("bg"),
    panel: colour("panel"),
    line: colour("line"),
    text: colour("text"),
    faint: colour("faint"),
    accent: colour("accent"),
    amber: colour("amber"),
    red: colour("red"),
    green: colour("green"),
  };
  return { theme, ...named, ...(theme === "dark" ? NIGHT : DAY) };
}

// The ground differs slightly from the page's background, so that the world does not look like a panel.
const NIGHT = {
  skyTop: raw("#0a0e13"),
  skyLow: raw("#223040"),
  ground: raw("#11171d"),
  gridMinor: raw("#24303b"),
  gridMajor: raw("#3a4a5a"),
};
const DAY = {
  skyTop: raw("#b9d3e6"),
  skyLow: raw("#eef1f0"),
  ground: raw("#eceae4"),
  gridMinor: raw("#d8d3c9"),
  gridMajor: raw("#b5aea1"),
};

/** Without conversion to linear light: the shaders write display values. */
export function raw(css: string): Color {
  const value = Number.parseInt(css.slice(1), 16);
  const colour = new Color();
  colour.r = ((value >> 16) & 255) / 255;
  colour.g = ((value >> 8) & 255) / 255;
  colour.b = (value & 255) / 255;
  return colour;
}

export function cssOf(colour: Color, opacity = 1): string {
  const part = (share: number) => Math.round(255 * share);
  return `rgb(${part(colour.r)} ${part(colour.g)} ${part(colour.b)} / ${opacity})`;
}
