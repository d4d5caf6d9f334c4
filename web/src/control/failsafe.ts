// When the page loses the person (another tab, another window, the pointer), whatever is driven is let go at once.
import { letGo, takeUp } from "./driving";

export function startFailsafe(): () => void {
  const over = new AbortController();
  const { signal } = over;
  window.addEventListener("blur", letGo, { signal });
  window.addEventListener("pagehide", letGo, { signal });
  window.addEventListener("focus", takeUp, { signal });
  document.addEventListener("visibilitychange", () => (document.hidden ? letGo() : takeUp()), { signal });
  // lost pointer lock: the person has pressed Escape or was thrown out; hands are taken up with the next key
  const unlocked = (): void => {
    if (document.pointerLockElement === null) letGo();
  };
  document.addEventListener("pointerlockchange", unlocked, { signal });
  window.addEventListener("pointercancel", letGo, { signal });
  return () => over.abort();
}
