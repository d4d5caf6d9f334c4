// Gathers what the pilot's display shows about the vehicle that is followed.
import type { Sample } from "../state/source";
import * as store from "../state/store";
import type { Crowd } from "./crowd";
import { traitsOf } from "./kinds";
import { drivenAs } from "./motion";
import { drawOsd } from "./osd";
import type { Overlay } from "./overlay";
import type { Precise } from "./precise";
import { cssOf } from "./skin";
import type { ViewState } from "./viewState";

export function showOsd(overlay: Overlay, view: ViewState, crowd: Crowd, precise: Precise, sample: Sample): void {
  const id = store.focus.peek();
  const row = id === null ? undefined : crowd.roster?.rowOfId(id);
  const fleet = row === undefined ? undefined : crowd.roster?.fleetAt(row);
  const pen = overlay.pen();
  if (!pen || row === undefined || !fleet) return;
  const traits = traitsOf(fleet.kind);
  const gauge = (name: Parameters<Precise["gauge"]>[1]): number => precise.gauge(sample.to, name);
  const pose = precise.pose(sample, row);
  const told = gauge("speed");
  const { unit } = overlay;
  pen.save();
  pen.scale(unit, unit);
  drawOsd(pen, view.size.width / unit, view.size.height / unit, {
    name: crowd.roster?.nameAt(row) ?? "",
    speed: Number.isFinite(told) ? told : Math.abs(drivenAs(sample, row, traits).speed),
    altitude: pose.position[2],
    climb: traits.flies ? gauge("vz") : Number.NaN,
    voltage: gauge("voltage"),
    charge: gauge("charge"),
    armed: gauge("command.armed"),
    mode: modeName(fleet.name, gauge("command.mode")),
    throttle: gauge("command.throttle"),
    attitude: pose.quaternion,
    tilt: traits.tilt,
    focal: view.focal / unit,
    lit: view.skin.theme === "dark" ? "#e8f4ea" : "#ffffff",
    warn: "#ffb03b",
    bad: cssOf(view.skin.red),
  });
  pen.restore();
}

/** The word for a mode's number, as the server describes the column. */
function modeName(fleet: string, mode: number): string {
  if (!Number.isFinite(mode)) return "";
  const about = store.metadata.peek()?.fleets.find(({ name }) => name === fleet);
  const columns = [...(about?.inputs ?? []), ...(about?.columns ?? [])];
  const column = columns.find(({ name, choices }) => (name === "mode" || name === "command.mode") &&
    choices.length > 0);
  return column?.choices[Math.round(mode)] ?? `mode ${Math.round(mode)}`;
}
