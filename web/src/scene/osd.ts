// On-screen display of the followed vehicle: heading tape, speed and status lines; horizon and altitude of aircraft, gear
// and steering of cars.
import { autopilots } from "../state/controllers";
import { compassDegrees, formatCompass } from "../state/format";
import { rotated } from "../state/poses";
import type { Sample } from "../state/source";
import * as store from "../state/store";
import type { Quaternion } from "../wire/frame";
import type { Overlay } from "./overlay";
import { headingOf, type PreciseState } from "./poses";
import { drivenAs } from "./vehicle-rows";
import type { VehicleLayer } from "./vehicles";
import { traitsOf, type ViewState } from "./view";

const STATUS_FONT = "ui-monospace, SFMono-Regular, Menlo, monospace";
const TOP = 76; // px: baseline of the first line
const LINE = 20;
const GAP = 18; // px between words
const CELL = 46; // px: width of the battery symbol
const STATUS_BOTTOM = TOP + LINE + 8; // px: the pitch ladder begins below

interface Word {
  text: string;
  look: "lit" | "warn" | "bad";
  cell?: number; // 0 to 1: drawn with a battery symbol of this charge
}

/** All known values, the most important first. */
export function statusWords(data: Instruments): Word[] {
  const words: Word[] = [{ text: data.name, look: "lit" }];
  if (Number.isFinite(data.armed))
    words.push(data.armed > 0.5 ? { text: "ARMED", look: "lit" } : { text: "DISARMED", look: "warn" });
  if (data.mode) words.push({ text: data.mode.toUpperCase(), look: "lit" });
  const battery = batteryWord(data);
  if (battery) words.push(battery);
  const climb = `${data.climb >= 0 ? "▲" : "▼"} ${Math.abs(data.climb).toFixed(1)} m/s`;
  if (Number.isFinite(data.climb)) words.push({ text: climb, look: "lit" });
  return words.filter(({ text }) => text !== "");
}

function batteryWord({ charge, voltage }: Instruments): Word | null {
  const percent = Number.isFinite(charge) ? `${Math.round(100 * Math.max(0, Math.min(1, charge)))} %` : "";
  const volts = Number.isFinite(voltage) ? `${voltage.toFixed(1)} V` : "";
  const text = [percent, volts].filter(Boolean).join("  ");
  if (text === "") return null;
  const look = charge < 0.15 ? "bad" : charge < 0.3 ? "warn" : "lit";
  return { text, look, ...(percent && { cell: Math.max(0, Math.min(1, charge)) }) };
}

/** Words wrapped to a width. */
export function inLines<T>(words: readonly T[], widthOf: (word: T) => number, room: number, gap: number): T[][] {
  const lines: T[][] = [];
  let used = Number.POSITIVE_INFINITY;
  for (const word of words) {
    const wide = widthOf(word);
    if (used + gap + wide <= room) {
      lines.at(-1)?.push(word);
      used += gap + wide;
    } else {
      lines.push([word]);
      used = wide;
    }
  }
  return lines;
}

function drawStatus(pen: CanvasRenderingContext2D, width: number, data: Instruments): void {
  pen.textBaseline = "alphabetic";
  pen.textAlign = "left";
  pen.font = `600 13px ${STATUS_FONT}`;
  const widthOf = ({ text, cell }: Word): number => pen.measureText(text).width + (cell === undefined ? 0 : CELL);
  inLines(statusWords(data), widthOf, Math.min(width - 24, 560), GAP).forEach((words, line) => {
    const whole = words.reduce((sum, word) => sum + widthOf(word) + GAP, -GAP);
    let x = (width - whole) / 2;
    for (const word of words) {
      drawWord(pen, word, x, TOP + line * LINE, data);
      x += widthOf(word) + GAP;
    }
  });
  pen.strokeStyle = pen.fillStyle = data.colours.lit;
}

function drawWord(
  pen: CanvasRenderingContext2D,
  { text, look, cell }: Word,
  x: number,
  y: number,
  data: Instruments,
): void {
  pen.strokeStyle = pen.fillStyle = data.colours[look];
  if (cell !== undefined) {
    pen.lineWidth = 1.5;
    pen.strokeRect(x, y - 11, 34, 12);
    pen.fillRect(x + 35.5, y - 8, 2.5, 6);
    pen.fillRect(x + 2.5, y - 8.5, 29 * cell, 7);
  }
  pen.fillText(text, cell === undefined ? x : x + CELL, y);
}

// instruments --------------------------------------------------------------------------------------------------------

export interface Instruments {
  name: string;
  speed: number; // m/s; NaN: unknown
  altitude: number; // m
  climb: number; // m/s
  voltage: number;
  charge: number; // 0 to 1
  armed: number;
  mode: string; // "": unknown
  throttle: number;
  flies: boolean;
  gear: number; // -1, 0, 1
  steer: number; // rad, + left
  attitude: Quaternion;
  tilt: number; // rad, camera tilt
  focal: number; // px
  colours: OsdColours;
}

interface OsdColours {
  lit: string; // CSS colours
  warn: string;
  bad: string;
  halo: string; // around lines and letters
}

/** Light lines with a dark halo on the dark theme, and the reverse: the sky of the light theme is almost white. */
export const OSD_COLOURS: Readonly<Record<store.Theme, OsdColours>> = {
  dark: { lit: "#e8f4ea", warn: "#ffb03b", bad: "#ff7070", halo: "rgb(0 0 0 / 0.75)" },
  light: { lit: "#10161c", warn: "#7a4900", bad: "#a81e1e", halo: "rgb(255 255 255 / 0.9)" },
};

const NUMBERS = "ui-monospace, SFMono-Regular, Menlo, monospace";
const DEGREE = Math.PI / 180;

/** Roll and pitch (rad, + right wing down, + nose up) of a body. */
export function attitudeOf(turn: Quaternion): { roll: number; pitch: number } {
  const ahead = rotated(turn, [1, 0, 0]);
  const left = rotated(turn, [0, 1, 0]);
  const up = rotated(turn, [0, 0, 1]);
  return { roll: Math.atan2(left[2], up[2]), pitch: Math.asin(Math.max(-1, Math.min(1, ahead[2]))) };
}

/** Compass heading in degrees, clockwise from north. */
export function compass(turn: Quaternion): number {
  return compassDegrees(headingOf(turn));
}

export function drawOsd(pen: CanvasRenderingContext2D, width: number, height: number, data: Instruments): void {
  const [left, right] = [-1, 1].map((side) => width / 2 + side * Math.min(width * 0.3, 330)) as [number, number];
  pen.save();
  pen.lineJoin = "round";
  pen.lineCap = "round";
  pen.shadowColor = data.colours.halo;
  pen.shadowBlur = 3;
  pen.strokeStyle = data.colours.lit;
  pen.fillStyle = data.colours.lit;
  tape(pen, width, data);
  ladder(pen, left, height / 2, "SPD", "m/s", data.speed, 5, -1);
  if (data.flies) {
    horizon(pen, width, height, data);
    ladder(pen, right, height / 2, "ALT", "m", data.altitude, 5, 1);
  } else steering(pen, right, height / 2, data);
  drawStatus(pen, width, data);
  pen.restore();
}

function horizon(pen: CanvasRenderingContext2D, width: number, height: number, data: Instruments): void {
  const { roll, pitch } = attitudeOf(data.attitude);
  pen.save();
  pen.translate(width / 2, height / 2);
  crosshair(pen);
  pen.rotate(-roll);
  pen.lineWidth = 1.5;
  pen.font = `11px ${NUMBERS}`;
  pen.textBaseline = "middle";
  for (let degrees = -60; degrees <= 60; degrees += 10) {
    const away = data.focal * Math.tan(clampAngle(pitch + data.tilt - degrees * DEGREE));
    if (Math.abs(away) > Math.min(0.32 * height, height / 2 - STATUS_BOTTOM)) continue;
    rung(pen, away, degrees);
  }
  pen.restore();
}

function crosshair(pen: CanvasRenderingContext2D): void {
  pen.lineWidth = 2;
  pen.beginPath();
  for (const s of [-1, 1]) {
    pen.moveTo(s * 26, 0);
    pen.lineTo(s * 12, 0);
    pen.lineTo(s * 6, 6);
  }
  pen.stroke();
}

/** A rung of the pitch ladder; the horizon is longest, negative pitch is dashed. */
function rung(pen: CanvasRenderingContext2D, y: number, degrees: number): void {
  const [inner, outer] = degrees === 0 ? [46, 190] : [46, 92];
  pen.setLineDash(degrees < 0 ? [7, 6] : []);
  pen.globalAlpha = degrees === 0 ? 0.95 : 0.6;
  pen.beginPath();
  for (const s of [-1, 1]) {
    pen.moveTo(s * inner, y);
    pen.lineTo(s * outer, y);
    if (degrees !== 0) pen.lineTo(s * outer, y + Math.sign(degrees) * 6);
  }
  pen.stroke();
  pen.setLineDash([]);
  if (degrees !== 0) {
    pen.textAlign = "left";
    pen.fillText(String(Math.abs(degrees)), outer + 6, y);
  }
  pen.globalAlpha = 1;
}

const NAMES: Readonly<Record<number, string>> = {
  0: "N",
  45: "NE",
  90: "E",
  135: "SE",
  180: "S",
  225: "SW",
  270: "W",
  315: "NW",
};

function tape(pen: CanvasRenderingContext2D, width: number, data: Instruments): void {
  const heading = compass(data.attitude);
  const [half, perDegree, top] = [150, 3.2, 30];
  pen.font = `11px ${NUMBERS}`;
  pen.textAlign = "center";
  pen.textBaseline = "top";
  pen.lineWidth = 1.5;
  for (let mark = Math.ceil((heading - 46) / 15) * 15; mark <= heading + 46; mark += 15) {
    const x = width / 2 + (mark - heading) * perDegree;
    const degrees = ((mark % 360) + 360) % 360;
    pen.globalAlpha = Math.max(0, 1 - Math.abs(x - width / 2) / half) ** 0.6;
    line(pen, x, top, x, top + (degrees % 45 === 0 ? 9 : 5));
    pen.fillText(NAMES[degrees] ?? String(degrees), x, top + 12);
  }
  pen.globalAlpha = 1;
  pen.font = `600 15px ${NUMBERS}`;
  pen.fillText(formatCompass(headingOf(data.attitude)), width / 2, top - 22);
}

const GEARS: Readonly<Record<string, string>> = { "-1": "R", 0: "N", 1: "D" };

/** `12° L`; "": unknown. */
export function steerText(steer: number): string {
  const degrees = Math.round(Math.abs(steer) / DEGREE);
  if (Number.isNaN(degrees)) return "";
  return degrees === 0 ? "0°" : `${degrees}° ${steer > 0 ? "L" : "R"}`;
}

/** Gear and road-wheel angle, as far as known. */
function steering(pen: CanvasRenderingContext2D, x: number, y: number, { gear, steer }: Instruments): void {
  const values = [
    ["GEAR", GEARS[gear] ?? ""],
    ["STEER", steerText(steer)],
  ].filter(([, value]) => value !== "");
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  values.forEach(([label = "", value = ""], k) => {
    const at = y + 42 * (k - (values.length - 1) / 2);
    pen.font = `600 19px ${NUMBERS}`;
    pen.fillText(value, x + 8, at);
    pen.font = `10px ${NUMBERS}`;
    pen.fillText(label, x + 8, at + 17);
  });
}

/** A scale that moves behind a fixed box with the value. */
function ladder(
  pen: CanvasRenderingContext2D,
  x: number,
  y: number,
  label: string,
  unit: string,
  value: number,
  step: number,
  side: number,
): void {
  const known = Number.isFinite(value);
  pen.font = `10px ${NUMBERS}`;
  pen.textBaseline = "middle";
  pen.textAlign = side < 0 ? "right" : "left";
  pen.lineWidth = 1.2;
  for (let mark = Math.ceil((value - 12) / step) * step; known && mark <= value + 12; mark += step) {
    const at = y - (mark - value) * 8;
    if (at > y - 20 && at < y + 34) continue; // covered by the value's box
    pen.globalAlpha = 0.65 * (1 - Math.abs(at - y) / 110);
    line(pen, x, at, x + side * 8, at);
    pen.fillText(String(mark + 0), x + side * 13, at);
  }
  pen.globalAlpha = 1;
  pen.font = `600 19px ${NUMBERS}`;
  pen.fillText(known ? value.toFixed(1) : "--", x + side * 8, y);
  pen.font = `10px ${NUMBERS}`;
  pen.globalAlpha = 0.75;
  pen.fillText(`${label} ${unit}`, x + side * 8, y + 17);
  pen.globalAlpha = 1;
}

function line(pen: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.lineTo(x1, y1);
  pen.stroke();
}

function clampAngle(angle: number): number {
  return Math.max(-1.4, Math.min(1.4, angle));
}

// data ---------------------------------------------------------------------------------------------------------------

export function showOsd(
  overlay: Overlay,
  view: ViewState,
  vehicles: VehicleLayer,
  precise: PreciseState,
  sample: Sample,
): void {
  const id = store.focus.peek();
  const row = id === null ? undefined : vehicles.roster?.rowOfId(id);
  const fleet = row === undefined ? undefined : vehicles.roster?.fleetAt(row);
  const pen = overlay.pen();
  if (!pen || row === undefined || !fleet) return;
  const traits = traitsOf(fleet);
  const autopilot = autopilots.peek().get(id ?? -1);
  const gauge = (name: Parameters<PreciseState["gauge"]>[1]): number => precise.gauge(sample.to, name);
  const pose = precise.pose(sample, row);
  const speed = gauge("speed");
  const { unit } = overlay;
  pen.save();
  pen.scale(unit, unit);
  drawOsd(pen, view.size.width / unit, view.size.height / unit, {
    name: vehicles.roster?.nameAt(row) ?? "",
    speed: Number.isFinite(speed) ? speed : Math.abs(drivenAs(sample, row, traits).speed),
    altitude: pose.position[2],
    climb: traits.flies ? gauge("vz") : Number.NaN,
    voltage: gauge("voltage"),
    charge: gauge("charge"),
    armed: autopilot ? Number(autopilot.armed) : gauge("command.armed"),
    mode: autopilot?.mode ?? modeName(fleet.name, gauge("command.mode")),
    throttle: gauge("command.throttle"),
    attitude: pose.quaternion,
    tilt: traits.tilt,
    focal: view.focal / unit,
    flies: traits.flies,
    gear: gauge("command.gear"),
    steer: gauge("steer"),
    colours: OSD_COLOURS[view.skin.theme],
  });
  pen.restore();
}

/** The name of a mode, from the column's description. */
function modeName(fleet: string, mode: number): string {
  if (!Number.isFinite(mode)) return "";
  const about = store.metadata.peek()?.fleets.find(({ name }) => name === fleet);
  const columns = [...(about?.inputs ?? []), ...(about?.columns ?? [])];
  const column = columns.find(
    ({ name, choices }) => (name === "mode" || name === "command.mode") && choices.length > 0,
  );
  return column?.choices[Math.round(mode)] ?? `mode ${Math.round(mode)}`;
}
