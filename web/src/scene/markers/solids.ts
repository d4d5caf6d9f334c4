// Unit solids for markers, as triangles: corner after corner, counter-clockwise seen from outside.
type P = readonly [number, number, number];

export type Solid = readonly P[];

const ROUND = 16;

function ring(radius: number, z: number, sides = ROUND): P[] {
  return Array.from({ length: sides }, (_, k) => {
    const angle = (2 * Math.PI * k) / sides;
    return [radius * Math.cos(angle), radius * Math.sin(angle), z];
  });
}

function walls(low: readonly P[], top: readonly P[]): P[] {
  return low.flatMap((a, k) => {
    const next = (k + 1) % low.length;
    const [b, c, d] = [low[next] as P, top[next] as P, top[k] as P];
    return [a, b, c, a, c, d];
  });
}

function lid(corners: readonly P[], up = true): P[] {
  const out: P[] = [];
  for (let k = 2; k < corners.length; k++) {
    const [a, b, c] = [corners[0] as P, corners[k - 1] as P, corners[k] as P];
    out.push(...(up ? [a, b, c] : [a, c, b]));
  }
  return out;
}

export function box(low: P, high: P): Solid {
  const floor: P[] = [low, [high[0], low[1], low[2]], [high[0], high[1], low[2]], [low[0], high[1], low[2]]];
  const roof = floor.map(([x, y]): P => [x, y, high[2]]);
  return [...walls(floor, roof), ...lid(roof), ...lid(floor, false)];
}

/** Diameter 1 at the ground, height 1, cut off at the top, on a square foot. */
const CONE: Solid = [...box([-0.5, -0.5, 0], [0.5, 0.5, 0.06]), ...walls(ring(0.36, 0.06), ring(0.07, 1)),
  ...lid(ring(0.07, 1))];
const CYLINDER: Solid = [...walls(ring(0.5, -0.5), ring(0.5, 0.5)), ...lid(ring(0.5, 0.5)), ...lid(ring(0.5, -0.5),
  false)];
const BOX = box([-0.5, -0.5, -0.5], [0.5, 0.5, 0.5]);
const SPHERE = sphere();
const GATE = gate();

function sphere(): Solid {
  const bands = 8;
  const at = (k: number): P[] => ring(0.5 * Math.sin((Math.PI * k) / bands), -0.5 * Math.cos((Math.PI * k) / bands));
  return Array.from({ length: bands }, (_, k) => walls(at(k), at(k + 1))).flat();
}

/** A frame to fly or drive through, along x: 1 m wide and high outside. */
function gate(): Solid {
  const [w, t] = [0.08, 0.05];
  return [
    ...box([-t, -0.5, 0], [t, -0.5 + w, 1]),
    ...box([-t, 0.5 - w, 0], [t, 0.5, 1]),
    ...box([-t, -0.5 + w, 1 - w], [t, 0.5 - w, 1]),
    ...box([-t, -0.5 + w, 0], [t, 0.5 - w, w]),
  ];
}

/** A car in a box of 1 x 1 x 1 m that stands on its position. */
export const CAR: Solid = [...box([-0.5, -0.5, 0.12], [0.5, 0.5, 0.58]), ...box([-0.34, -0.42, 0.58], [0.18, 0.42, 1])];

const NAMED: Record<string, Solid> = { cone: CONE, box: BOX, cube: BOX, sphere: SPHERE, cylinder: CYLINDER,
  gate: GATE };

/** The solid of a mesh's name (`cone`, `models/cone.glb`); a box when there is none of that name. */
export function solidOf(name: string): Solid {
  const stem = (name.split("/").at(-1) ?? "").split(".")[0]?.toLowerCase() ?? "";
  return NAMED[stem] ?? BOX;
}

/** Along x: a shaft of some diameter, then a head as long as it is wide. */
export function arrow(length: number, shaft: number, head: number): Solid {
  const tip = Math.min(head, length);
  const turn = ([x, y, z]: P): P => [z, x, y]; // made along z
  const body = [...walls(ring(shaft / 2, 0, 8), ring(shaft / 2, length - tip, 8)), ...lid(ring(shaft / 2, 0, 8),
    false)];
  const point = [...walls(ring(head / 2, length - tip, 12), ring(0, length, 12)), ...lid(ring(head / 2, length - tip,
    12), false)];
  return [...body, ...point].map(turn);
}

/** A disc with a hole (or without: inner 0), seen from both sides. */
export function annulus(outer: number, inner: number): Solid {
  const sides = 64;
  const [a, b] = [ring(outer, 0, sides), ring(inner, 0, sides)];
  return walls(a, b);
}
