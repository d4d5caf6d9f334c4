// The 2D canvas over the world: names, marker texts, grid distances, waypoint handles. Redrawn with each frame.
import { cssOf, type Skin } from "./skin";
import { toScreen, type ViewState } from "./view";

const FONT = "system-ui, sans-serif";
const NUMBERS = "ui-monospace, SFMono-Regular, Menlo, monospace";

export class Overlay {
  readonly canvas = document.createElement("canvas");
  readonly context: CanvasRenderingContext2D | null;
  unit = 1; // scale relative to a small screen; text grows with the page's font
  private used = false;
  private plates: [number, number, number][] = []; // left, top, width of the placed labels

  constructor() {
    this.canvas.setAttribute("aria-hidden", "true");
    Object.assign(this.canvas.style, {
      position: "absolute",
      inset: "0",
      width: "100%",
      height: "100%",
      pointerEvents: "none",
    });
    this.context = this.canvas.getContext("2d");
  }

  /** Clear the canvas; coordinates are CSS px. */
  begin({ width, height }: { width: number; height: number }): void {
    const ratio = globalThis.devicePixelRatio || 1;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== w || this.canvas.height !== h) {
      this.canvas.width = w;
      this.canvas.height = h;
      this.unit = unitOf(getComputedStyle(document.documentElement).fontSize);
    } else if (this.used) this.context?.clearRect(0, 0, width, height);
    this.context?.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.used = false;
    this.plates = [];
  }

  /** Hide an empty canvas: it costs the compositor nothing. */
  end(): void {
    const display = this.used ? "block" : "none";
    if (this.canvas.style.display !== display) this.canvas.style.display = display;
  }

  /** The context for drawing. */
  pen(): CanvasRenderingContext2D | null {
    this.used = true;
    return this.context;
  }

  /** A label above a screen position; return false if it yields to a label that is there. */
  plate(text: string, x: number, y: number, skin: Skin, strong: boolean): boolean {
    const pen = this.pen();
    if (!pen) return false;
    const high = Math.round(18 * this.unit);
    pen.font = `${strong ? 600 : 500} ${(strong ? 12 : 11) * this.unit}px ${FONT}`;
    const wide = pen.measureText(text).width + 12 * this.unit;
    const [left, top] = [Math.round(x - wide / 2), Math.round(y - high - 2)];
    const taken = this.plates.some(([x0, y0, w]) => left < x0 + w && x0 < left + wide && Math.abs(y0 - top) < high);
    if (taken && !strong) return false;
    this.plates.push([left, top, wide]);
    pen.fillStyle = cssOf(skin.panel, strong ? 0.92 : 0.7);
    pen.beginPath();
    pen.roundRect(left, top, wide, high, 4);
    pen.fill();
    if (strong) {
      pen.strokeStyle = cssOf(skin.line);
      pen.lineWidth = 1;
      pen.stroke();
    }
    pen.fillStyle = cssOf(strong ? skin.text : skin.faint);
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText(text, x, top + high / 2 + 0.5);
    return true;
  }

  /** A note in the lower left corner. */
  note(text: string, height: number, skin: Skin): void {
    const pen = this.pen();
    if (!pen) return;
    pen.font = `${11 * this.unit}px ${FONT}`;
    pen.textAlign = "left";
    pen.textBaseline = "bottom";
    pen.fillStyle = cssOf(skin.text);
    pen.fillText(text, 12 * this.unit, height - 10 * this.unit);
  }

  /** Marker text, at its height in the world but readable. */
  words(text: string, x: number, y: number, px: number, colour: string, halo: string): void {
    const pen = this.pen();
    if (!pen) return;
    const letters = Math.max(10, Math.min(72, px / this.unit)) * this.unit;
    pen.font = `600 ${letters}px ${FONT}`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    pen.lineWidth = 3;
    pen.strokeStyle = halo;
    text.split("\n").forEach((line, k) => {
      const at = y + 1.2 * k * letters;
      pen.strokeText(line, x, at);
      pen.fillStyle = colour;
      pen.fillText(line, x, at);
    });
  }

  handle(x: number, y: number, label: string, colour: string, skin: Skin): void {
    const pen = this.pen();
    if (!pen) return;
    pen.beginPath();
    pen.arc(x, y, 7 * this.unit, 0, 2 * Math.PI);
    pen.fillStyle = cssOf(skin.panel, 0.9);
    pen.fill();
    pen.lineWidth = 2;
    pen.strokeStyle = colour;
    pen.stroke();
    pen.font = `600 ${9 * this.unit}px ${NUMBERS}`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillStyle = cssOf(skin.text);
    pen.fillText(label, x, y + 0.5);
  }
}

const SMALL = 13; // px of the page's font on a small screen

/** Scale relative to a small screen, from the page's font size ("14.5px"). */
export function unitOf(fontSize: string): number {
  const px = Number.parseFloat(fontSize);
  return Number.isFinite(px) ? Math.max(1, px / SMALL) : 1;
}

/** 0, then outwards to both sides: near labels are placed first. */
const OUTWARDS = Array.from({ length: 19 }, (_, k) => (k % 2 ? -1 : 1) * Math.ceil(k / 2));

type Height = (x: number, y: number) => number;
const LEVEL: Height = () => 0;

/** Distances along the axes, at the grid's spacing; `height`: of the ground, m. */
export function gridLabels(
  overlay: Overlay,
  view: ViewState,
  cell: number,
  target: readonly number[],
  height: Height = LEVEL,
): void {
  const pen = overlay.pen();
  if (!pen) return;
  const { unit } = overlay;
  pen.font = `${10 * unit}px ${NUMBERS}`;
  pen.textAlign = "left";
  pen.textBaseline = "top";
  pen.fillStyle = cssOf(view.skin.faint, 0.85);
  const screen = [0, 0, 0];
  const written: [number, number][] = [];
  const write = (x: number, y: number, text: string): void => {
    if (!toScreen(view.matrix, x, y, height(x, y), view.size, screen)) return;
    const [sx = 0, sy = 0] = screen;
    if (sx < 0 || sy < 0 || sx > view.size.width || sy > view.size.height) return;
    if (written.some(([wx, wy]) => Math.abs(wx - sx) < 44 * unit && Math.abs(wy - sy) < 13 * unit)) return;
    written.push([sx, sy]);
    pen.fillText(text, sx + 4, sy + 3);
  };
  const [cx, cy] = [Math.round((target[0] ?? 0) / cell), Math.round((target[1] ?? 0) / cell)];
  for (const k of OUTWARDS) {
    const [x, y] = [(cx + k) * cell, (cy + k) * cell];
    write(x, 0, metres(x));
    if (y !== 0) write(0, y, metres(y));
  }
}

/** `20 m`, `1.5 km`. */
export function metres(value: number): string {
  if (Math.abs(value) >= 1000) return `${Number((value / 1000).toPrecision(6))} km`;
  return `${Number(value.toPrecision(6))} m`;
}
