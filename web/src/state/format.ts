// Counts as people read them: one way of writing thousands, for notices and panels alike.

/** 12345678: `12 345 678`, with narrow gaps. */
export function formatCount(count: number): string {
  return Number.isFinite(count) ? String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, "\u202f") : "–";
}

/** `1 vehicle`, `1 200 vehicles`. */
export function vehiclesOf(count: number): string {
  return `${formatCount(count)} ${count === 1 ? "vehicle" : "vehicles"}`;
}
