// Smooth axes: keys that ramp up and fall back, sticks with a dead zone. Pure numbers, no events.

/** Move towards a target by at most `rate` per second. */
export function approach(value: number, target: number, rate: number, dt: number): number {
  const step = rate * dt;
  return Math.abs(target - value) <= step ? target : value + Math.sign(target - value) * step;
}

/** A key's axis: grows at one rate while held, falls back to 0 at another; the far side is left at the faster one. */
export function ramp(value: number, target: number, rise: number, fall: number, dt: number): number {
  const away = Math.abs(target) > Math.abs(value) && target * value >= 0;
  return approach(value, target, away ? rise : Math.max(rise, fall), dt);
}

/** A stick without its wobbly middle: 0 inside the zone, then from 0 to 1 over what is left. */
export function deadZone(value: number, zone = 0.1): number {
  const size = Math.abs(value);
  if (!(size > zone)) return 0; // NaN too
  return Math.sign(value) * Math.min(1, (size - zone) / (1 - zone));
}

export function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

/** Of two hands on one axis the one that wants more. */
export function stronger(one: number, other: number): number {
  return Math.abs(one) >= Math.abs(other) ? one : other;
}

/** -1, 0 or 1 from two opposite keys. */
export function opposed(positive: boolean, negative: boolean): number {
  return Number(positive) - Number(negative);
}
