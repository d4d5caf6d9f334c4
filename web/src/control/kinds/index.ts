// Drivers by vehicle kind.

import { AircraftDriver } from "./aircraft";
import { CarDriver } from "./car";
import type { Driver, VehicleInfo } from "./driver";
import { PointDriver } from "./point";
import { QuadDriver } from "./quad";
import { RoverDriver } from "./rover";

const DRIVERS: Readonly<Record<string, new (known: VehicleInfo) => Driver>> = {
  car: CarDriver,
  rover: RoverDriver,
  quad: QuadDriver,
  aircraft: AircraftDriver,
  agent: PointDriver,
};

/** The driver of a kind; null if the page has none. */
export function driverFor(kind: string, known: VehicleInfo): Driver | null {
  const Made = Object.hasOwn(DRIVERS, kind) ? DRIVERS[kind] : undefined;
  return Made ? new Made(known) : null;
}
