// Who reads chunks: a Worker of its own, or this thread where there are no Workers (in tests).
import { FileBytes } from "./bytes";
import {
  type Frames,
  type FramesJob,
  framesOf,
  type SeriesJob,
  type SeriesPart,
  seriesOf,
  type Things,
  type ThingsJob,
  thingsOf,
} from "./jobs";

const LEAST_HANDS = 2; // one thread that draws leaves the others idle most of the time
const MOST_HANDS = 3;

export type Job = FramesJob | ThingsJob | SeriesJob;
export type Result = Frames | Things | SeriesPart;
export interface Question {
  number: number;
  job: Job;
}
export type Answer = { number: number; result: Result } | { number: number; error: string };

/** An answer, and what of it need not be copied. */
interface Sealed {
  reply: Answer;
  transfer: Transferable[];
}

/** Do a job and say which buffers may be handed over instead of copied. */
export async function answer(bytes: FileBytes, { number, job }: Question): Promise<Sealed> {
  try {
    if (job.kind === "frames") {
      const result = await framesOf(bytes, job);
      const poses = result.samples.flatMap((sample) => (sample === null ? [] : [sample.poses.buffer]));
      return { reply: { number, result }, transfer: [result.data, ...poses] };
    }
    const result = await (job.kind === "things" ? thingsOf(bytes, job) : seriesOf(bytes, job));
    return { reply: { number, result }, transfer: [] };
  } catch (error) {
    return { reply: { number, error: error instanceof Error ? error.message : String(error) }, transfer: [] };
  }
}

export interface Crew {
  frames(job: Omit<FramesJob, "kind">): Promise<Frames>;
  things(job: Omit<ThingsJob, "kind">): Promise<Things>;
  series(job: Omit<SeriesJob, "kind">): Promise<SeriesPart>;
  close(): void;
}

export function crewFor(blob: Blob): Crew {
  return typeof Worker === "undefined" ? new Crewless(blob) : new WorkerCrew(blob);
}

abstract class AnyCrew implements Crew {
  protected abstract ask(job: Job): Promise<Result>;
  abstract close(): void;

  frames(job: Omit<FramesJob, "kind">): Promise<Frames> {
    return this.ask({ ...job, kind: "frames" }) as Promise<Frames>;
  }

  things(job: Omit<ThingsJob, "kind">): Promise<Things> {
    return this.ask({ ...job, kind: "things" }) as Promise<Things>;
  }

  series(job: Omit<SeriesJob, "kind">): Promise<SeriesPart> {
    return this.ask({ ...job, kind: "series" }) as Promise<SeriesPart>;
  }
}

class Crewless extends AnyCrew {
  private readonly bytes: FileBytes;

  constructor(blob: Blob) {
    super();
    this.bytes = new FileBytes(blob);
  }

  protected async ask(job: Job): Promise<Result> {
    const { reply } = await answer(this.bytes, { number: 0, job });
    if ("error" in reply) throw new Error(reply.error);
    return reply.result;
  }

  close(): void {}
}

/** One Worker and what it still has to answer. */
class Hand {
  private readonly worker: Worker;
  private readonly waiting = new Map<number, { done(result: Result): void; failed(error: Error): void }>();
  private asked = 0;

  constructor(blob: Blob) {
    const beside = import.meta.url; // the Worker is built beside this file
    this.worker = new Worker(new URL("./replay-worker.js", beside), { type: "module", name: "paddock-replay" });
    this.worker.onmessage = ({ data }: MessageEvent<Answer>) => this.hear(data);
    this.worker.onerror = () => this.fail("the Worker that reads recordings has stopped");
    this.worker.postMessage({ blob });
  }

  get busy(): number {
    return this.waiting.size;
  }

  ask(job: Job): Promise<Result> {
    const number = ++this.asked;
    return new Promise((done, failed) => {
      this.waiting.set(number, { done, failed });
      this.worker.postMessage({ number, job });
    });
  }

  close(): void {
    this.worker.terminate();
    this.fail("closed");
  }

  private hear(reply: Answer): void {
    const waiter = this.waiting.get(reply.number);
    this.waiting.delete(reply.number);
    if ("error" in reply) waiter?.failed(new Error(reply.error));
    else waiter?.done(reply.result);
  }

  private fail(reason: string): void {
    for (const { failed } of this.waiting.values()) failed(new Error(reason));
    this.waiting.clear();
  }
}

/** Several Workers: decompressing 10,000 vehicles at 30 samples a second takes more than one core. */
class WorkerCrew extends AnyCrew {
  private readonly hands: Hand[];

  constructor(blob: Blob) {
    super();
    const count = Math.min(Math.max((navigator.hardwareConcurrency || 2) - 1, LEAST_HANDS), MOST_HANDS);
    this.hands = Array.from({ length: count }, () => new Hand(blob));
  }

  protected ask(job: Job): Promise<Result> {
    const free = this.hands.reduce((best, hand) => (hand.busy < best.busy ? hand : best));
    return free.ask(job);
  }

  close(): void {
    for (const hand of this.hands) hand.close();
  }
}
