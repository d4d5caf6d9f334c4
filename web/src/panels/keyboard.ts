// Listens for the shortcuts. The driving keys come first: control takes what is its own before this sees it.
import { isShortcut, isTyping } from "../control/keys";
import { shortcutFor } from "./shortcuts";

export function startShortcuts(): () => void {
  const onDown = (event: KeyboardEvent) => {
    if (event.defaultPrevented || isShortcut(event) || isTyping(event.target)) return;
    if (event.key === " " && isPressable(event.target)) return; // Space presses the button that has the focus
    const shortcut = shortcutFor(event.key);
    if (shortcut?.act === undefined || document.querySelector("dialog[open]") !== null) return;
    event.preventDefault();
    shortcut.act();
  };
  window.addEventListener("keydown", onDown);
  return () => window.removeEventListener("keydown", onDown);
}

/** Whether an element does something of its own on Space; a button that was clicked with the mouse does not keep it. */
function isPressable(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("button:focus-visible, summary, input, select, [role=tab]");
}
