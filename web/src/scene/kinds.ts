// Sizes of the kinds of vehicles: what level of detail, picking, cameras and rings need to know.
export interface KindTraits {
  size: number; // m: longest side
  height: number; // m: of its middle above its position
  wheel: number; // m: radius of its wheels; 0: none
  wheelbase: number; // m
  tilt: number; // rad: how far its camera looks up
  eye: readonly [number, number, number]; // m: where its camera is, body axes
  flies: boolean;
}

const KINDS: Record<string, KindTraits> = {
  car: { size: 4.5, height: 0.7, wheel: 0.34, wheelbase: 2.7, tilt: -0.03, eye: [0.35, 0, 1.22], flies: false },
  quad: { size: 0.8, height: 0.05, wheel: 0, wheelbase: 0, tilt: 0.35, eye: [0.16, 0, 0.03], flies: true },
  rover: { size: 1, height: 0.35, wheel: 0.16, wheelbase: 0.62, tilt: 0, eye: [0.36, 0, 0.82], flies: false },
  aircraft: { size: 2.5, height: 0, wheel: 0, wheelbase: 0, tilt: 0.05, eye: [0.85, 0, 0.12], flies: true },
  agent: { size: 1, height: 0, wheel: 0, wheelbase: 0, tilt: 0, eye: [0.5, 0, 0.15], flies: true },
};
const OTHER = KINDS["agent"] as KindTraits;

export function traitsOf(kind: string): KindTraits {
  return KINDS[kind] ?? OTHER;
}
