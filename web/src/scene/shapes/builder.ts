// Builds vehicle shapes from flat-shaded triangles: position, normal, colour with a share of the fleet's colour, and
// moving parts.
import { BufferAttribute, BufferGeometry } from "three";

export type P3 = readonly [number, number, number];

/** A colour; `accent`: share of the vehicle's own colour. */
interface Paint {
  rgb: P3;
  accent: number;
}

export const FIXED = 0;
export const STEERED = 1; // wheels that steer about the vertical through their pivot and roll
export const ROLLING = 2; // wheels that roll
export const ROTOR = 3; // spins about its vertical axis
export const PROPELLER = 4; // spins about its forward axis

export class ShapeBuilder {
  private readonly positions: number[] = [];
  private readonly normals: number[] = [];
  private readonly colours: number[] = [];
  private readonly pivots: number[] = [];
  private colour: Paint = { rgb: [0.5, 0.5, 0.5], accent: 0 };
  private pivot: P3 = [0, 0, 0];
  private part = FIXED;

  paint(hex: string, accent = 0): this {
    const value = Number.parseInt(hex.slice(1), 16);
    this.colour = { rgb: [((value >> 16) & 255) / 255, ((value >> 8) & 255) / 255, (value & 255) / 255], accent };
    return this;
  }

  /** The following parts move about a pivot. */
  moving(part: number, pivot: P3 = [0, 0, 0]): this {
    this.part = part;
    this.pivot = pivot;
    return this;
  }

  triangle(a: P3, b: P3, c: P3): this {
    const n = normalOf(a, b, c);
    if (n === null) return this; // pointed ends give empty triangles
    for (const p of [a, b, c]) {
      this.positions.push(...p);
      this.normals.push(...n);
      this.colours.push(...this.colour.rgb, this.colour.accent);
      this.pivots.push(...this.pivot, this.part);
    }
    return this;
  }

  /** Corners counter-clockwise seen from outside. */
  quad(a: P3, b: P3, c: P3, d: P3): this {
    return this.triangle(a, b, c).triangle(a, c, d);
  }

  /** A box between two corners; `taper` narrows the top. */
  box([x0, y0, z0]: P3, [x1, y1, z1]: P3, taper: readonly [number, number] = [0, 0], bottom = true): this {
    const [tx, ty] = taper;
    const low: P3[] = [
      [x0, y0, z0],
      [x1, y0, z0],
      [x1, y1, z0],
      [x0, y1, z0],
    ];
    const top: P3[] = [
      [x0 + tx, y0 + ty, z1],
      [x1 - tx, y0 + ty, z1],
      [x1 - tx, y1 - ty, z1],
      [x0 + tx, y1 - ty, z1],
    ];
    return this.bridge(low, top)
      .cap(top)
      .cap(bottom ? [...low].reverse() : []);
  }

  /** Walls between two rings with equal numbers of points; counter-clockwise seen from the second ring's side. */
  bridge(from: readonly P3[], to: readonly P3[]): this {
    const n = from.length;
    for (let k = 0; k < n; k++) {
      const next = (k + 1) % n;
      this.quad(from[k] as P3, from[next] as P3, to[next] as P3, to[k] as P3);
    }
    return this;
  }

  /** A flat convex face, counter-clockwise seen from outside. */
  cap(ring: readonly P3[]): this {
    for (let k = 2; k < ring.length; k++) this.triangle(ring[0] as P3, ring[k - 1] as P3, ring[k] as P3);
    return this;
  }

  /** A closed skin over rings along +x (each counter-clockwise seen from the front). */
  loft(rings: readonly (readonly P3[])[]): this {
    for (let k = 1; k < rings.length; k++) this.bridge(rings[k - 1] as P3[], rings[k] as P3[]);
    this.cap([...(rings[0] as P3[])].reverse());
    return this.cap(rings[rings.length - 1] as P3[]);
  }

  /** A cylinder along y (a wheel) or z (a motor, a mast). */
  cylinder(middle: P3, radius: number, length: number, axis: "y" | "z", sides = 12, taper = 1): this {
    const ring = (along: number, r: number) => circle(middle, r, along, axis, sides);
    const low = ring(-length / 2, radius);
    const top = ring(length / 2, radius * taper);
    return this.bridge(low, top)
      .cap(top)
      .cap([...low].reverse());
  }

  /** A flat one-sided disc facing along an axis. */
  disc(middle: P3, radius: number, axis: "y" | "z", sides = 12, facing = 1): this {
    const ring = circle(middle, radius, 0, axis, sides);
    return this.cap(facing > 0 ? ring : ring.reverse());
  }

  build(): BufferGeometry {
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(this.positions), 3));
    geometry.setAttribute("normal", new BufferAttribute(new Float32Array(this.normals), 3));
    geometry.setAttribute("paint", new BufferAttribute(new Float32Array(this.colours), 4));
    geometry.setAttribute("pivot", new BufferAttribute(new Float32Array(this.pivots), 4));
    return geometry;
  }
}

function circle([x, y, z]: P3, radius: number, along: number, axis: "y" | "z", sides: number): P3[] {
  return Array.from({ length: sides }, (_, k) => {
    const angle = (2 * Math.PI * k) / sides;
    const [c, s] = [radius * Math.cos(angle), radius * Math.sin(angle)];
    // counter-clockwise seen from the end of the axis
    return axis === "z" ? [x + c, y + s, z + along] : [x + s, y + along, z + c];
  });
}

function normalOf(a: P3, b: P3, c: P3): P3 | null {
  const [ux, uy, uz] = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
  const [vx, vy, vz] = [c[0] - a[0], c[1] - a[1], c[2] - a[2]];
  const n: P3 = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
  const length = Math.hypot(...n);
  return length > 1e-12 ? [n[0] / length, n[1] / length, n[2] / length] : null;
}
