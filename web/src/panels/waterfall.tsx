// A waterfall: power over frequency (across) and time (down) at a receiver.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { call } from "../net/connection";
import { reasonOf } from "../net/rpc";
import { rampGradient, rampTable } from "../scene/colour-ramp";
import { expose, theme } from "../state/store";
import type { SpectrumTree } from "../wire/schema";

const EVERY = 200; // ms
const LINES = 90;
const SPAN = 50; // dB from the noise to the brightest colour

export function Waterfall({ receiver }: { receiver: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const lines = useRef<SpectrumTree[]>([]);
  const newest = useSignal<SpectrumTree | null>(null);
  const failure = useSignal("");
  const shade = theme.value;
  useEffect(() => {
    lines.current = [];
    return polled(EVERY, async () => {
      try {
        const { spectrum } = await call("get_spectrum", { receiver });
        const last = lines.current.at(-1);
        if (last?.time !== spectrum.time) lines.current = [...lines.current, spectrum].slice(-LINES);
        newest.value = spectrum;
        failure.value = "";
      } catch (error) {
        failure.value = reasonOf(error);
      }
    });
  }, [receiver]);
  useEffect(() => {
    const pen = canvas.current?.getContext("2d");
    if (pen) paint(pen, lines.current, shade);
    expose({ spectrumLines: lines.current.length });
  }, [newest.value, shade]);
  const shown = newest.value;
  const mega = (hertz: number) => (hertz / 1e6).toFixed(1);
  return (
    <div class="waterfall">
      {failure.value !== "" && <p class="amber">{failure.value}</p>}
      <div class="picture">
        <canvas
          ref={canvas}
          width={96}
          height={LINES}
          role="img"
          aria-label={`Power over frequency at ${receiver}, the newest line on top`}
        />
        {shown && <span class="band" style={bandOf(shown)} title="The receiver's band" />}
      </div>
      {shown && (
        <>
          <div class="ends number">
            <span>{mega(shown.low)}</span>
            <span>{mega((shown.low + shown.high) / 2)}</span>
            <span>{mega(shown.high)} MHz</span>
          </div>
          <div class="bar-ramp" style={{ background: rampGradient(shade) }} />
          <div class="ends number">
            <span>{shown.noise.toFixed(0).replace("-", "−")}</span>
            <span>{(shown.noise + SPAN).toFixed(0).replace("-", "−")} dBm</span>
          </div>
        </>
      )}
    </div>
  );
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

function bandOf({ low, high, band }: SpectrumTree): { left: string; width: string } {
  const share = (hertz: number) => (100 * (hertz - low)) / (high - low);
  return { left: `${share(band[0])}%`, width: `${share(band[1]) - share(band[0])}%` };
}

function paint(pen: CanvasRenderingContext2D, lines: readonly SpectrumTree[], shade: "dark" | "light"): void {
  const { width, height } = pen.canvas;
  const table = rampTable(shade);
  const image = pen.createImageData(width, height);
  for (let row = 0; row < Math.min(height, lines.length); row++) {
    const line = lines[lines.length - 1 - row] as SpectrumTree;
    for (let k = 0; k < width; k++) {
      const power = line.power[Math.floor((k * line.power.length) / width)] as number;
      const at = Math.round(255 * Math.min(Math.max((power - line.noise) / SPAN, 0), 1));
      image.data.set(
        [table[3 * at] as number, table[3 * at + 1] as number, table[3 * at + 2] as number, 255],
        4 * (row * width + k),
      );
    }
  }
  pen.putImageData(image, 0, 0);
}
