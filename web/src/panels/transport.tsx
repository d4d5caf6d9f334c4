// How time passes: run, hold, step, begin anew, and how fast.
import { useSignal } from "@preact/signals";
import { clock, connection, live, metadata } from "../state/store";
import { isPaused, playOrPause, reset, setPace, step } from "./actions";
import { formatPace, paceAt, parsePace, placeOf, STEPS } from "./pace";
import { Button, Popover } from "./parts";

export function Transport() {
  const paused = isPaused();
  const open = connection.value.state === "open";
  const usable = open || !live.value;
  return (
    <div class="transport" role="group" aria-label="Time">
      <div class="group">
        <Button
          label={paused ? "Run" : "Pause"}
          title={paused ? "Run (Space)" : "Pause (Space)"}
          icon={paused ? "play" : "pause"}
          look={`play ${paused ? "paused" : "running"}`}
          disabled={!usable}
          onClick={playOrPause}
        />
        <Button
          label="Step one tick"
          title="Step one tick (.)"
          icon="step"
          disabled={!open}
          onClick={() => void step(1)}
        />
        <StepMany disabled={!open} />
        <ResetButton disabled={!open} />
      </div>
      <Pace disabled={!open} />
    </div>
  );
}

function StepMany({ disabled }: { disabled: boolean }) {
  const shown = useSignal(false);
  const ticks = useSignal(100);
  const go = (event: Event) => {
    event.preventDefault();
    void step(ticks.value);
  };
  const rate = clock.value.rate;
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
              <span class="label">Ticks to go</span>
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
    void reset(seed.value === "" ? undefined : Number(seed.value));
  };
  return (
    <span class="popover-anchor">
      <Button
        label="Reset"
        title="Begin anew"
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
              Begin anew
            </button>
          </form>
        </Popover>
      )}
    </span>
  );
}

function Pace({ disabled }: { disabled: boolean }) {
  const { pace } = clock.value;
  return (
    <div class="pace" role="group" aria-label="Pace">
      <input
        type="range"
        min={0}
        max={STEPS}
        value={pace === 0 ? STEPS : placeOf(pace)}
        aria-label="Pace, logarithmic"
        aria-valuetext={pace === 0 ? "as fast as possible" : `${formatPace(pace)} real time`}
        title="Pace: simulated seconds per second"
        disabled={disabled}
        onInput={(event) => setPace(paceAt(event.currentTarget.valueAsNumber))}
      />
      <PaceField pace={pace} disabled={disabled} />
      <Button
        label="As fast as possible"
        icon="fast"
        look="bare"
        pressed={pace === 0}
        disabled={disabled}
        onClick={() => setPace(pace === 0 ? 1 : 0)}
      />
    </div>
  );
}

function PaceField({ pace, disabled }: { pace: number; disabled: boolean }) {
  const typing = useSignal<string | null>(null); // the clock draws this anew all the time: what is being typed stays
  const apply = () => {
    const typed = typing.value === null ? null : parsePace(typing.value);
    typing.value = null;
    if (typed !== null && typed !== pace) setPace(typed);
  };
  return (
    <input
      class="field number"
      aria-label="Pace, typed"
      title="Type a pace, as in 2.5, or max"
      value={typing.value ?? formatPace(pace)}
      disabled={disabled}
      onFocus={(event) => event.currentTarget.select()}
      onInput={(event) => (typing.value = event.currentTarget.value)}
      onBlur={apply}
      onKeyDown={(event) => {
        if (event.key === "Enter") apply();
      }}
    />
  );
}
