// What fleets look like: preset and dimensions from the server.
import { computed } from "@preact/signals";
import { metadata, source } from "./store";

/** Parameters in m, as the server names them. */
export type Dimensions = Readonly<Record<string, number>>;

export interface Appearance {
  preset: string | null;
  dimensions: Dimensions;
}

/** By fleet; empty for a recording of an earlier version opened in the page. */
export const appearances = computed<ReadonlyMap<string, Appearance>>(() => {
  const shown = source.value;
  if (shown?.routes !== undefined) return shown.looks ?? new Map();
  const about = metadata.value;
  const chosen = presets(about?.scenario["vehicles"]);
  const entries = about?.fleets.map(({ name, preset, dimensions }): [string, Appearance] => {
    return [name, { preset: preset ?? chosen.get(name) ?? null, dimensions: dimensions ?? {} }];
  });
  return new Map(entries ?? []);
});

/** Presets in a scenario, for recordings that the server plays. */
function presets(vehicles: unknown): Map<string, string> {
  const presets = new Map<string, string>();
  for (const entry of Array.isArray(vehicles) ? (vehicles as Record<string, unknown>[]) : []) {
    if (typeof entry["name"] === "string" && typeof entry["preset"] === "string") {
      presets.set(entry["name"], entry["preset"]);
    }
  }
  return presets;
}

export const CAR_STYLES = ["sedan", "sports", "race", "formula", "driverless", "buggy"] as const;
export type CarStyle = (typeof CAR_STYLES)[number];

/** The preset if it is known; otherwise by its wheelbase: a saloon, a single-seater or a buggy. */
export function carStyle(look: Appearance | undefined): CarStyle {
  const style = CAR_STYLES.find((known) => known === look?.preset);
  if (style) return style;
  const { cg_to_front: front, cg_to_rear: rear } = look?.dimensions ?? {};
  const wheelbase = front !== undefined && rear !== undefined ? front + rear : 2.7;
  return wheelbase < 1 ? "buggy" : wheelbase < 1.9 ? "formula" : "sedan";
}

/** Dimensions of a car, m: axles from its position, half distances of the wheels. */
export interface CarPlan {
  front: number;
  rear: number;
  trackFront: number; // from the middle
  trackRear: number;
  wheel: number;
}

const USUAL: Readonly<Record<CarStyle, CarPlan>> = {
  sedan: { front: 1.2, rear: 1.5, trackFront: 0.775, trackRear: 0.775, wheel: 0.32 },
  sports: { front: 1.2, rear: 1.35, trackFront: 0.79, trackRear: 0.78, wheel: 0.33 },
  race: { front: 1.18, rear: 1.47, trackFront: 0.825, trackRear: 0.8, wheel: 0.34 },
  formula: { front: 0.75, rear: 0.8, trackFront: 0.6, trackRear: 0.575, wheel: 0.26 },
  driverless: { front: 0.72, rear: 0.72, trackFront: 0.575, trackRear: 0.575, wheel: 0.206 },
  buggy: { front: 0.3, rear: 0.3, trackFront: 0.225, trackRear: 0.225, wheel: 0.08 },
};

/** The dimensions that are known; the others are usual for the style. */
export function carPlan(style: CarStyle, size: Dimensions): CarPlan {
  const usual = USUAL[style];
  return {
    front: size["cg_to_front"] ?? usual.front,
    rear: size["cg_to_rear"] ?? usual.rear,
    trackFront: (size["track_front"] ?? 2 * usual.trackFront) / 2,
    trackRear: (size["track_rear"] ?? 2 * usual.trackRear) / 2,
    wheel: size["wheel_radius"] ?? usual.wheel,
  };
}
