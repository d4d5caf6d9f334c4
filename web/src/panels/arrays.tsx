// Arrays of a sensor in the inspector: a summary of each, and a plan of what a lidar or a cone detector sees.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { onColumns, requestColumns } from "../state/columns";
import { formatCount, formatUnit } from "../state/format";
import { type ArraySensor, fleetArrays, sensorsIn, sizeOf } from "../state/sensing";
import { theme } from "../state/store";
import type { ArrayTree } from "../wire/schema";
import { Neighbours } from "./neighbours";

const RATE = 6; // per s
const PEERS = "radio.peers";
const CONES = ["#1d6fdc", "#f5c400", "#f26a1b", "#f26a1b", "#9aa4ae"] as const;
type Values = ReadonlyMap<string, ArrayLike<number>>;

export function SensorArrays({ id, fleet, sensor }: { id: number; fleet: string; sensor: string }) {
  const all = fleetArrays.value.get(fleet) ?? [];
  const arrays = all.filter(({ name }) => name.startsWith(`${sensor}.`) && !name.endsWith(".sample_pose"));
  const values = useSignal<Values>(new Map());
  const names = arrays.map(({ name }) => name).join();
  useEffect(() => {
    if (names === "") return;
    const wanted = names.split(",");
    const request = requestColumns(
      "inspector arrays",
      wanted.map((name) => ({ of: id, columns: [name], rate: RATE })),
    );
    const stop = onColumns(request, (_frame, blocks) => {
      const fresh = blocks.filter(({ vehicles }) => vehicles === 1);
      if (fresh.length === 0) return;
      values.value = new Map([
        ...values.peek(),
        ...fresh.map((reading) => [wanted[reading.request] ?? "", reading.values] as const),
      ]);
    });
    return () => {
      stop();
      request.release();
    };
  }, [id, names]);
  if (arrays.length === 0) return null;
  const [known] = sensorsIn(arrays);
  const links = arrays.some(({ name }) => name === PEERS);
  return (
    <>
      {links && <Neighbours fleet={fleet} peers={values.value.get(PEERS)} sinr={values.value.get("radio.peer_sinr")} />}
      {(links ? arrays.filter(({ name }) => !name.startsWith("radio.peer")) : arrays).map((array) => (
        <div key={array.name} class="value-row array" title={`${array.name}: ${array.meaning}`}>
          <span class="name ellipsis">
            {array.name.slice(sensor.length + 1)} <span class="faint number">{array.shape.join(" × ")}</span>
          </span>
          <span class="value word ellipsis">{summaryOf(array, values.value.get(array.name))}</span>
        </div>
      ))}
      {known && <Plan sensor={known} values={values.value} />}
    </>
  );
}

/** `106 of 1,080, 2.4 to 29.8 m`; `30 of 64 rows`. */
export function summaryOf(array: ArrayTree, values: ArrayLike<number> | undefined): string {
  if (values === undefined || values.length !== sizeOf(array)) return "–";
  const wide = array.fields.length;
  if (wide > 0) {
    let rows = 0;
    for (let k = 0; k < values.length; k += wide) if (!Number.isNaN(values[k])) rows += 1;
    return `${formatCount(rows)} of ${formatCount(values.length / wide)} rows`;
  }
  let [count, low, high] = [0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let k = 0; k < values.length; k++) {
    const value = values[k] as number;
    if (!Number.isFinite(value)) continue;
    count += 1;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  const of = `${formatCount(count)} of ${formatCount(values.length)}`;
  return count === 0 ? of : `${of}, ${low.toFixed(1)} to ${high.toFixed(1)} ${formatUnit(array.unit)}`.trim();
}

// plan ---------------------------------------------------------------------------------------------------------------

const SIDE = 176; // px

/** Seen from above, forward is up. */
function Plan({ sensor, values }: { sensor: ArraySensor; values: Values }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const shade = theme.value;
  useEffect(() => {
    const pen = canvas.current?.getContext("2d");
    if (pen) drawPlan(pen, sensor, values);
  }, [sensor, values, shade]);
  const ratio = globalThis.devicePixelRatio || 1;
  const text = `Plan of ${sensor.name}: forward is up, ${sensor.options["range_max"] ?? 0} m to the edge`;
  return (
    <canvas ref={canvas} class="sensor-plan" role="img" aria-label={text} width={SIDE * ratio} height={SIDE * ratio} />
  );
}

function drawPlan(pen: CanvasRenderingContext2D, sensor: ArraySensor, values: Values): void {
  const style = getComputedStyle(pen.canvas);
  const [line, ink, accent] = ["--line-strong", "--text", "--accent"].map((name) => style.getPropertyValue(name));
  const ratio = globalThis.devicePixelRatio || 1;
  const { range_max: reach = 30, fov_deg = 360, yaw_deg = 0 } = sensor.options;
  const scale = (0.48 * SIDE) / reach;
  const at = (x: number, y: number): [number, number] => [SIDE / 2 - scale * y, SIDE / 2 - scale * x];
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, SIDE, SIDE);
  pen.strokeStyle = line ?? "";
  for (const share of [0.5, 1]) {
    pen.beginPath();
    pen.arc(SIDE / 2, SIDE / 2, share * scale * reach, 0, 2 * Math.PI);
    pen.stroke();
  }
  const dot = (x: number, y: number, size: number, colour: string): void => {
    const [px, py] = at(x, y);
    pen.fillStyle = colour;
    pen.beginPath();
    pen.arc(px, py, size, 0, 2 * Math.PI);
    pen.fill();
  };
  const first = sensor.arrays[0];
  const data = values.get(first?.name ?? "") ?? [];
  if (sensor.kind === "cones") {
    const wide = first?.fields.length ?? 1;
    for (let k = 0; k + wide <= data.length; k += wide) {
      dot(data[k] as number, data[k + 1] as number, 2.6, CONES[data[k + 2] as number] ?? CONES[4]);
    }
  } else {
    const beams = first?.shape.at(-1) ?? 1;
    const [start, step] = [-fov_deg / 2 + yaw_deg, fov_deg / Math.max(fov_deg === 360 ? beams : beams - 1, 1)];
    for (let k = 0; k < data.length; k++) {
      const [range, angle] = [data[k] as number, ((start + (k % beams) * step) * Math.PI) / 180];
      if (Number.isFinite(range)) dot(range * Math.cos(angle), range * Math.sin(angle), 1.1, accent ?? "");
    }
  }
  dot(0, 0, 3, ink ?? "");
}
