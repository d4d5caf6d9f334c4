// The clock: simulated time, tick, how fast it really goes, and who holds it.
import { useComputed } from "@preact/signals";
import { giveBack, holding } from "../state/clock";
import { clock, idle, live, metadata, source } from "../state/store";
import { formatCount, formatFactor, formatTime } from "./format";
import { IDLE, isPaused, shownPace, shownRate } from "./shown";
import { isOpened, momentOf } from "./timelinemodel";

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
  if (idle.value) {
    return (
      <span class="factor" title={`Time does not pass by itself: ${IDLE}`}>
        idle
      </span>
    );
  }
  if (source.value?.kind === "buffer" || isOpened(source.value)) {
    return (
      <span class="factor" title="How fast it is played">
        {isPaused() ? "held" : formatFactor(shownPace())}
      </span>
    );
  }
  return <Measured />;
}

function Measured() {
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
  const { owner } = clock.value;
  if (isOpened(source.value) || (owner === "" && !holding.value)) return <Rate />;
  if (holding.value) return <GiveBack />;
  const title = `${owner} has the clock: time passes only when it says so, until it lets go or leaves`;
  return (
    <span class="owner" title={title}>
      by {owner.startsWith("web client ") ? "another page" : owner}
    </span>
  );
}

function Rate() {
  const known = metadata.value !== null || isOpened(source.value);
  return <span class="small">{known ? `${formatCount(shownRate())} Hz` : ""}</span>;
}

function GiveBack() {
  return (
    <button
      type="button"
      class="owner mine"
      title="You have the clock, because you stepped: nobody else can let time pass. Give it back, and time goes on."
      disabled={!live.value}
      onClick={() => void giveBack()}
    >
      give clock back
    </button>
  );
}
