// Files of the user: selecting one, and downloading.

const ADDRESS_LIFE = 10_000; // ms until a download has started

/** Let the user select a file; `accept`: extensions and types. */
export function selectFile(accept: string, use: (file: File) => void): void {
  const input = document.createElement("input");
  input.type = "file";
  input.accept = accept;
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    if (file) use(file);
  });
  input.click();
}

export function download(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), ADDRESS_LIFE);
}

/** A text as the name of a file, without extension; `otherwise` if nothing remains. */
export function fileName(text: string, otherwise: string): string {
  return text.replace(/[^\w.-]+/g, "_") || otherwise;
}

/** Load the styles of components that are loaded on first use; once per page, before its own rules. */
export function loadLateStyles(): void {
  const main = globalThis.document?.querySelector('link[href="assets/style.css"]');
  if (!main || document.querySelector('link[href="assets/late.css"]')) return;
  const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: "assets/late.css" });
  main.before(link);
}
