// The code view: read-only while a text is loading.
import { expect, it } from "vitest";
import { makeCode } from "../../src/editor/code";

it("can be read-only; a replaced text is shown anyway", () => {
  const wishes = { text: "a", knowledge: () => null, onChange: () => undefined, onRun: () => undefined };
  const code = makeCode(document.body, wishes);
  code.setReadOnly(true);
  expect(code.view.state.readOnly).toBe(true);
  expect(code.view.contentDOM.getAttribute("aria-readonly")).toBe("true");
  code.setText("name: race");
  expect(code.view.state.doc.toString()).toBe("name: race");
  code.setReadOnly(false);
  expect(code.view.state.readOnly).toBe(false);
  code.view.destroy();
});
