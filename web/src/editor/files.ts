// Scenarios from and to the person's disk.
import { tell } from "../state/store";

const LARGEST = 2_000_000; // bytes: a scenario is text that somebody wrote

export function chooseFile(onText: (name: string, text: string) => void): void {
  const input = document.createElement("input");
  input.type = "file";
  input.accept = ".yaml,.yml,text/yaml";
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    if (file) void read(file, onText);
  });
  input.click();
}

async function read(file: File, onText: (name: string, text: string) => void): Promise<void> {
  if (file.size > LARGEST) return tell("error", `${file.name} is too large for a scenario.`);
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    onText(file.name.replace(/\.ya?ml$/i, ""), text);
  } catch {
    tell("error", `${file.name} is not a text file.`);
  }
}

export function saveFile(name: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/yaml" }));
  link.download = `${name.replace(/[^\w.-]+/g, "_") || "scenario"}.yaml`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Put text on the clipboard; where that is forbidden, show it for copying by hand. */
export async function copyText(text: string, done: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    tell("info", done);
  } catch {
    window.prompt("Copy this link", text);
  }
}
