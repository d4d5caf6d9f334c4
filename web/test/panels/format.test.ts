// Number formats, and the pace slider.
import { describe, expect, it } from "vitest";
import { paceAt, parsePace, placeOf } from "../../src/panels/transport";
import {
  formatColumn,
  formatCompass,
  formatCount,
  formatDetail,
  formatFactor,
  formatSpan,
  formatTime,
  formatUnit,
  formatValue,
  formatVehicles,
  measured,
} from "../../src/state/format";

describe("format", () => {
  it("shows values with few digits", () => {
    expect(formatValue(1234.5678)).toBe("1234.6");
    expect(formatValue(-3.14159)).toBe("−3.142");
    expect(formatValue(0.5)).toBe("0.5000");
    expect(formatValue(2)).toBe("2");
    expect(formatValue(1.5e-9)).toBe("1.50e−9");
    expect([formatValue(-3e-17, 1), formatValue(3e-9, 1), formatValue(3e-9, 100)]).toEqual(["0", "3.00e−9", "0"]);
    expect(formatValue(Number.NaN)).toBe("–");
    expect(formatValue(null)).toBe("–");
    expect(formatValue(Number.NEGATIVE_INFINITY)).toBe("−∞");
  });

  it("shows none where a number stands for no value", () => {
    expect(formatColumn("radio.sinr", -100)).toBe("none");
    expect(formatColumn("radio.sinr", -99.5)).toBe("−99.500");
    expect([formatColumn("radio.station", -1), formatColumn("radio.station", 0)]).toEqual(["none", "0"]);
    expect([formatColumn("radio.uplink", -100), formatColumn("radio.signal", 0)]).toEqual(["none", "none"]);
    expect([formatColumn("z", -100), formatColumn("radio.links", 0)]).toEqual(["−100", "0"]);
    expect(formatColumn("radio.sinr", null)).toBe("–");
    expect([measured("radio.sinr", -100), measured("radio.sinr", 12), measured("z", -100)]).toEqual([
      Number.NaN,
      12,
      -100,
    ]);
  });

  it("shows times as minutes and hours", () => {
    expect(formatTime(83.456)).toBe("1:23.456");
    expect(formatTime(59.9996)).toBe("1:00.000");
    expect(formatTime(3661)).toBe("1:01:01.000");
  });

  it("shows counts, spans, factors and units", () => {
    expect(formatCount(100000)).toBe("100,000");
    expect([formatVehicles(1), formatVehicles(1200)]).toEqual(["1 vehicle", "1,200 vehicles"]);
    expect(formatSpan(0.0025)).toBe("2.50 ms");
    expect(formatSpan(0.00005)).toBe("50.0 µs");
    expect(formatFactor(12.34)).toBe("12.3×");
    expect(formatUnit("rad/s2")).toBe("rad/s²");
  });
});

describe("pace", () => {
  it("goes from a tenth to a hundred in equal factors", () => {
    expect(paceAt(0)).toBe(0.1);
    expect(paceAt(100)).toBe(1);
    expect(paceAt(200)).toBe(10);
    expect(paceAt(300)).toBe(100);
    expect(placeOf(1)).toBe(100);
    expect(placeOf(1000)).toBe(300);
  });

  it("parses typed paces", () => {
    expect(parsePace("2.5x")).toBe(2.5);
    expect(parsePace("1,5")).toBe(1.5);
    expect([parsePace("max"), parsePace("0")]).toEqual([0, 0]);
    expect([parsePace("0.1"), parsePace("100")]).toEqual([0.1, 100]);
    expect([parsePace("0.01"), parsePace("101")]).toEqual([null, null]);
    expect(parsePace("fast")).toBeNull();
    expect(parsePace("-1")).toBeNull();
    expect(parsePace("")).toBeNull();
  });
});

describe("headings", () => {
  it("are compass degrees, clockwise from north: east is 90, and turns do not add up", () => {
    const yaws = [0, Math.PI / 2, Math.PI, -Math.PI / 2, 78.341, Math.PI / 2 + 1e-9];
    expect(yaws.map(formatCompass)).toEqual(["090°", "000°", "270°", "180°", "281°", "000°"]);
    expect(formatCompass(Number.NaN)).toBe("–");
  });

  it("numbers in event texts with few digits", () => {
    expect(formatDetail("position [10.123456789, -2.000000001, 3.0]")).toBe("position [10.12, -2, 3]");
    expect(formatDetail("on True, power 33.5")).toBe("on True, power 33.5");
    expect(formatDetail("0.012345678 N s at 12.3 m/s")).toBe("0.012 N s at 12.3 m/s");
    expect(formatDetail("1.5e-7 rad, version 1.2.345, a1.23456")).toBe("1.5e-7 rad, version 1.2.345, a1.23456");
    expect(formatDetail("frequency 2440000000.0")).toBe("frequency 2440000000");
  });
});
