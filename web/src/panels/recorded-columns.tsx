// Values of a vehicle in a recording or in the buffer.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { requestColumns, valuesOf } from "../state/columns";
import { formatColumn, formatCompass, formatUnit, NONE } from "../state/format";
import { fleetColour } from "../state/palette";
import { eulerOf } from "../state/poses";
import type { Sample } from "../state/source";
import { camera, roster, source } from "../state/store";
import { orientationOf, positionOf } from "../wire/frame";
import { lookAt, setCamera } from "./actions";
import { SensorArrays } from "./arrays";
import { PlotButton } from "./columns";
import { Icon, KindIcon } from "./icons";
import { DERIVED, liveColumns, summarise } from "./inspected";
import { unitOf } from "./plot-list";
import { Wheels, wheelColumns } from "./wheels";
import { Button, Search } from "./widgets";

// values -------------------------------------------------------------------------------------------------------------

interface RecordedValue {
  column: string; // name in frames
  name: string; // name within its section
  value: number;
}

interface RecordedSection {
  title: string;
  values: RecordedValue[];
}

/** Known values of a sample; `columns`: those that the vehicle may have. */
function recordedSections(sample: Sample, row: number, id: number, columns: readonly string[]): RecordedSection[] {
  const known = new Map([...poseValues(sample, row), ...valuesOf(sample.from, id)]);
  const parts = new Map<string, RecordedValue[]>();
  for (const column of new Set([...DERIVED, ...known.keys(), ...columns])) {
    const value = known.get(column);
    if (value === undefined) continue; // not requested at that time
    const [title, name] = placeOf(column);
    parts.set(title, [...(parts.get(title) ?? []), { column, name, value }]);
  }
  const sections = [...parts].map(([title, values]) => ({ title, values }));
  return sections.sort((a, b) => ORDER.indexOf(b.title) - ORDER.indexOf(a.title));
}

const SENSOR = "Sensor: "; // titles of sections
const RADIO = "Radio";
const ORDER: readonly string[] = [RADIO, "Motion"]; // on top, the last one first

/** The section of a column, and its name there. */
function placeOf(column: string): [title: string, name: string] {
  if ((DERIVED as readonly string[]).includes(column)) return ["Motion", column];
  const dot = column.indexOf(".");
  if (dot < 0) return ["State", column];
  const [first, rest] = [column.slice(0, dot), column.slice(dot + 1)];
  if (first === "radio") return [RADIO, rest];
  return first === "command" ? ["Command", rest] : [`${SENSOR}${first}`, rest];
}

/** Values from the poses; columns are more precise, but may arrive later. */
function poseValues(sample: Sample, row: number): [string, number][] {
  const [x, y, z] = positionOf(sample.from, row);
  const { roll, pitch, yaw } = eulerOf(orientationOf(sample.from, row));
  const speed = summarise(sample, [row]).speed;
  return [
    ["speed", speed],
    ["yaw", yaw],
    ["pitch", pitch],
    ["roll", roll],
    ["x", x],
    ["y", y],
    ["z", z],
  ];
}

// panel --------------------------------------------------------------------------------------------------------------

const LOOK_EVERY = 100; // ms
const USUAL = 1; // usual size of a value: unknown for recordings

export function RecordedVehicle({ id }: { id: number }) {
  const parts = useSignal<readonly RecordedSection[]>([]);
  const query = useSignal("");
  const row = roster.value.rowOfId(id) ?? 0;
  useEffect(() => watchRecorded(id, row, (now) => (parts.value = now)), [id, row, roster.value.number, source.value]);
  const fleet = roster.value.fleetAt(row);
  return (
    <div class="panel-body">
      <div class="vehicle">
        <div class="title">
          <span class="tinted" style={{ "--tint": fleetColour(fleet).hex, fontSize: "1.5rem" }}>
            <KindIcon kind={fleet?.kind ?? "agent"} />
          </span>
          <h2 class="grow ellipsis">{roster.value.nameAt(row)}</h2>
          <span class="chip number">id {id}</span>
        </div>
        <p class="faint">
          {fleet?.kind}, {fleet?.model}. {isRecording() ? "Recording" : "Buffer"}: read-only.
        </p>
        <div class="buttons">
          <Button
            look="small"
            icon="chase"
            label="Follow"
            text="Follow"
            pressed={camera.value === "chase"}
            onClick={() => setCamera(camera.value === "chase" ? "orbit" : "chase")}
          />
          <Button look="small" icon="frame" label="Look at the vehicle" text="Look" onClick={() => lookAt(id)} />
        </div>
      </div>
      <div class="columns-head">
        <Search small label="Find a column" value={query.value} onChange={(value) => (query.value = value)} />
      </div>
      {query.value === "" && <RecordedWheels id={id} parts={parts.value} />}
      {parts.value.map((part) => (
        <Part key={part.title} id={id} part={part} query={query.value} />
      ))}
    </div>
  );
}

function RecordedWheels({ id, parts }: { id: number; parts: readonly RecordedSection[] }) {
  const known = new Map(parts.flatMap(({ values }) => values.map(({ column, value }) => [column, value])));
  return (
    <Wheels
      id={id}
      columns={[...known.keys()]}
      read={(name) => known.get(name) ?? Number.NaN}
      unitOf={(name) => unitOf(id, name)}
      meaningOf={() => ""}
    />
  );
}

function fleetOf(id: number): string {
  return roster.value.fleetAt(roster.value.rowOfId(id) ?? -1)?.name ?? "";
}

function isRecording(): boolean {
  return source.value?.kind === "recording";
}

function Part({ id, part, query }: { id: number; part: RecordedSection; query: string }) {
  const wanted = query.trim().toLowerCase();
  const inTable = wheelColumns(wanted === "" ? part.values.map(({ column }) => column) : []);
  const values = part.values.filter(({ column }) => column.toLowerCase().includes(wanted) && !inTable.has(column));
  if (values.length === 0) return null;
  return (
    <details class="section" open>
      <summary>
        <Icon name="chevron" />
        {part.title}
        <span class="count number">{values.length}</span>
      </summary>
      {values.map((value) => (
        <Row key={value.column} id={id} {...value} />
      ))}
      {isRecording() && (part.title === RADIO || part.title.startsWith(SENSOR)) && (
        <SensorArrays
          id={id}
          fleet={fleetOf(id)}
          sensor={part.title === RADIO ? "radio" : part.title.slice(SENSOR.length)}
        />
      )}
    </details>
  );
}

function Row({ id, column, name, value }: RecordedValue & { id: number }) {
  const none = formatColumn(column, value) === NONE;
  const unit = none ? "" : formatUnit(unitOf(id, column));
  return (
    <div class="value-row" title={`${column}\n${none ? NONE : value} ${unit}`.trim()}>
      <span class="name ellipsis">
        {name} {column === "yaw" && <span class="faint">{formatCompass(value)}</span>}
      </span>
      <span class="value">{formatColumn(column, value, USUAL)}</span>
      <span class="unit ellipsis">{unit}</span>
      <PlotButton id={id} column={column} unit={unitOf(id, column)} />
    </div>
  );
}

/** Request all columns and read them at 10 Hz; return a stop function. */
function watchRecorded(id: number, row: number, show: (parts: RecordedSection[]) => void): () => void {
  const columns = liveColumns(id);
  const request = requestColumns("inspector", [{ of: id, columns }]);
  const look = () => {
    const sample = source.peek()?.sample(performance.now());
    if (sample && row < sample.from.count) show(recordedSections(sample, row, id, columns));
  };
  look();
  const timer = setInterval(look, LOOK_EVERY);
  return () => {
    clearInterval(timer);
    request.release();
  };
}
