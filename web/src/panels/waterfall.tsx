// A waterfall: power over frequency (across) and time (down) at a receiver.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { call, reasonOf } from "../net/connection";
import { rampGradient, rampTable } from "../scene/colour-ramp";
import { expose, theme } from "../state/store";
import type { Spectrum } from "../wire/schema";

const EVERY = 200; // ms
const LINES = 120;
const SECONDS = 24; // shown, simulated
const LEVELS = 50; // dB from the noise to the brightest colour
const SPANS = [4, 16, 64] as const; // bandwidths of the receiver
const TIMES = [0, 6, 12, 18, 24]; // s ago, of labels
const BINS = 192;

/** `bandwidth`: of the receiver, Hz. */
export function Waterfall({ receiver, bandwidth }: { receiver: string; bandwidth: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const lines = useRef<Spectrum[]>([]);
  const newest = useSignal<Spectrum | null>(null);
  const failure = useSignal("");
  const widths = useSignal<number>(SPANS[0]);
  const shade = theme.value;
  const span = widths.value * bandwidth;
  useEffect(() => {
    lines.current = [];
    newest.value = null;
    return polled(EVERY, async () => {
      try {
        const { spectrum } = await call("spectrum", { receiver, span, bins: BINS });
        lines.current = withLine(lines.current, spectrum);
        newest.value = spectrum;
        failure.value = "";
      } catch (error) {
        failure.value = reasonOf(error);
      }
    });
  }, [receiver, span]);
  useEffect(() => {
    const pen = canvas.current?.getContext("2d");
    if (pen) paint(pen, lines.current, shade);
    expose({ spectrumLines: lines.current.length });
  }, [newest.value, shade]);
  const shown = newest.value;
  return (
    <div class="waterfall">
      <label class="row">
        <span class="grow">Span</span>
        <select
          class="select small"
          aria-label="Span of the spectrum"
          value={String(widths.value)}
          onChange={(event) => (widths.value = Number(event.currentTarget.value))}>
          {SPANS.map((count) => (
            <option key={count} value={String(count)}>
              {count} bandwidths, {Number(((count * bandwidth) / 1e6).toPrecision(3))} MHz
            </option>
          ))}
        </select>
      </label>
      {failure.value !== "" && <p class="amber">{failure.value}</p>}
      <div class="picture">
        <div class="times number">
          {TIMES.map((seconds) => (
            <span key={seconds}>{seconds === 0 ? "now" : `−${seconds} s`}</span>
          ))}
        </div>
        <div class="lines">
          <canvas
            ref={canvas}
            width={BINS}
            height={LINES}
            role="img"
            aria-label={`Power over frequency at ${receiver} during the last ${SECONDS} s, the newest on top`}
          />
          {shown && <span class="band" style={bandOf(shown)} title="The receiver's band" />}
        </div>
      </div>
      {shown && <Scales spectrum={shown} shade={shade} />}
    </div>
  );
}

function Scales({ spectrum, shade }: { spectrum: Spectrum; shade: "dark" | "light" }) {
  const { low, high, noise } = spectrum;
  const level = (value: number) => value.toFixed(0).replace("-", "−");
  return (
    <>
      <div class="ends number frequencies">
        {frequencyLabels(low, high).map((text) => (
          <span key={text}>{text}</span>
        ))}
      </div>
      <div class="bar-ramp" style={{ background: rampGradient(shade) }} />
      <div class="ends number">
        <span>{level(noise)}</span>
        <span>{level(noise + LEVELS / 2)}</span>
        <span>{level(noise + LEVELS)} dBm</span>
      </div>
    </>
  );
}

/** Lowest, middle and highest frequency in MHz, with as many decimals as they need to differ. */
export function frequencyLabels(low: number, high: number): string[] {
  const digits = high - low >= 40e6 ? 0 : high - low >= 0.4e6 ? 1 : 3;
  const text = (hertz: number) => (hertz / 1e6).toFixed(digits);
  return [text(low), text((low + high) / 2), `${text(high)} MHz`];
}

/** The lines of the last SECONDS with another one; a time before the last begins again. */
export function withLine(lines: readonly Spectrum[], line: Spectrum): Spectrum[] {
  const before = lines.filter(({ time }) => time < line.time && time > line.time - SECONDS);
  return lines.some(({ time }) => time > line.time) ? [line] : [...before, line];
}

/** For each row from the top, the index of the line that was the newest at its time; -1: none. */
export function lineOfRows(times: readonly number[], rows: number): number[] {
  const last = times.at(-1) ?? 0;
  let at = times.length - 1;
  return Array.from({ length: rows }, (_, row) => {
    const time = last - (row * SECONDS) / rows;
    while (at > 0 && (times[at] as number) > time + 1e-9) at -= 1;
    return (times[at] ?? Number.POSITIVE_INFINITY) <= time + 1e-9 ? at : -1;
  });
}

/** Repeat a request until stopped; never two at once. */
export function polled(every: number, request: () => Promise<void>): () => void {
  let over = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ask = async (): Promise<void> => {
    if (!document.hidden) await request();
    if (!over) timer = setTimeout(() => void ask(), every);
  };
  void ask();
  return () => {
    over = true;
    clearTimeout(timer);
  };
}

function bandOf({ low, high, band }: Spectrum): { left: string; width: string } {
  const share = (hertz: number) => (100 * (hertz - low)) / (high - low);
  return { left: `${share(band[0])}%`, width: `${share(band[1]) - share(band[0])}%` };
}

function paint(pen: CanvasRenderingContext2D, lines: readonly Spectrum[], shade: "dark" | "light"): void {
  const { width, height } = pen.canvas;
  const table = rampTable(shade);
  const image = pen.createImageData(width, height);
  const shown = lineOfRows(
    lines.map(({ time }) => time),
    height,
  );
  shown.forEach((index, row) => {
    const line = lines[index];
    for (let k = 0; line && k < width; k++) {
      const power = line.power[Math.floor((k * line.power.length) / width)] as number;
      const at = Math.round(255 * Math.min(Math.max((power - line.noise) / LEVELS, 0), 1));
      image.data.set(
        [table[3 * at] as number, table[3 * at + 1] as number, table[3 * at + 2] as number, 255],
        4 * (row * width + k),
      );
    }
  });
  pen.putImageData(image, 0, 0);
}
