// The OSD's status lines, and text that scales with the page's font.
import { expect, test } from "vitest";
import { namesNote } from "../../src/scene/annotations";
import { drawOsd, type Instruments, inLines, OSD_COLOURS, statusWords } from "../../src/scene/osd";
import { unitOf } from "../../src/scene/overlay";

const KNOWN: Instruments = {
  name: "eye",
  speed: 1,
  altitude: 2,
  climb: -1.25,
  voltage: 15.84,
  charge: 0.22,
  armed: 0,
  mode: "angle",
  throttle: 0,
  attitude: [0, 0, 0, 1],
  tilt: 0,
  focal: 1,
  flies: true,
  gear: Number.NaN,
  steer: Number.NaN,
  colours: OSD_COLOURS.dark,
};

/** The texts that the OSD draws. */
function drawn(data: Instruments): string[] {
  const texts: string[] = [];
  const answers = { fillText: (text: string) => texts.push(text), measureText: () => ({ width: 40 }) };
  const pen = new Proxy({}, { get: (_, name) => Reflect.get(answers, name) ?? (() => undefined), set: () => true });
  drawOsd(pen as CanvasRenderingContext2D, 800, 600, data);
  return texts;
}

test("a drone has altitude and a pitch ladder, a car gear and steering", () => {
  const drone = drawn(KNOWN);
  expect(drone).toEqual(expect.arrayContaining(["ALT m", "SPD m/s", "090°", "E"]));
  const car = drawn({ ...KNOWN, flies: false, gear: -1, steer: -0.2094, focal: 300 }); // 12 degrees to the right
  expect(car).toEqual(expect.arrayContaining(["SPD m/s", "090°", "R", "GEAR", "12° R", "STEER"]));
  expect(car).not.toContain("ALT m");
  expect(drawn({ ...KNOWN, focal: 300 })).toContain("20"); // degrees, a rung of the ladder
  expect(car).not.toContain("20");
});

test("says how many names have space", () => {
  expect(namesNote(38, 1726)).toBe("Names of 38 of 1,726 vehicles in view; zoom in for more");
});

test("shows name, armed, mode, battery and climb, but nothing unknown", () => {
  expect(statusWords(KNOWN).map(({ text, look }) => [text, look])).toEqual([
    ["eye", "lit"],
    ["DISARMED", "warn"],
    ["ANGLE", "lit"],
    ["22 %  15.8 V", "warn"],
    ["▼ 1.3 m/s", "lit"],
  ]);
  const none = Number.NaN;
  const rover = { ...KNOWN, climb: none, voltage: none, charge: none, armed: none, mode: "" };
  expect(statusWords(rover)).toEqual([{ text: "eye", look: "lit" }]);
  expect(statusWords({ ...rover, voltage: 12 })[1]).toEqual({ text: "12.0 V", look: "lit" });
});

test("wraps words of 40 px with gaps of 10: two in 95 px, three in 140", () => {
  const words = ["a", "b", "c"];
  expect(inLines(words, () => 40, 95, 10)).toEqual([["a", "b"], ["c"]]);
  expect(inLines(words, () => 40, 140, 10)).toEqual([words]);
  expect(inLines(words, () => 40, 10, 10)).toEqual([["a"], ["b"], ["c"]]);
});

test("doubles all sizes with a font of 26 px; nothing gets smaller", () => {
  expect(unitOf("26px")).toBe(2);
  expect(unitOf("10px")).toBe(1);
  expect(unitOf("")).toBe(1);
});
