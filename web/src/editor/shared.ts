// A link with a scenario in it opens the editor with that text. It is shown, never run by itself.
import { reasonOf } from "../state/caller";
import { tell } from "../state/store";
import { codeIn, nameIn, unpacked } from "./share";

/** Look at the address now and whenever it changes; the returned function ends that. */
export function watchSharedLinks(): () => void {
  const look = (): void => void openShared();
  look();
  window.addEventListener("hashchange", look);
  return () => window.removeEventListener("hashchange", look);
}

export async function openShared(): Promise<void> {
  const code = codeIn(location.hash);
  if (code === null) return;
  history.replaceState(null, "", location.pathname + location.search); // a reload shows what was made of it
  try {
    const text = await unpacked(code);
    const { openEditor } = await import("./dialog");
    openEditor({ name: nameIn(text) ?? "shared", text });
  } catch (error) {
    tell("error", `Nothing to open: ${reasonOf(error)}.`);
  }
}
