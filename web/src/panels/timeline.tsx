// The strip below the view: time of whatever is shown, to look at, to move in and to play.
import { useComputed } from "@preact/signals";
import { source } from "../state/store";
import { formatCount, formatTime } from "./format";
import { Button } from "./parts";
import { chooseGhost, GhostRows } from "./timelineghosts";
import { backToLive, jumpToEvent, modeOf, momentOf, type Mode, stepSample } from "./timelinemodel";
import { TimelineTrack } from "./timelinetrack";

const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100];
const BACKWARDS = [-0.25, -1, -5];

export function TimelineStrip() {
  const mode = modeOf(source.value);
  return (
    <section class={`timeline ${mode}`} aria-label="Timeline">
      <div class="timeline-row">
        <Playing mode={mode} />
        <TimelineTrack />
        <Readout />
        <Ends mode={mode} />
      </div>
      <GhostRows />
    </section>
  );
}

/** Play, step and jump. The live run is run by the top bar: here one can only look back, but the room for the rest is
 * kept, so that the track does not shrink under the pointer. */
function Playing({ mode }: { mode: Mode }) {
  const timeline = source.value?.timeline ?? null;
  const playing = timeline?.playing.value ?? false;
  return (
    <div class="timeline-buttons">
      <span class="mirrored">
        <Button look="bare small" icon="steps" label="Previous event (Page up)" onClick={() => jumpToEvent(-1)} />
        <Button look="bare small" icon="step" label="One sample back (,)" onClick={() => stepSample(-1)} />
      </span>
      <span class={timeline === null ? "timeline-past reserved" : "timeline-past"}>
        <Button
          look="small"
          icon={playing ? "pause" : "play"}
          label={playing ? "Pause" : "Play"}
          disabled={timeline === null}
          onClick={() => (playing ? timeline?.pause() : timeline?.play())}
        />
        <Button
          look="bare small"
          icon="step"
          label="One sample on (.)"
          disabled={timeline === null}
          onClick={() => stepSample(1)}
        />
        <Button
          look="bare small"
          icon="steps"
          label="Next event (Page down)"
          disabled={timeline === null}
          onClick={() => jumpToEvent(1)}
        />
        <Speed mode={mode} />
      </span>
    </div>
  );
}

function Speed({ mode }: { mode: Mode }) {
  const timeline = source.value?.timeline ?? null;
  const speed = timeline?.speed.value ?? 1;
  const offered = mode === "served" ? SPEEDS : [...BACKWARDS, ...SPEEDS];
  const all = offered.includes(speed) ? offered : [...offered, speed].sort((a, b) => a - b);
  return (
    <select
      class="select small"
      aria-label="Speed"
      title="Speed"
      value={String(speed)}
      disabled={timeline === null}
      onChange={({ currentTarget }) => timeline?.setSpeed(Number(currentTarget.value))}
    >
      {all.map((one) => (
        <option key={one} value={String(one)}>
          {nameOf(one)}
        </option>
      ))}
    </select>
  );
}

function nameOf(speed: number): string {
  return speed === 0 ? "unpaced" : `${String(speed).replace("-", "−")}×`;
}

function Readout() {
  const moment = useComputed(() => momentOf(source.value)).value;
  return (
    <output class="timeline-readout number" aria-label="Time shown">
      <span>{formatTime(moment.time)}</span>
      <span class="faint">
        tick {formatCount(moment.tick)}
        {moment.run !== null && `, run ${moment.run}`}
      </span>
    </output>
  );
}

function Ends({ mode }: { mode: Mode }) {
  const label = source.value?.label ?? "";
  return (
    <div class="timeline-ends">
      {mode === "served" || mode === "opened" ? (
        <span class="ellipsis timeline-name" title={label}>
          {label}
        </span>
      ) : null}
      {mode !== "served" && (
        <span class="timeline-live">
          {mode === "live" ? (
            <span class="timeline-badge">live</span>
          ) : (
            <Button look="small" icon="back" text="Live" label="Back to live" onClick={() => void backToLive()} />
          )}
        </span>
      )}
      <Button look="bare small" icon="ghost" label="Compare with a recording" onClick={chooseGhost} />
    </div>
  );
}
