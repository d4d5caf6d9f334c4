// The Worker in which the chunks of a recording are read, decompressed and decoded.
import { FileBytes } from "./mcap";
import { type Answer, answer, type Question } from "./reader-pool";

let bytes: FileBytes | null = null;

self.onmessage = async ({ data }: MessageEvent<Question | { blob: Blob }>) => {
  if ("blob" in data) bytes = new FileBytes(data.blob);
  else if (bytes !== null) {
    const { reply, transfer } = await answer(bytes, data);
    (self as unknown as { postMessage(message: Answer, transfer: Transferable[]): void }).postMessage(reply, transfer);
  }
};
