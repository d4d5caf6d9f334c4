// Wheels of cars, which roll and, in front, steer.
import type { CarPlan } from "../../state/appearance";
import { FIXED, type P3, ROLLING, type ShapeBuilder, STEERED } from "./builder";

interface WheelLook {
  wide: number; // m
  sides?: number;
  rim?: string;
  knobs?: boolean; // an off-road tyre
}

/** Four wheels at the axles of a plan. */
export function wheels(b: ShapeBuilder, plan: CarPlan, look: WheelLook): void {
  for (const side of [-1, 1]) {
    wheel(b, [plan.front, side * plan.trackFront, plan.wheel], plan.wheel, side, STEERED, look);
    wheel(b, [-plan.rear, side * plan.trackRear, plan.wheel], plan.wheel, side, ROLLING, look);
  }
}

function wheel(b: ShapeBuilder, middle: P3, radius: number, side: number, part: number, look: WheelLook): void {
  const { wide, sides = 18, rim = "#8d97a1", knobs = false } = look;
  const [x, y, z] = middle;
  b.moving(part, middle).paint("#171b20").cylinder(middle, radius, wide, "y", sides);
  if (knobs) for (let k = 0; k < 9; k++) knob(b, middle, radius, wide, (2 * Math.PI * k) / 9);
  const face = y + side * (wide / 2 + 0.002);
  b.paint(rim).disc([x, face, z], 0.69 * radius, "y", 14, side);
  b.paint("#20262c");
  for (let k = 0; k < 5; k++)
    spoke(b, [x, face + side * 0.004 * (radius / 0.34), z], radius, (2 * Math.PI * k) / 5, side);
  b.moving(FIXED);
}

/** The dark gap between two spokes, which makes rolling visible. */
function spoke(b: ShapeBuilder, [x, y, z]: P3, radius: number, angle: number, side: number): void {
  const at = (r: number, turn: number): P3 => [
    x + r * radius * Math.sin(angle + turn),
    y,
    z + r * radius * Math.cos(angle + turn),
  ];
  const corners = [at(0.2, 0), at(0.6, -0.38), at(0.63, 0), at(0.6, 0.38)];
  b.cap(side > 0 ? corners : corners.reverse());
}

function knob(b: ShapeBuilder, [x, y, z]: P3, radius: number, wide: number, angle: number): void {
  const ring = (r: number, turn: number): P3[] =>
    [
      [turn, -0.5],
      [-turn, -0.5],
      [-turn, 0.5],
      [turn, 0.5],
    ].map(([t = 0, w = 0]): P3 => [x + r * Math.sin(angle + t), y + 0.96 * w * wide, z + r * Math.cos(angle + t)]);
  const [low, top] = [ring(0.97 * radius, 0.16).reverse(), ring(1.05 * radius, 0.1).reverse()];
  b.bridge(low, top).cap(top);
}
