// @vitest-environment happy-dom
// The code view: read-only while a text is loading.
import { expect, it } from "vitest";
import { makeCode, placeOf } from "../../src/editor/code";

it("can be read-only; a replaced text is shown anyway", () => {
  const options = { text: "a", knowledge: Promise.resolve(null), onChange: () => undefined, onRun: () => undefined };
  const code = makeCode(document.body, options);
  code.setReadOnly(true);
  expect(code.view.state.readOnly).toBe(true);
  expect(code.view.contentDOM.getAttribute("aria-readonly")).toBe("true");
  code.setText("name: race");
  expect(code.view.state.doc.toString()).toBe("name: race");
  code.setReadOnly(false);
  expect(code.view.state.readOnly).toBe(false);
  code.view.destroy();
});

const TEXT = "name: race\nvehicles:\n  - {modle: quad}\n\n";

it.each([
  [1, 1, "name"],
  [3, 6, "modle"],
  [3, 13, "quad"],
  [1, 7, "race"],
  [1, 11, "e"], // past the end of the line: its last character
  [2, 99, ":"],
  [3, 5, "{"],
])("line %d, column %d is %j", (line, column, word) => {
  const { from, to } = placeOf(TEXT, { line, column, message: "" });
  expect(TEXT.slice(from, to)).toBe(word);
});

it.each([
  [4, 1],
  [99, 1],
  [0, 0],
])("line %d, column %d stays inside the text", (line, column) => {
  const { from, to } = placeOf(TEXT, { line, column, message: "" });
  expect(from).toBeGreaterThanOrEqual(0);
  expect(to).toBeLessThanOrEqual(TEXT.length);
  expect(from).toBeLessThanOrEqual(to);
});
