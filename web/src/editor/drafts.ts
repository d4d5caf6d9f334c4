// Text that was not run yet survives a reload of the page.

const NAME = "paddock.editor";

export interface Draft {
  name: string;
  text: string;
  original: string; // what "reset" goes back to
}

export function keepDraft(draft: Draft): void {
  try {
    sessionStorage.setItem(NAME, JSON.stringify(draft));
  } catch {
    // full or forbidden: the editor works without
  }
}

export function keptDraft(): Draft | null {
  try {
    const found = JSON.parse(sessionStorage.getItem(NAME) ?? "null") as Partial<Draft> | null;
    const { name, text, original } = found ?? {};
    if (typeof name !== "string" || typeof text !== "string" || typeof original !== "string") return null;
    return { name, text, original };
  } catch {
    return null;
  }
}

export function forgetDraft(): void {
  try {
    sessionStorage.removeItem(NAME);
  } catch {
    // forbidden: there was none
  }
}
