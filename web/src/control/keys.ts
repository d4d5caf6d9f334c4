// Which keys are down. Everything is let go when the page loses them: a key-up that happens elsewhere is never told.

export class KeysHeld {
  private readonly down = new Set<string>();

  press(code: string): void {
    this.down.add(code);
  }

  lift(code: string): void {
    this.down.delete(code);
  }

  clear(): void {
    this.down.clear();
  }

  readonly held = (...codes: string[]): boolean => codes.some((code) => this.down.has(code));
}

const WITHOUT_TEXT = new Set(["button", "checkbox", "radio", "range", "color", "file", "submit", "reset", "image"]);

/** Whether what is typed belongs to a field, not to the page. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !WITHOUT_TEXT.has(target.type);
  if (target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  return target.isContentEditable || target.closest("[contenteditable=true], dialog[open], [role=dialog]") !== null;
}

/** Whether a browser or system shortcut is meant. */
export function isShortcut(event: KeyboardEvent): boolean {
  return event.ctrlKey || event.metaKey || event.altKey;
}
