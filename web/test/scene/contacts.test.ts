// Contacts: places from the text of events, and which of them are shown.
import { signal } from "@preact/signals";
import { expect, test } from "vitest";
import { contactText, recent } from "../../src/scene/contacts";
import { contactOf } from "../../src/state/events";

test("reads place, normal and impulse", () => {
  const detail = "blue: 1.25e+03 N s at 4.2 m/s at -3.50, 12.00, 0.44, normal 0.00, -1.00, 0.00";
  expect(contactOf(detail)).toEqual({ place: [-3.5, 12, 0.44], normal: [0, -1, 0], impulse: 1250, speed: 4.2 });
  expect(contactOf("at 1.00, 2.00, 3.00")).toEqual({
    place: [1, 2, 3],
    normal: [0, 0, 0],
    impulse: 0,
    speed: Number.NaN,
  });
  expect(contactOf("12 more contacts")).toBeNull();
  expect(contactOf("hit at 7.5 m/s")).toBeNull();
});

test("says how hard it was", () => {
  expect(contactText({ speed: 21.84, impulse: 14_100 })).toBe("21.8 m/s, 14.1 kN s");
  expect(contactText({ speed: 4.2, impulse: 41.1 })).toBe("4.2 m/s, 41 N s");
  expect(contactText({ speed: 1.2, impulse: 850.4 })).toBe("1.2 m/s, 850 N s");
  expect(contactText({ speed: 0.3, impulse: 0 })).toBe("0.3 m/s");
});

test("shows contacts of the last moment before the shown time, newest first", () => {
  const event = (number: number, time: number, kind = "contact") => {
    return { number, time, kind, tick: 100 * time, subject: "red", detail: "" };
  };
  const events = signal([event(1, 1), event(2, 4), event(3, 4.5, "lap"), event(4, 4.9), event(5, 8)]);
  const numbers = (now: number) => recent({ events }, now).map(([{ number }]) => number);
  expect(numbers(5)).toEqual([4, 2]);
  expect(numbers(1.5)).toEqual([1]);
  expect(numbers(0.5)).toEqual([]);
  expect(numbers(8)).toEqual([5]);
  expect(recent({ events }, 5).map(([, age]) => age)).toEqual([expect.closeTo(0.1, 9), expect.closeTo(1, 9)]);
});
