// Frame 0x20 against bytes packed by hand.
import { expect, it } from "vitest";
import { encodeCommands } from "../../src/net/commands";
import { f64, frame, text, u32, u8 } from "./pack";

it("packs names once and values by vehicle", () => {
  const names = [...u8(5), ...text("steer"), ...u8(5), ...text("brake")];
  const values = [...u32(7), ...f64(0.5), ...f64(0), ...u32(9), ...f64(-0.25), ...f64(0)];
  const expected = frame(0x20, [...u32(2), ...u8(2), ...names, ...values]);
  expect([...new Uint8Array(encodeCommands([7, 9], { steer: [0.5, -0.25], brake: 0 }))]).toEqual(expected);
});

it("refuses lists that do not fit", () => {
  expect(() => encodeCommands([1, 2], { steer: [1] })).toThrow("steer: 1 values for 2 vehicles");
  expect(() => encodeCommands([1], {})).toThrow("1 to 255 inputs");
});
