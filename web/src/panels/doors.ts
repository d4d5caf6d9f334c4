// Doors to the parts of the page that others own and that are loaded when they are opened. main.tsx hangs them in.
import { signal } from "@preact/signals";

type Door = (() => void) | null; // null: that part is not there

export const editorDoor = signal<Door>(null);
export const galleryDoor = signal<Door>(null);
export const recordingDoor = signal<((file: File) => Promise<void>) | null>(null);
