// Values of a vehicle by section, with unit and meaning, and sliders for its inputs.

import { useComputed, useSignal } from "@preact/signals";
import { driving } from "../control/driving";
import { blockedReason } from "../state/controllers";
import { formatColumn, formatCompass, formatUnit, formatValue, NONE } from "../state/format";
import type { InspectedTree, ValueTree } from "../wire/schema";
import { attempt } from "./actions";
import { SensorArrays } from "./arrays";
import { Icon } from "./icons";
import { columnName, currentValue, liveColumns, type Section } from "./inspected";
import { addSeries, isPlotted, removeSeries } from "./plot-list";
import { isExternal } from "./vehicle-card";
import { Wheels, wheelColumns } from "./wheels";
import { Button, Search } from "./widgets";

function CommandInputs({ tree }: { tree: InspectedTree }) {
  if (tree.command.length === 0 || driving.value?.id === tree.id) return null;
  return (
    <details class="section" open>
      <summary>
        <Icon name="chevron" />
        Commands
      </summary>
      {tree.command.map((input) => (
        <InputRow key={input.name} id={tree.id} input={input} />
      ))}
    </details>
  );
}

function InputRow({ id, input }: { id: number; input: ValueTree }) {
  const send = (value: number) => void attempt(input.name, "set_control", { vehicle_id: id, [input.name]: value });
  return (
    <div class="input-row" title={input.meaning}>
      <span class="ellipsis faint">{input.name}</span>
      {input.choices.length > 0 ? <Choice input={input} onChange={send} /> : <Slider input={input} onChange={send} />}
    </div>
  );
}

interface InputProps {
  input: ValueTree;
  onChange(value: number): void;
}

function Choice({ input, onChange }: InputProps) {
  return (
    <select
      class="select small"
      aria-label={input.name}
      value={String(input.value ?? 0)}
      onChange={(event) => onChange(Number(event.currentTarget.value))}>
      {input.choices.map((choice, at) => (
        <option key={choice} value={String(at)}>
          {choice}
        </option>
      ))}
    </select>
  );
}

function Slider({ input, onChange }: InputProps) {
  const held = useSignal<number | null>(null); // the server's value does not move it while it is dragged
  const value = held.value ?? input.value ?? 0;
  const [low, high] = [input.low ?? -1, input.high ?? 1];
  const bounded = Number.isFinite(low) && Number.isFinite(high) && high > low;
  const move = (next: number) => {
    if (Number.isNaN(next)) return;
    held.value = next;
    onChange(next);
  };
  return (
    <>
      <input
        type="range"
        aria-label={`${input.name}, slider`}
        min={bounded ? low : -1}
        max={bounded ? high : 1}
        step="any"
        value={value}
        onInput={(event) => move(event.currentTarget.valueAsNumber)}
        onChange={() => (held.value = null)}
      />
      <input
        class="field small number"
        type="number"
        step="any"
        aria-label={input.name}
        value={formatValue(value, usualSize(input)).replaceAll("−", "-")}
        onChange={(event) => {
          move(event.currentTarget.valueAsNumber);
          held.value = null;
        }}
      />
      <span class="unit faint">{formatUnit(input.unit)}</span>
    </>
  );
}

// columns ------------------------------------------------------------------------------------------------------------

interface Part {
  title: string;
  section: Section;
  values: readonly ValueTree[];
}

export function InspectorColumns({ tree }: { tree: InspectedTree }) {
  const query = useSignal("");
  const inTable = query.value === "" ? wheelColumns(tree.columns.map(({ name }) => name)) : NO_NAMES;
  const parts = partsOf(tree).map((part) => {
    const others = part.section === "state" ? part.values.filter(({ name }) => !inTable.has(name)) : part.values;
    return { ...part, values: matching(others, query.value) };
  });
  const shown = parts.filter(({ values }) => values.length > 0);
  const live = new Set(liveColumns(tree.id));
  return (
    <>
      <div class="columns-head">
        <Search small label="Find a column" value={query.value} onChange={(value) => (query.value = value)} />
      </div>
      {isExternal(tree) && blockedReason(tree.id) === "" && query.value === "" && <CommandInputs tree={tree} />}
      {inTable.size > 0 && <LiveWheels tree={tree} />}
      {shown.map((part) => (
        <SectionOf
          key={part.title}
          part={part}
          tree={tree}
          live={live}
          open={part.section !== "parameters" || query.value !== ""}
        />
      ))}
      {shown.length === 0 && <p class="empty">No column matches “{query.value}”.</p>}
    </>
  );
}

const NO_NAMES: ReadonlySet<string> = new Set();

function LiveWheels({ tree }: { tree: InspectedTree }) {
  const known = new Map(tree.columns.map((value) => [value.name, value]));
  return (
    <Wheels
      id={tree.id}
      columns={[...known.keys()]}
      read={(name) => {
        const value = known.get(name); // not every model has the peaks of each slip
        return (value && currentValue("state", value)) ?? Number.NaN;
      }}
      unitOf={(name) => known.get(name)?.unit ?? ""}
      meaningOf={(name) => known.get(name)?.meaning ?? ""}
    />
  );
}

/** Derived values of every vehicle. */
const MOTION: readonly ValueTree[] = [
  motion("speed", "m/s", "speed over ground and vertical"),
  motion("yaw", "rad", "heading, counter-clockwise from east, −π to π; beside it the compass heading"),
  motion("yaw_rate", "rad/s", "rate of turn about the up axis, + left"),
  motion("pitch", "rad", "pitch, nose down positive"),
  motion("roll", "rad", "roll, right side down positive"),
];

function motion(name: string, unit: string, meaning: string): ValueTree {
  return { name, unit, meaning, low: null, high: null, choices: [], value: null };
}

/** The parts of a vehicle: columns under the names that plots use; state of the model that frames do not carry. */
export function partsOf(tree: InspectedTree): Part[] {
  const sensors = Object.entries(tree.sensors).map(([sensor, values]) => {
    return { title: sensor === "radio" ? "Radio" : `Sensor: ${sensor}`, section: { sensor }, values };
  });
  const links = sensors.filter(({ title }) => title === "Radio");
  const plotted = new Set([...liveColumns(tree.id), ...tree.columns.map(({ name }) => name)]);
  const motion = new Set(MOTION.map(({ name }) => name)).add("heading"); // earlier name of the yaw
  return [
    { title: "Motion", section: "state", values: MOTION },
    ...links,
    { title: "State", section: "state", values: tree.columns.filter(({ name }) => !motion.has(name)) },
    {
      title: "Internal state, without plots",
      section: "state",
      values: tree.state.filter(({ name }) => !plotted.has(name)),
    },
    { title: "Command", section: "command", values: tree.command },
    ...sensors.filter((part) => !links.includes(part)),
    { title: "Parameters", section: "parameters", values: tree.parameters },
  ];
}

function matching(values: readonly ValueTree[], query: string): readonly ValueTree[] {
  const wanted = query.trim().toLowerCase();
  if (wanted === "") return values;
  return values.filter(({ name, meaning }) => `${name} ${meaning}`.toLowerCase().includes(wanted));
}

interface SectionProps {
  part: Part;
  tree: InspectedTree;
  live: ReadonlySet<string>;
  open: boolean;
}

function SectionOf({ part, tree, live, open }: SectionProps) {
  return (
    <details class="section" open={open}>
      <summary>
        <Icon name="chevron" />
        {part.title}
        <span class="count number">{part.values.length}</span>
      </summary>
      {part.values.map((value) => {
        const column = columnName(part.section, value.name);
        const carried = live.has(column) ? column : null;
        return <ValueRow key={column} section={part.section} value={value} id={tree.id} column={carried} />;
      })}
      {typeof part.section === "object" && (
        <SensorArrays id={tree.id} sensor={part.section.sensor} fleet={tree.fleet} />
      )}
    </details>
  );
}

interface RowProps {
  section: Section;
  value: ValueTree;
  id: number;
  column: string | null; // name of the column in frames; null: not in frames
}

function ValueRow({ section, value, id, column }: RowProps) {
  const text = useSignal(value);
  text.value = value;
  const usual = section === "parameters" ? 0 : usualSize(value); // parameters may be small
  const now = useComputed(() => currentValue(section, text.value));
  const shown = useComputed(() => wordOf(text.value, columnName(section, text.value.name), now.value, usual));
  const unit = useComputed(() => (shown.value === NONE ? "" : formatUnit(text.value.unit)));
  const compass = useComputed(() => formatCompass(now.value ?? Number.NaN));
  const about = value.meaning === "" ? value.name : `${value.name}: ${value.meaning}`;
  const exact = useComputed(() => (shown.value === NONE ? NONE : (now.value ?? "not a number")));
  const title = useComputed(() => `${about}\n${exact.value} ${unit.value}`.trim());
  return (
    <div class="value-row" title={title}>
      <span class="name ellipsis">
        {value.name} {value.name === "yaw" && <span class="faint">{compass}</span>}
      </span>
      <span class={`value ${value.choices.length > 0 ? "word" : ""}`}>{shown}</span>
      <span class="unit ellipsis">{unit}</span>
      {column === null ? <span /> : <PlotButton id={id} column={column} unit={value.unit} />}
    </div>
  );
}

export function PlotButton({ id, column, unit }: { id: number; column: string; unit: string }) {
  const on = isPlotted(id, column);
  const toggle = () => (on ? removeSeries(id, column) : addSeries(id, column, unit));
  return <Button look="bare small" icon="plot" label={`Plot ${column}`} pressed={on} onClick={toggle} />;
}

/** A choice by name, any other value as a number. */
function wordOf({ choices }: ValueTree, column: string, value: number | null, usual: number): string {
  const choice = value === null ? undefined : choices[value];
  return choice ?? formatColumn(column, value, usual);
}

/** The usual size of a value, or 1 if unknown. */
function usualSize({ low, high }: ValueTree): number {
  const size = Math.max(Math.abs(low ?? 0), Math.abs(high ?? 0));
  return size > 0 && Number.isFinite(size) ? size : 1;
}
