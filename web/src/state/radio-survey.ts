// Requests the coverage while a layer shows it: the heat map, and where jammers are stronger than signals.
import { effect } from "@preact/signals";
import { call, connection, reasonOf } from "../net/connection";
import { coverage, coverageChoice, hasRadio, radio, redrawRadio } from "./radio";
import { layers, live, showNotice } from "./store";

const EVERY = 1500; // ms from an answer to the next request, at least
const SIDE = 96; // values per side

/** Whether a layer needs the coverage. */
function needed(): boolean {
  const { coverage: map, jamming } = layers.value;
  const jams = jamming && (radio.value?.jammers.some(({ active }) => active > 0) ?? false);
  return live.value && hasRadio.value && (map || jams);
}

/** Follow layers and choices; return a stop function. */
export function followCoverage(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let [asking, again, over, failed] = [false, false, false, false];
  const ask = async (): Promise<void> => {
    if (asking) {
      again = true;
      return;
    }
    asking = true;
    const began = performance.now();
    const { of, height } = coverageChoice.peek();
    try {
      const answer = await call("coverage", { of, height, side: SIDE });
      if (!over) coverage.value = answer.coverage;
      redrawRadio();
      failed = false;
    } catch (error) {
      if (!failed && connection.peek().state === "open") showNotice("warning", `Coverage: ${reasonOf(error)}`);
      failed = true;
    }
    asking = false;
    clearTimeout(timer);
    const pause = again ? 0 : Math.max(EVERY, 3 * (performance.now() - began));
    again = false;
    if (!over && wanted) timer = setTimeout(() => void ask(), pause);
  };
  let wanted = false;
  let states = "";
  const stop = effect(() => {
    const { of, height } = coverageChoice.value;
    const jammers = radio.value?.jammers.map(({ name, active, position }) => [name, active > 0, position]);
    const now = JSON.stringify([of, height, jammers]);
    wanted = needed();
    if (!wanted) {
      clearTimeout(timer);
      coverage.value = null;
      states = "";
    } else if (now !== states) {
      states = now;
      void ask();
    } else {
      redrawRadio(); // another value of the same answer
    }
  });
  return () => {
    over = true;
    clearTimeout(timer);
    stop();
  };
}
