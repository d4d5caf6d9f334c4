// Bodies of cars by preset, of other vehicles, and of cones and crates. Loaded when there are any.
import { type CarPlan, type CarStyle, carPlan, type Dimensions } from "../../state/appearance";
import { aircraftBlur, detailedAircraft, simpleAircraft } from "./aircraft";
import { CONE_PAINTS, coneShape, crateShape, type PropSize } from "./cone";
import type { Shape } from "./index";
import { detailedBuggy, detailedSingleSeater, simpleBuggy, simpleSingleSeater } from "./open-wheel";
import { raceCar, saloon, simpleRoadCar, sportsCar } from "./road-cars";
import { detailedRover, simpleRover } from "./rover";

const CARS: Readonly<Record<CarStyle, (plan: CarPlan) => Shape>> = {
  sedan: (plan) => ({ detailed: () => saloon(plan), simple: () => simpleRoadCar(plan, 1.44) }),
  sports: (plan) => ({ detailed: () => sportsCar(plan), simple: () => simpleRoadCar(plan, 1.28) }),
  race: (plan) => ({ detailed: () => raceCar(plan), simple: () => simpleRoadCar(plan, 1.15) }),
  formula: (plan) => ({ detailed: () => detailedSingleSeater(plan, true), simple: () => simpleSingleSeater(plan) }),
  driverless: (plan) => ({ detailed: () => detailedSingleSeater(plan, false), simple: () => simpleSingleSeater(plan) }),
  buggy: (plan) => ({ detailed: () => detailedBuggy(plan), simple: () => simpleBuggy(plan) }),
};

const CONE: PropSize = { length: 0.36, width: 0.36, height: 0.75, balance: 0.25 };
const CRATE: PropSize = { length: 0.6, width: 0.6, height: 0.6, balance: 0.5 };

const OTHERS: Readonly<Record<string, Shape>> = {
  rover: { detailed: detailedRover, simple: simpleRover },
  aircraft: { detailed: detailedAircraft, simple: simpleAircraft, blur: aircraftBlur },
};

export function shapeOf(kind: string, style: string, size: Dimensions): Shape {
  const other = OTHERS[kind];
  if (other) return other;
  if (kind === "cone") {
    const [cone, paint] = [{ ...CONE, ...size }, CONE_PAINTS[style]];
    return { detailed: () => coneShape(cone, 16, paint), simple: () => coneShape(cone, 6, paint) };
  }
  if (kind === "crate") {
    const crate = () => crateShape({ ...CRATE, ...size });
    return { detailed: crate, simple: crate };
  }
  return CARS[style as CarStyle](carPlan(style as CarStyle, size));
}
