// Play, pause, step, reset and pace.
import { useSignal } from "@preact/signals";
import { connection } from "../net/connection";
import { externallyStepped, metadata, readOnlyReason, showNotice, source } from "../state/store";
import {
  canRunUnlimited,
  IDLE,
  isOpened,
  isPaused,
  playOrPause,
  resetShown,
  setShownPace,
  shownPace,
  shownRate,
  stepShown,
} from "./timeline-model";
import { Button, Popover } from "./widgets";

const SLOWEST = 0.1;
const FASTEST = 100;
const VALID = `${SLOWEST} to ${FASTEST}, or max (0) for unlimited`;
const STEPS = 300; // steps per decade
const DECADES = Math.log10(FASTEST / SLOWEST);

/** The slider position (0 to STEPS) of a pace. */
export function placeOf(pace: number): number {
  const clamped = Math.min(Math.max(pace, SLOWEST), FASTEST);
  return Math.round((Math.log10(clamped / SLOWEST) / DECADES) * STEPS);
}

/** The pace at a position, rounded to two digits, snapping to 1. */
export function paceAt(place: number): number {
  const exact = SLOWEST * 10 ** ((place / STEPS) * DECADES);
  if (Math.abs(Math.log10(exact)) < 0.02) return 1;
  return Number(exact.toPrecision(2));
}

/** Parse a pace: `2`, `0.5x`, `1,5`; `max` and 0: unlimited. null: invalid. */
export function parsePace(text: string): number | null {
  const typed = text.trim().toLowerCase();
  if (typed === "max") return 0;
  const word = typed.replace(/[x×]$/, "").replace(",", ".");
  if (word === "" || !/^\d*\.?\d+$|^\d+\.$/.test(word)) return null;
  const pace = Number(word);
  return pace === 0 || (pace >= SLOWEST && pace <= FASTEST) ? pace : null;
}

function formatPace(pace: number): string {
  return pace === 0 ? "max" : `${Number(pace.toPrecision(3))}×`;
}

// controls -----------------------------------------------------------------------------------------------------------

export function Transport() {
  // playback in the page needs no server
  const usable = connection.value.state === "open" || source.value?.kind === "buffer" || isOpened(source.value);
  return (
    <div class="transport" role="group" aria-label="Time">
      <div class="group">
        <PlayButton disabled={!usable} />
        <Button
          label="Step one tick"
          title="Step one tick (.)"
          icon="step"
          disabled={!usable}
          onClick={() => stepShown(1)}
        />
        <StepMany disabled={!usable} />
        <ResetButton disabled={!usable || readOnlyReason.value !== ""} />
      </div>
      <Pace disabled={!usable} />
    </div>
  );
}

function PlayButton({ disabled }: { disabled: boolean }) {
  const paused = isPaused() || externallyStepped.value;
  const word = paused ? "Play" : "Pause";
  return (
    <Button
      label={word}
      title={externallyStepped.value ? IDLE : `${word} (Space)`}
      icon={paused ? "play" : "pause"}
      look={`play ${externallyStepped.value ? "idle" : paused ? "paused" : "running"}`}
      disabled={disabled || externallyStepped.value}
      onClick={playOrPause}
    />
  );
}

function StepMany({ disabled }: { disabled: boolean }) {
  const shown = useSignal(false);
  const ticks = useSignal(100);
  const go = (event: Event) => {
    event.preventDefault();
    stepShown(ticks.value);
  };
  const rate = shownRate();
  return (
    <span class="popover-anchor">
      <Button
        label="Step many ticks"
        icon="steps"
        disabled={disabled}
        expanded={shown.value}
        onClick={() => (shown.value = !shown.value)}
      />
      {shown.value && (
        <Popover label="Step many ticks" onClose={() => (shown.value = false)}>
          <form class="form" onSubmit={go}>
            <label class="stack">
              <span class="label">Ticks</span>
              <input
                class="field number"
                type="number"
                min={1}
                max={1_000_000}
                value={ticks.value}
                onInput={(event) => (ticks.value = Math.max(1, Math.round(event.currentTarget.valueAsNumber || 1)))}
              />
            </label>
            <span class="faint">{(ticks.value / rate).toFixed(3)} s of simulated time</span>
            <button class="button primary" type="submit">
              Step
            </button>
          </form>
        </Popover>
      )}
    </span>
  );
}

function ResetButton({ disabled }: { disabled: boolean }) {
  const shown = useSignal(false);
  const seed = useSignal("");
  const go = (event: Event) => {
    event.preventDefault();
    shown.value = false;
    resetShown(seed.value === "" ? null : Number(seed.value));
  };
  return (
    <span class="popover-anchor">
      <Button
        label="Reset"
        title={readOnlyReason.value === "" ? "Reset the run" : `Cannot reset: ${readOnlyReason.value}`}
        icon="reset"
        disabled={disabled}
        expanded={shown.value}
        onClick={() => (shown.value = !shown.value)}
      />
      {shown.value && (
        <Popover label="Reset" onClose={() => (shown.value = false)}>
          <form class="form" onSubmit={go}>
            <label class="stack">
              <span class="label">Seed</span>
              <input
                class="field number"
                type="number"
                min={0}
                step={1}
                placeholder={`${metadata.value?.seed ?? 0} (as now)`}
                value={seed.value}
                onInput={(event) => (seed.value = event.currentTarget.value)}
              />
            </label>
            <span class="faint">The same seed gives the same run.</span>
            <button class="button primary" type="submit">
              Reset
            </button>
          </form>
        </Popover>
      )}
    </span>
  );
}

function Pace({ disabled }: { disabled: boolean }) {
  const pace = shownPace();
  return (
    <div class="pace" role="group" aria-label="Pace">
      <input
        type="range"
        min={0}
        max={STEPS}
        value={pace === 0 ? STEPS : placeOf(Math.abs(pace))}
        aria-label="Pace, logarithmic"
        aria-valuetext={pace === 0 ? "unlimited" : `${formatPace(pace)} real time`}
        title="Pace: simulated seconds per second"
        disabled={disabled}
        onInput={(event) => setShownPace(paceAt(event.currentTarget.valueAsNumber))}
      />
      <PaceField pace={pace} disabled={disabled} />
      <Button
        label="Unlimited pace"
        icon="fast"
        look="bare"
        pressed={pace === 0}
        disabled={disabled || !canRunUnlimited()}
        onClick={() => setShownPace(pace === 0 ? 1 : 0)}
      />
    </div>
  );
}

function PaceField({ pace, disabled }: { pace: number; disabled: boolean }) {
  const typing = useSignal<string | null>(null); // the clock renders this often: keep what is being typed
  const apply = () => {
    const words = typing.value;
    typing.value = null;
    if (words === null) return;
    const typed = parsePace(words);
    if (typed === null || (typed === 0 && !canRunUnlimited()))
      showNotice("warning", `Invalid pace “${words}”: ${VALID}`);
    else if (typed !== pace) setShownPace(typed);
  };
  return (
    <input
      class="field number"
      aria-label="Pace, typed"
      title={`Pace: ${VALID}`}
      value={typing.value ?? formatPace(pace)}
      disabled={disabled}
      onFocus={(event) => event.currentTarget.select()}
      onInput={(event) => (typing.value = event.currentTarget.value)}
      onBlur={apply}
      onKeyDown={(event) => {
        if (event.key === "Enter") apply();
        if (event.key === "Escape") typing.value = null;
      }}
    />
  );
}
