// What a pilot reads rather than sees: name, armed, mode, battery and climb, in lines under the heading tape. The lower
// edge belongs to what lies over the picture: the driving display and the map.
import type { Instruments } from "./osd";

const NUMBERS = "ui-monospace, SFMono-Regular, Menlo, monospace";
const TOP = 76; // px: the first line stands on it
const LINE = 20;
const GAP = 18; // px between two words
const CELL = 46; // px that the picture of the battery takes
export const STATUS_BOTTOM = TOP + LINE + 8; // px: below it begins the horizon's ladder

export interface Word {
  text: string;
  look: "lit" | "warn" | "bad";
  cell?: number; // 0 to 1: with a battery before it, so full
}

/** Everything that is known, the most important first. */
export function statusWords(data: Instruments): Word[] {
  const words: Word[] = [{ text: data.name, look: "lit" }];
  if (Number.isFinite(data.armed)) words.push(data.armed > 0.5 ? { text: "ARMED", look: "lit" } : { text: "DISARMED",
    look: "warn" });
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

/** Words in lines that are not wider than there is room; a word that is too wide has a line of its own. */
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

export function drawStatus(pen: CanvasRenderingContext2D, width: number, data: Instruments): void {
  pen.textBaseline = "alphabetic";
  pen.textAlign = "left";
  pen.font = `600 13px ${NUMBERS}`;
  const widthOf = ({ text, cell }: Word): number => pen.measureText(text).width + (cell === undefined ? 0 : CELL);
  inLines(statusWords(data), widthOf, Math.min(width - 24, 560), GAP).forEach((words, line) => {
    const whole = words.reduce((sum, word) => sum + widthOf(word) + GAP, -GAP);
    let x = (width - whole) / 2;
    for (const word of words) {
      drawWord(pen, word, x, TOP + line * LINE, data);
      x += widthOf(word) + GAP;
    }
  });
  pen.strokeStyle = pen.fillStyle = data.lit;
}

function drawWord(pen: CanvasRenderingContext2D, { text, look, cell }: Word, x: number, y: number,
  data: Instruments): void {
  pen.strokeStyle = pen.fillStyle = data[look];
  if (cell !== undefined) {
    pen.lineWidth = 1.5;
    pen.strokeRect(x, y - 11, 34, 12);
    pen.fillRect(x + 35.5, y - 8, 2.5, 6);
    pen.fillRect(x + 2.5, y - 8.5, 29 * cell, 7);
  }
  pen.fillText(text, cell === undefined ? x : x + CELL, y);
}
