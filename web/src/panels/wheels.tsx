// Forces and slips of the wheels of a car: friction circles, and a table of the columns per wheel and per axle.
import { formatUnit } from "../state/format";
import { Icon } from "./icons";
import { addSeries, isPlotted, removeSeries } from "./plot-list";
import { Button } from "./widgets";

const WHEELS = ["fl", "fr", "rl", "rr"] as const;
const AXLES = ["front", "rear"] as const;
const PLACES: Readonly<Record<string, string>> = {
  fl: "front left",
  fr: "front right",
  rl: "rear left",
  rr: "rear right",
};

/** Quantities of which a vehicle has a column for each of these ends, in the order of its columns. */
export function quantitiesOf(columns: readonly string[], ends: readonly string[]): string[] {
  const known = new Set(columns);
  const first = `_${ends[0]}`;
  const names = columns.filter((name) => name.endsWith(first)).map((name) => name.slice(0, -first.length));
  return names.filter((name) => ends.every((end) => known.has(`${name}_${end}`)));
}

/** The columns that the tables have. */
export function wheelColumns(columns: readonly string[]): ReadonlySet<string> {
  const each = (ends: readonly string[]) => {
    return quantitiesOf(columns, ends).flatMap((name) => ends.map((end) => `${name}_${end}`));
  };
  return new Set([...each(WHEELS), ...each(AXLES)]);
}

export interface WheelsProps {
  id: number;
  columns: readonly string[];
  read(column: string): number;
  unitOf(column: string): string;
  meaningOf(column: string): string;
}

export function Wheels(props: WheelsProps) {
  const { columns } = props;
  const [wheels, axles] = [quantitiesOf(columns, WHEELS), quantitiesOf(columns, AXLES)];
  if (wheels.length + axles.length === 0) return null;
  return (
    <details class="section wheels" open>
      <summary>
        <Icon name="chevron" />
        Wheels
        <span class="count number">{4 * wheels.length + 2 * axles.length}</span>
      </summary>
      <Circles {...props} />
      {wheels.length > 0 && <Table {...props} ends={WHEELS} quantities={wheels} />}
      {axles.length > 0 && <Table {...props} ends={AXLES} quantities={axles} />}
    </details>
  );
}

// friction circles ---------------------------------------------------------------------------------------------------

interface Wheel {
  along: number; // force, N
  left: number;
  most: number; // the largest force at this load, N
  slip: number; // slips over those of the largest force; above 1 it slides
  steer: number; // rad
}

/** Force and slip of a wheel against its peaks; null without the columns. */
export function wheelOf(read: WheelsProps["read"], columns: readonly string[], end: string): Wheel | null {
  const needed = ["force_x", "force_y", "load", "mu_peak", "slip_angle", "alpha_peak", "slip_ratio", "kappa_peak"];
  if (!needed.every((name) => columns.includes(`${name}_${end}`))) return null;
  const [along, left, load, mu, angle, anglePeak, ratio, ratioPeak] = needed.map((name) => read(`${name}_${end}`)) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const steer = end.startsWith("f") && columns.includes("steer") ? read("steer") : 0;
  const slip = Math.hypot(angle / anglePeak, ratio / ratioPeak);
  return { along, left, most: mu * load, slip, steer: Number.isFinite(steer) ? steer : 0 };
}

const RADIUS = 34; // of the largest circle
const CENTRES: Readonly<Record<string, readonly [number, number]>> = {
  fl: [48, 42],
  fr: [152, 42],
  rl: [48, 124],
  rr: [152, 124],
};

function Circles({ read, columns }: WheelsProps) {
  const readings = WHEELS.map((end) => wheelOf(read, columns, end));
  if (readings.some((wheel) => wheel === null)) return null;
  const wheels = readings as Wheel[];
  const largest = Math.max(...wheels.map(({ most }) => most || 0), 1);
  return (
    <svg class="circles" viewBox="-30 0 260 166" role="img" aria-label="Forces in friction circles">
      <path class="axles" d="M48 42H152M48 124H152M100 42V124" />
      {WHEELS.map((end, k) => (
        <Circle key={end} end={end} wheel={wheels[k] as Wheel} scale={RADIUS / largest} />
      ))}
    </svg>
  );
}

function Circle({ end, wheel, scale }: { end: (typeof WHEELS)[number]; wheel: Wheel; scale: number }) {
  const { along, left, most, slip, steer } = wheel;
  const [x, y] = CENTRES[end] as readonly [number, number];
  const used = most > 0 ? Math.hypot(along, left) / most : 0;
  const state = slip > 1 ? "slides" : slip > 0.8 ? "near" : "";
  const text = `${PLACES[end]}: ${percent(used)} of its grip${slip > 1 ? ", sliding" : ""}`;
  const turn = (-steer * 180) / Math.PI;
  return (
    <g class={`wheel ${state}`} transform={`translate(${x} ${y}) rotate(${turn.toFixed(1)})`}>
      <title>{text}</title>
      <circle r={Math.max(scale * (most || 0), 1).toFixed(1)} />
      <rect x="-4.5" y="-11" width="9" height="22" rx="2.5" />
      <line x2={short(-scale * left)} y2={short(-scale * along)} />
      <circle class="tip" cx={short(-scale * left)} cy={short(-scale * along)} r="2.6" />
      <text
        x={end.endsWith("l") ? -RADIUS - 3 : RADIUS + 3}
        y="4"
        text-anchor={end.endsWith("l") ? "end" : "start"}
        transform={`rotate(${(-turn).toFixed(1)})`}>
        {percent(used)}
      </text>
    </g>
  );
}

function short(value: number): string {
  return (Number.isFinite(value) ? value : 0).toFixed(1);
}

function percent(share: number): string {
  return Number.isFinite(share) ? `${Math.round(100 * share)} %` : "–";
}

// tables -------------------------------------------------------------------------------------------------------------

interface TableProps extends WheelsProps {
  ends: readonly string[];
  quantities: readonly string[];
}

function Table({ id, ends, quantities, read, unitOf, meaningOf }: TableProps) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{ends.length === 2 ? "axle" : "wheel"}</th>
          {ends.map((end) => (
            <th key={end} scope="col" title={PLACES[end] ?? end}>
              {end.length === 2 ? end.toUpperCase() : end}
            </th>
          ))}
          <th />
          <th />
        </tr>
      </thead>
      <tbody>
        {quantities.map((name) => {
          const columns = ends.map((end) => `${name}_${end}`);
          const unit = unitOf(columns[0] as string);
          return (
            <tr key={name} title={meaningOf(columns[0] as string)}>
              <th scope="row" class="ellipsis">
                {name}
              </th>
              {columns.map((column) => (
                <td key={column} class={sliding(column, read) ? "slides" : ""}>
                  {brief(read(column))}
                </td>
              ))}
              <td class="unit">{formatUnit(unit)}</td>
              <td>
                <PlotAll id={id} name={name} columns={columns} unit={unit} />
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

const PEAKS: Readonly<Record<string, string>> = { slip_angle: "alpha_peak", slip_ratio: "kappa_peak" };

/** Whether a slip is beyond that of the largest force. */
function sliding(column: string, read: WheelsProps["read"]): boolean {
  const [name, end] = [column.slice(0, column.lastIndexOf("_")), column.slice(column.lastIndexOf("_") + 1)];
  const peak = PEAKS[name];
  return peak !== undefined && Math.abs(read(column)) > read(`${peak}_${end}`);
}

/** Three or four digits: they have little space. */
export function brief(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  const text = value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
  return Number(text) === 0 ? "0" : text.replace("-", "−");
}

function PlotAll({ id, name, columns, unit }: { id: number; name: string; columns: readonly string[]; unit: string }) {
  const on = columns.every((column) => isPlotted(id, column));
  const toggle = () => {
    for (const column of columns) {
      if (on) removeSeries(id, column);
      else addSeries(id, column, unit);
    }
  };
  return (
    <Button
      look="bare small"
      icon="plot"
      label={`Plot ${name} of all ${columns.length}`}
      pressed={on}
      onClick={toggle}
    />
  );
}
