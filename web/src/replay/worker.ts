// The Worker's entry: reads, decompresses and decodes chunks of a recording.
import { FileBytes } from "./mcap";
import { type JobReply, type JobRequest, runJob } from "./reader-pool";

let bytes: FileBytes | null = null;

self.onmessage = async ({ data }: MessageEvent<JobRequest | { blob: Blob }>) => {
  if ("blob" in data) bytes = new FileBytes(data.blob);
  else if (bytes !== null) {
    const { reply, transfer } = await runJob(bytes, data);
    (self as unknown as { postMessage(message: JobReply, transfer: Transferable[]): void }).postMessage(
      reply,
      transfer,
    );
  }
};
