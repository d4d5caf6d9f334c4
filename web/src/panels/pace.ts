// The pace slider: equal ways on it are equal factors, from a tenth to a hundred times real time.
export const SLOWEST = 0.1;
export const FASTEST = 100;
export const VALID = `${SLOWEST} to ${FASTEST}, or max (0) for as fast as possible`;
export const STEPS = 300; // a hundred steps for each factor of ten
const DECADES = Math.log10(FASTEST / SLOWEST);

/** The place on the slider (0 to STEPS) of a pace. */
export function placeOf(pace: number): number {
  const clamped = Math.min(Math.max(pace, SLOWEST), FASTEST);
  return Math.round((Math.log10(clamped / SLOWEST) / DECADES) * STEPS);
}

/** The pace at a place, rounded to two figures; it sticks to 1 a little. */
export function paceAt(place: number): number {
  const exact = SLOWEST * 10 ** ((place / STEPS) * DECADES);
  if (Math.abs(Math.log10(exact)) < 0.02) return 1;
  return Number(exact.toPrecision(2));
}

/** A pace as typed: `2`, `0.5x`, `1,5`; `max` and 0 mean as fast as possible. null: it means nothing. */
export function parsePace(text: string): number | null {
  const typed = text.trim().toLowerCase();
  if (typed === "max") return 0;
  const word = typed.replace(/[x×]$/, "").replace(",", ".");
  if (word === "" || !/^\d*\.?\d+$|^\d+\.$/.test(word)) return null;
  const pace = Number(word);
  return pace === 0 || (pace >= SLOWEST && pace <= FASTEST) ? pace : null;
}

export function formatPace(pace: number): string {
  return pace === 0 ? "max" : `${Number(pace.toPrecision(3))}×`;
}
