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

let lateStyles: Promise<unknown> | undefined;

/** A module that is loaded on first use, when the styles of such modules apply. */
export async function withLateStyles<M>(loading: Promise<M>): Promise<M> {
  lateStyles ??= loadLateStyles();
  await lateStyles;
  return loading;
}

/** Once per page, after its own styles, which have the same rules for all components. */
async function loadLateStyles(): Promise<void> {
  const own = document.querySelector('link[href="assets/style.css"]');
  if (own === null) return; // a page without styles
  const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: "assets/late.css" });
  await new Promise((resolve) => {
    link.onload = link.onerror = resolve; // a component without styles is better than none
    own.after(link);
  });
}
