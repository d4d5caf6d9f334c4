// The clock: simulated time, tick, how fast it really goes, and who holds it.
import { useComputed } from "@preact/signals";
import { clock, metadata, source } from "../state/store";
import { attempt } from "./actions";
import { formatCount, formatFactor, formatTime } from "./format";
import { momentOf } from "./timelinemodel";

const BEHIND = 0.9; // of the wanted pace: below, it is said

export function ClockReadout() {
  return (
    <div class="clock number" role="group" aria-label="Clock">
      <Time />
      <Factor />
      <Tick />
      <Owner />
    </div>
  );
}

function Time() {
  const text = useComputed(() => formatTime(momentOf(source.value).time));
  return (
    <span class="time" title="Simulated time">
      {text}
    </span>
  );
}

function Factor() {
  const { factor, pace, paused } = clock.value;
  const behind = !paused && pace > 0 && factor < BEHIND * pace;
  const title = behind ? `Real-time factor: behind the wanted pace of ${pace}` : "Real-time factor: simulated s per s";
  return (
    <span class={`factor ${behind ? "behind" : ""}`} title={title}>
      {paused ? "held" : formatFactor(factor)}
    </span>
  );
}

function Tick() {
  const text = useComputed(() => `tick ${formatCount(momentOf(source.value).tick)}`);
  return <span class="small">{text}</span>;
}

/** Whoever has taken the clock by stepping keeps it until it lets go. */
function Owner() {
  const owner = clock.value.owner;
  if (owner === "") return <span class="small">{metadata.value ? `${metadata.value.rate} Hz` : ""}</span>;
  return (
    <button
      type="button"
      class="owner"
      title={`${owner} has the clock; click to give it back if it is yours`}
      onClick={() => void attempt("Clock", "let_go", {})}
    >
      {owner}
    </button>
  );
}
