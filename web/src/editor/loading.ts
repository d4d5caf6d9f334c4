// Starting another scenario: the run ends, the page loses its connection and finds the new run at the same address.
import { effect, signal } from "@preact/signals";
import { call } from "../net/link";
import { reasonOf } from "../state/caller";
import { connection, metadata, preparing } from "../state/store";

/** The name of the scenario that is being started; null: none. */
export const loading = signal<string | null>(null);

const PATIENCE = 60_000; // ms: a large scenario takes a while to build

/** Start a scenario and wait until it is there; the reason if it is not, else null. */
export async function startScenario(name: string, what: { name: string } | { text: string }): Promise<string | null> {
  if (loading.value !== null) return `${loading.value} is being started already`;
  loading.value = name;
  const arrival = nextRun();
  try {
    await call("load_scenario", what);
    await arrival.promise;
    return null;
  } catch (error) {
    return reasonOf(error);
  } finally {
    arrival.stop();
    loading.value = null;
  }
}

/** Resolves when the connection was lost and is back, with what the new run says about itself. */
function nextRun(): { promise: Promise<void>; stop(): void } {
  const before = metadata.peek();
  let lost = false;
  let stop = (): void => undefined;
  const promise = new Promise<void>((resolve, reject) => {
    const timer = setInterval(() => {
      if (preparing.peek() === "") reject(new Error("the new run does not answer; it may still come"));
    }, PATIENCE);
    const unwatch = effect(() => {
      const { state } = connection.value;
      const now = metadata.value;
      lost ||= state !== "open";
      if (state === "open" && now !== null && now !== before && (lost || now.name !== before?.name)) resolve();
    });
    stop = () => {
      clearInterval(timer);
      unwatch();
    };
  });
  promise.catch(() => undefined); // nobody may be waiting for it yet, or any more
  return { promise, stop };
}
