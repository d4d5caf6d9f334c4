// Which way of driving belongs to which kind of vehicle.
import { AgentDriver } from "./agent";
import { AircraftDriver } from "./aircraft";
import { CarDriver } from "./car";
import type { Driver, Known } from "./driver";
import { QuadDriver } from "./quad";
import { RoverDriver } from "./rover";

const DRIVERS: Readonly<Record<string, new (known: Known) => Driver>> = {
  car: CarDriver,
  rover: RoverDriver,
  quad: QuadDriver,
  aircraft: AircraftDriver,
  agent: AgentDriver,
};

/** A driver, or null where nobody has taught the page this kind. */
export function driverFor(kind: string, known: Known): Driver | null {
  const Made = Object.hasOwn(DRIVERS, kind) ? DRIVERS[kind] : undefined;
  return Made ? new Made(known) : null;
}
