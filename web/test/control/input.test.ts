import { describe, expect, it } from "vitest";
import { deadZone, firstPad, readingOf, shortName } from "../../src/control/driving";
import { approach, opposed, ramp, stronger } from "../../src/control/kinds/driver";

describe("ramps", () => {
  it("rises at its rate and stops at the target", () => {
    expect(ramp(0, 1, 2.5, 5, 0.2)).toBeCloseTo(0.5, 12);
    expect(ramp(0.9, 1, 2.5, 5, 0.2)).toBe(1);
  });

  it("returns to zero faster", () => {
    expect(ramp(0.8, 0, 2.5, 5, 0.1)).toBeCloseTo(0.3, 12);
    expect(ramp(0.8, 0, 2.5, 5, 1)).toBe(0);
  });

  it("reverses at the faster rate", () => {
    expect(ramp(-1, 1, 2, 5, 0.1)).toBeCloseTo(-0.5, 12);
  });

  it("approaches from both sides", () => {
    expect(approach(3, 1, 4, 0.25)).toBe(2);
    expect(approach(1, 3, 4, 0.25)).toBe(2);
  });
});

describe("sticks", () => {
  it.each([
    [0, 0],
    [0.1, 0],
    [-0.05, 0],
    [0.55, 0.5],
    [-0.55, -0.5],
    [1, 1],
    [1.2, 1],
    [Number.NaN, 0],
  ])("%d becomes %d with the dead zone", (raw, clean) => {
    expect(deadZone(raw, 0.1)).toBeCloseTo(clean, 12);
  });

  it("takes the stronger input; opposite keys cancel", () => {
    expect(stronger(0.2, -0.7)).toBe(-0.7);
    expect(opposed(true, true)).toBe(0);
    expect(opposed(false, true)).toBe(-1);
  });
});

describe("gamepads", () => {
  const state = { axes: [0.55, -1, 0, 0.02], buttons: [{ value: 1 }, { value: 0.01 }] };
  const pad = (id: string, connected: boolean, mapping: string) =>
    ({ id, connected, mapping, ...state }) as unknown as Gamepad;

  it("takes the first connected gamepad, standard mapping first", () => {
    const [odd, good] = [pad("odd", true, ""), pad("good", true, "standard")];
    expect(firstPad([null, pad("gone", false, "standard"), odd, good])).toBe(good);
    expect(firstPad([null, odd])).toBe(odd);
    expect(firstPad([null])).toBeNull();
  });

  it("reads sticks with a dead zone", () => {
    const { axes, buttons, name } = readingOf(pad("Xbox Pad (STANDARD GAMEPAD Vendor: 045e)", true, "standard"));
    expect(axes[0]).toBeCloseTo(0.5, 12);
    expect(axes.slice(1)).toEqual([-1, 0, 0]);
    expect(buttons).toEqual([1, 0]);
    expect(name).toBe("Xbox Pad");
    expect(shortName("(x)")).toBe("gamepad");
  });
});
