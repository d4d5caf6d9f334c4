// Scenarios in links: the text is deflated and base64url-encoded in the address hash, which browsers do not send.
import { reasonOf } from "../net/connection";
import { showNotice } from "../state/store";

const KEY = "scenario=";
const MOST = 2_000_000; // maximum characters of an unpacked link, against decompression bombs

export async function packed(text: string): Promise<string> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Unpack a text; rejects if it is damaged. */
export async function unpacked(code: string): Promise<string> {
  try {
    const letters = atob(code.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    return await inflated(new Blob([bytes]));
  } catch {
    throw new Error("the link is damaged or truncated");
  }
}

async function inflated(blob: Blob): Promise<string> {
  const reader = blob.stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    text += decoder.decode(part.value, { stream: true });
    if (text.length > MOST) throw new Error("too long");
  }
  return text + decoder.decode();
}

/** The page's address with a scenario. */
export async function linkTo(text: string, page: string = location.href): Promise<string> {
  const address = new URL(page);
  address.searchParams.delete("token"); // links are shared with others
  address.hash = KEY + (await packed(text));
  return address.href;
}

/** The packed scenario of an address hash; null: none. */
export function codeIn(hash: string): string | null {
  const shared = new URLSearchParams(hash.replace(/^#/, "")).get("scenario");
  return shared === null || shared === "" ? null : shared;
}

/** The `name` of a scenario text; null: none. */
export function nameIn(text: string): string | null {
  return /^name:\s*["']?([\w.-]+)/m.exec(text)?.[1] ?? null;
}

type Open = (scenario: { name: string; text: string }) => Promise<void>;

/** Open the scenario of the address now and whenever the hash changes, without running it. Return a stop function. */
export function watchSharedLinks(open: Open): () => void {
  const look = (): void => void openShared(open);
  look();
  window.addEventListener("hashchange", look);
  return () => window.removeEventListener("hashchange", look);
}

async function openShared(open: Open): Promise<void> {
  const code = codeIn(location.hash);
  if (code === null) return;
  history.replaceState(null, "", location.pathname + location.search); // a reload keeps the edited text
  try {
    const text = await unpacked(code);
    await open({ name: nameIn(text) ?? "shared", text });
  } catch (error) {
    showNotice("error", `Cannot open the shared scenario: ${reasonOf(error)}`);
  }
}
