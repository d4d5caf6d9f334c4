// Every number that the past knows of a vehicle, in parts: a recording has all its columns, the buffer what was wanted
// of it while it was the present.
import { valuesOf } from "../state/columns";
import { orientationOf, positionOf } from "../state/frame";
import type { Sample } from "../state/source";
import { eulerOf } from "./euler";
import { DERIVED } from "./inspected";
import { summarise } from "./summary";

export interface PastValue {
  column: string; // as frames call it
  name: string; // within its part
  value: number;
}

export interface PastPart {
  title: string;
  values: PastValue[];
}

/** What is known at a moment; `columns` are those that the vehicle could have. */
export function pastParts(sample: Sample, row: number, id: number, columns: readonly string[]): PastPart[] {
  const known = new Map([...poseValues(sample, row), ...valuesOf(sample.from, id)]);
  const parts = new Map<string, PastValue[]>();
  for (const column of new Set([...DERIVED, ...known.keys(), ...columns])) {
    const value = known.get(column);
    if (value === undefined) continue; // not wanted at that time
    const [title, name] = placeOf(column);
    parts.set(title, [...(parts.get(title) ?? []), { column, name, value }]);
  }
  return [...parts].map(([title, values]) => ({ title, values }));
}

/** In which part a column stands, and what it is called there. */
function placeOf(column: string): [title: string, name: string] {
  if ((DERIVED as readonly string[]).includes(column)) return ["Motion", column];
  const dot = column.indexOf(".");
  if (dot < 0) return ["State", column];
  const [first, rest] = [column.slice(0, dot), column.slice(dot + 1)];
  return first === "command" ? ["Command", rest] : [`Sensor: ${first}`, rest];
}

/** What the poses alone tell; columns are more exact, and come later. */
function poseValues(sample: Sample, row: number): [string, number][] {
  const [x, y, z] = positionOf(sample.from, row);
  const { roll, pitch, yaw } = eulerOf(orientationOf(sample.from, row));
  const speed = summarise(sample, [row]).speed;
  return [
    ["speed", speed],
    ["heading", yaw],
    ["pitch", pitch],
    ["roll", roll],
    ["x", x],
    ["y", y],
    ["z", z],
  ];
}
