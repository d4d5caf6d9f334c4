// Numbers, times and units as text.

import { NO_VALUE } from "../wire/schema";

/** In place of a value that a vehicle does not have. */
export const NONE = "none";

const NOTHING = 1e-9; // relative to the usual size: smaller values are rounding errors

/** A value with few digits and a steady width; `usual`: its usual size. */
export function formatValue(value: number | null | undefined, usual = 0): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size === 0 || size < NOTHING * usual) return "0";
  if (size >= 1e7 || size < 1e-4) return minus(value.toExponential(2));
  if (Number.isInteger(value)) return minus(String(value));
  return minus(value.toFixed(size >= 1000 ? 1 : size >= 100 ? 2 : size >= 1 ? 3 : 4));
}

/** The value of a column (name in frames), NaN where a number stands for none: plots have gaps there. */
export function measured(column: string, value: number): number {
  return NO_VALUE[column] === value ? Number.NaN : value;
}

/** A value of a column (name in frames): `none` where it has none. */
export function formatColumn(column: string, value: number | null | undefined, usual = 0): string {
  return value != null && NO_VALUE[column] === value ? NONE : formatValue(value, usual);
}

/** 12345678: `12,345,678`, as in the server's texts. */
export function formatCount(count: number): string {
  return Number.isFinite(count) ? String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ",") : "–";
}

/** `1 vehicle`, `1,200 vehicles`. */
export function formatVehicles(count: number): string {
  return `${formatCount(count)} ${count === 1 ? "vehicle" : "vehicles"}`;
}

/** 83.456 s: `1:23.456`; hours only if needed. */
export function formatTime(seconds: number): string {
  if (!Number.isFinite(seconds)) return "–";
  const sign = seconds < 0 ? "−" : "";
  const millis = Math.round(Math.abs(seconds) * 1000);
  const hours = Math.floor(millis / 3_600_000);
  const minutes = Math.floor(millis / 60_000) % 60;
  const rest = ((millis % 60_000) / 1000).toFixed(3).padStart(6, "0");
  return hours > 0 ? `${sign}${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${sign}${minutes}:${rest}`;
}

/** s as ms or µs. */
export function formatSpan(seconds: number): string {
  if (!Number.isFinite(seconds)) return "–";
  const millis = seconds * 1000;
  if (millis >= 100) return `${millis.toFixed(0)} ms`;
  if (millis >= 0.1) return `${millis.toFixed(2)} ms`;
  return `${(millis * 1000).toFixed(1)} µs`;
}

/** Real-time factor: `1.00×`. */
export function formatFactor(factor: number): string {
  if (!Number.isFinite(factor)) return "–";
  const digits = factor >= 100 ? 0 : factor >= 10 ? 1 : 2;
  return `${factor.toFixed(digits)}×`;
}

/** Compass degrees (clockwise from north, 0 to 360) of a yaw (rad, counter-clockwise from east). */
export function compassDegrees(yaw: number): number {
  return (((90 - (yaw * 180) / Math.PI) % 360) + 360) % 360;
}

/** A yaw as a compass heading: 0 rad is `090°`. */
export function formatCompass(yaw: number): string {
  return Number.isFinite(yaw) ? `${String(Math.round(compassDegrees(yaw)) % 360).padStart(3, "0")}°` : "–";
}

/** `rad/s2`: `rad/s²`. */
export function formatUnit(unit: string): string {
  return unit
    .replace(/([a-z])2\b/gi, "$1²")
    .replace(/([a-z])3\b/gi, "$1³")
    .replaceAll("*", "·");
}

const LONG = /(?<![\w.])-?\d+\.\d+(?:e[+-]?\d+)?(?![\w.])/gi;

/** The text of an event with numbers of at most two decimals, or two digits below 0.1: `at 12.35, -3 m`. */
export function formatDetail(detail: string): string {
  return detail.replace(LONG, (text) => {
    const value = Number(text);
    const size = Math.abs(value);
    if (size >= 1e15 || (size > 0 && size < 1e-4)) return text;
    return String(Number(size >= 0.1 || size === 0 ? value.toFixed(2) : value.toPrecision(2)));
  });
}

/** `yaw_rate` -> `yaw rate`. */
export function wordsOf(name: string): string {
  return name.replaceAll("_", " ");
}

function minus(text: string): string {
  return text.replaceAll("-", "−");
}
