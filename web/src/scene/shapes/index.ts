// The shape of each vehicle: detailed, simple, and translucent parts such as spinning blades. Most are loaded when there
// are such vehicles; until then they are plain.
import { signal } from "@preact/signals";
import type { BufferGeometry } from "three";
import { type Appearance, appearances, carStyle, type Dimensions } from "../../state/appearance";
import type { Fleet } from "../../state/roster";
import { type P3, ShapeBuilder } from "./builder";
import { detailedQuad, quadBlur, simpleQuad } from "./quad";

const NOSE: P3 = [0.55, 0, 0];
const RIDGE: P3 = [-0.3, 0, 0.16];
const KEEL: P3 = [-0.3, 0, -0.06];
const LEFT: P3 = [-0.45, 0.34, 0];
const RIGHT: P3 = [-0.45, -0.34, 0];

function agent(): BufferGeometry {
  const b = new ShapeBuilder();
  b.paint("#d8dde2", 0.96).triangle(NOSE, LEFT, RIDGE).triangle(NOSE, RIDGE, RIGHT);
  b.paint("#9aa5af", 0.7).triangle(NOSE, KEEL, LEFT).triangle(NOSE, RIGHT, KEEL);
  b.paint("#39424b", 0.35).triangle(RIDGE, LEFT, KEEL).triangle(RIDGE, KEEL, RIGHT);
  return b.build();
}

function plainBox(): BufferGeometry {
  return new ShapeBuilder().paint("#d8dde2", 0.9).box([-0.5, -0.25, 0], [0.5, 0.25, 0.3], [0.1, 0.05]).build();
}

export interface Shape {
  detailed(): BufferGeometry;
  simple(): BufferGeometry;
  blur?(): BufferGeometry;
}

const AGENT: Shape = { detailed: agent, simple: agent };
const PLAIN: Shape = { detailed: plainBox, simple: plainBox };
const SHAPES: Readonly<Record<string, Shape>> = {
  quad: { detailed: detailedQuad, simple: simpleQuad, blur: quadBlur },
  agent: AGENT,
};

// bodies -------------------------------------------------------------------------------------------------------------

/** What a fleet looks like; fleets with the same name of a body are drawn together. */
export interface Body {
  name: string;
  shape: Shape;
}

const TRACK_CONES = /^cones_/; // fleets of a track's cones: `cones_blue`
const BODIES: ReadonlySet<string> = new Set(["car", "rover", "aircraft", "cone", "crate"]);
/** Incremented when bodies have been loaded. */
export const bodiesLoaded = signal(0);
let shapeOf: ((kind: string, style: string, size: Dimensions) => Shape) | null = null;
let requested = false;
const known = new Map<string, Body>();

/** The body of a fleet. */
export function bodyOf({ kind, name }: Pick<Fleet, "kind" | "name">): Body {
  const shape = SHAPES[kind];
  if (!BODIES.has(kind)) return { name: shape ? kind : "agent", shape: shape ?? AGENT };
  if (!requested) void loadBodies();
  if (!shapeOf) return { name: `${kind}?`, shape: PLAIN };
  return made(shapeOf, kind, name, appearances.peek().get(name));
}

function made(of: NonNullable<typeof shapeOf>, kind: string, name: string, look: Appearance | undefined): Body {
  const size = look?.dimensions ?? {};
  const style = kind === "car" ? carStyle(look) : kind === "cone" ? name.replace(TRACK_CONES, "") : kind;
  const key = `${kind} ${style} ${Object.values(size).join(" ")}`;
  const body = known.get(key) ?? { name: key, shape: of(kind, style, size) };
  known.set(key, body);
  return body;
}

async function loadBodies(): Promise<void> {
  requested = true;
  shapeOf = (await import("./bodies")).shapeOf;
  bodiesLoaded.value += 1;
}
