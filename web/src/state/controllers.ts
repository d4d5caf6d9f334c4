// Who controls a vehicle: its autopilot, another client that drives it, or this page. Routes of all of them.
import { computed, signal } from "@preact/signals";
import type { AutopilotTree, PlannedRoute } from "../wire/schema";
import { figures, metadata, roster, routes, source } from "./store";

/** Vehicles with autopilots, by vehicle id. */
export const autopilots = signal<ReadonlyMap<number, AutopilotTree>>(new Map());
let received = "[]";

/** Take the server's answer; the signal changes only with its content. */
export function applyAutopilots(trees: readonly AutopilotTree[]): void {
  const text = JSON.stringify(trees);
  if (text === received) return;
  received = text;
  autopilots.value = new Map(trees.map((tree) => [tree.id, tree]));
}

/** The other client that drives a vehicle; "": none. */
export function otherDriver(id: number): string {
  const driver = figures.value?.drivers?.[String(id)] ?? "";
  return driver === metadata.value?.client ? "" : driver;
}

/** "another window", or the name of a program. */
export function nameOfClient(client: string): string {
  return client.startsWith("web client ") ? "another window" : client;
}

/** Why the server would refuse commands to a vehicle; "": it accepts them. */
export function blockedReason(id: number): string {
  const autopilot = autopilots.value.get(id);
  if (autopilot) return `flown by its autopilot: send commands to MAVLink system ${autopilot.system}`;
  const driver = otherDriver(id);
  return driver === "" ? "" : `driven by ${nameOfClient(driver)}`;
}

/** The first vehicle that refuses commands, and why; "": none. */
export function blockedAmong(ids: Iterable<number>): string {
  if (autopilots.value.size === 0 && Object.keys(figures.value?.drivers ?? {}).length === 0) return "";
  for (const id of ids) {
    const reason = blockedReason(id);
    if (reason !== "") return `${roster.value.nameAt(roster.value.rowOfId(id) ?? -1)} is ${reason}`;
  }
  return "";
}

/** The lines that the shown vehicles follow: those of a recording; else of behaviours and autopilots' missions. */
export const shownRoutes = computed<readonly PlannedRoute[]>(() => {
  if (source.value?.routes) return source.value.routes;
  const missions = [...autopilots.value.values()].filter(
    ({ id, waypoints }) => waypoints.length > 0 && roster.value.rowOfId(id) !== undefined,
  );
  return missions.length === 0 ? routes.value : [...routes.value, ...missions.map(missionRoute)];
});

function missionRoute({ id, waypoints }: AutopilotTree): PlannedRoute {
  const fleet = roster.value.fleetAt(roster.value.rowOfId(id) ?? -1)?.name ?? "";
  return { fleet, ids: [[id, 1]], behaviour: "autopilot", closed: false, points: waypoints };
}
