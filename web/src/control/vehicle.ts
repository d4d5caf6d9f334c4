// What is known about one vehicle before somebody drives it, asked from the server once.
import { call } from "../net/link";
import type { InspectedTree, ValueTree } from "../net/schema";
import { roster } from "../state/store";
import type { Known } from "./kinds/driver";

export interface Vehicle {
  id: number;
  name: string;
  kind: string;
  drivenBy: string | null; // a behaviour's name; null: it takes commands
  known: Known;
}

export async function askVehicle(id: number): Promise<Vehicle> {
  const row = roster.value.rowOfId(id);
  if (row === undefined) throw new Error("the vehicle is no longer there");
  return vehicleFrom(await call("inspect", { vehicle: roster.value.nameAt(row) }));
}

export function vehicleFrom(tree: InspectedTree): Vehicle {
  const { id, name, kind } = tree;
  const drivenBy = tree.driven_by === "external" ? null : tree.driven_by;
  const height = valuesOf(tree.state).get("z") ?? 0;
  const known = {
    parameters: valuesOf(tree.parameters),
    command: valuesOf(tree.command),
    limits: limitsOf(tree.command),
    height,
  };
  return { id, name, kind, drivenBy, known };
}

function valuesOf(values: readonly ValueTree[]): Map<string, number> {
  const known = values.filter((one): one is ValueTree & { value: number } => typeof one.value === "number");
  return new Map(known.map(({ name, value }) => [name, value]));
}

function limitsOf(inputs: readonly ValueTree[]): Map<string, readonly [number, number]> {
  return new Map(inputs.map(({ name, low, high }) => [name, [low ?? -Infinity, high ?? Infinity] as const]));
}
