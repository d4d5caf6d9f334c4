// What a pilot sees over the picture: horizon, heading tape, speed and altitude ladders, battery, mode and whether
// it is armed.
import type { Quaternion } from "../state/frame";
import { rotated } from "../state/frames";
import { drawStatus, STATUS_BOTTOM } from "./osdStatus";
import { headingOf } from "./poseBlend";

export interface Instruments {
  name: string;
  speed: number; // m/s; NaN everywhere: not known
  altitude: number; // m
  climb: number; // m/s
  voltage: number;
  charge: number; // 0 to 1
  armed: number;
  mode: string; // "": not known
  throttle: number;
  attitude: Quaternion;
  tilt: number; // rad that the camera looks up
  focal: number; // px
  lit: string; // CSS colours
  warn: string;
  bad: string;
}

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
  return (((90 - headingOf(turn) / DEGREE) % 360) + 360) % 360;
}

export function drawOsd(pen: CanvasRenderingContext2D, width: number, height: number, data: Instruments): void {
  pen.save();
  pen.lineJoin = "round";
  pen.lineCap = "round";
  pen.shadowColor = "rgb(0 0 0 / 0.75)"; // readable over a bright sky too
  pen.shadowBlur = 3;
  pen.strokeStyle = data.lit;
  pen.fillStyle = data.lit;
  horizon(pen, width, height, data);
  tape(pen, width, data);
  ladder(pen, width / 2 - Math.min(width * 0.3, 330), height / 2, "SPD", "m/s", data.speed, 5, -1);
  ladder(pen, width / 2 + Math.min(width * 0.3, 330), height / 2, "ALT", "m", data.altitude, 5, 1);
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

/** A line of the pitch ladder; the horizon is the long one, what is below it is dashed. */
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

const NAMES: Readonly<Record<number, string>> = { 0: "N", 45: "NE", 90: "E", 135: "SE", 180: "S", 225: "SW", 270: "W",
  315: "NW" };

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
  pen.fillText(`${String(Math.round(heading) % 360).padStart(3, "0")}°`, width / 2, top - 22);
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
    if (at > y - 20 && at < y + 34) continue; // the value itself stands there
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
