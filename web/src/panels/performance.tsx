// The performance panel: tick budget, clients, and the page's own rates.

import { useSignal } from "@preact/signals";
import type { FrameTimes } from "../scene/stage";
import { factorHistory, previousFigures } from "../state/clock";
import { formatCount, formatFactor, formatSpan, wordsOf } from "../state/format";
import { paletteColour } from "../state/palette";
import { clock, externallyStepped, figures, pageRates } from "../state/store";
import type { FiguresTree, StageTree } from "../wire/schema";
import { stage } from "./actions";
import { Button, Empty } from "./widgets";

interface Share {
  name: string;
  seconds: number; // per tick
}

interface Budget {
  shares: Share[]; // in the order of the tick, so that the bar stays still
  spent: number; // s per tick
  limit: number; // s per tick at the target pace; Infinity: unlimited
}

/** Seconds per tick of each stage between two reports; a stage may run less often than each tick. */
export function budgetOf(now: FiguresTree, before: FiguresTree | null): Budget {
  const earlier = before !== null && before.run === now.run && before.tick < now.tick ? before : null;
  const ticks = Math.max(1, now.tick - (earlier?.tick ?? 0));
  const shares = Object.entries(now.stages).map(([name, stage]) => {
    return { name, seconds: since(stage, earlier?.stages[name]) / ticks };
  });
  const spent = shares.reduce((sum, { seconds }) => sum + seconds, 0);
  return { shares, spent: Math.max(spent, 0), limit: tickBudget(now.rate, now.pace) };
}

/** Wall-clock s available per tick. */
export function tickBudget(rate: number, pace: number): number {
  return pace > 0 && rate > 0 ? 1 / (rate * pace) : Number.POSITIVE_INFINITY;
}

function since(now: StageTree, before: StageTree | undefined): number {
  return Math.max(0, now.seconds - (before?.seconds ?? 0));
}

/** Points of a polyline through values, in a box; NaN is skipped. */
export function sparkPoints(values: readonly number[], width: number, height: number, most: number): string {
  const step = width / Math.max(1, values.length - 1);
  const y = (value: number) => height - (Math.min(Math.max(value, 0), most) / (most || 1)) * height;
  const kept = values.map((value, at) => [at * step, y(value)] as const).filter(([, height]) => !Number.isNaN(height));
  return kept.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
}

// panel --------------------------------------------------------------------------------------------------------------

export function PerformancePanel() {
  const now = figures.value;
  if (now === null) return <Empty icon="gauge" title="No figures yet" />;
  return (
    <div class="panel-body">
      <div class="perf">
        <TickBudget now={now} />
        <RealTime now={now} />
        <Clients now={now} />
      </div>
    </div>
  );
}

function TickBudget({ now }: { now: FiguresTree }) {
  const { shares, spent, limit } = budgetOf(now, previousFigures.value);
  const whole = Number.isFinite(limit) ? Math.max(limit, spent) : spent || 1;
  const against = Number.isFinite(limit) ? ` of ${formatSpan(limit)}` : ", no limit";
  const words = `${formatSpan(spent)}${against}`;
  return (
    <section>
      <h3>
        Tick <span class="faint number">{words}</span>
      </h3>
      <div class="budget" role="img" aria-label={`Tick duration ${words}`}>
        {shares.map(({ name, seconds }, at) => (
          <span
            key={name}
            class="tint-fill"
            style={{ "--tint": paletteColour(at).hex, width: `${(100 * seconds) / whole}%` }}
            title={`${wordsOf(name)}: ${formatSpan(seconds)}`}
          />
        ))}
        {spent > limit && <span class="edge" style={{ left: `${(100 * limit) / whole}%` }} />}
      </div>
      <ul class="stages">
        {shares.map(({ name, seconds }, at) => (
          <li key={name}>
            <span class="swatch tint-fill" style={{ "--tint": paletteColour(at).hex }} />
            <span class="ellipsis">{wordsOf(name)}</span>
            <span class="number">{formatSpan(seconds)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

const WIDE = 240;
const HIGH = 40;

function RealTime({ now }: { now: FiguresTree }) {
  const { pace, factor, paused } = clock.value;
  const most = 1.15 * Math.max(pace, ...factorHistory.value, 0.01);
  const wanted = HIGH - (pace / most) * HIGH;
  const words = externallyStepped.value ? "stepped" : paused ? "paused" : formatFactor(factor);
  return (
    <section>
      <h3>
        Real-time factor <span class="faint number">{words}</span>
      </h3>
      <svg
        class="sparkline"
        viewBox={`0 0 ${WIDE} ${HIGH}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Real-time factor ${words}`}>
        {pace > 0 && (
          <line
            x1="0"
            x2={WIDE}
            y1={wanted}
            y2={wanted}
            stroke="var(--line-strong)"
            stroke-dasharray="4 4"
            vector-effect="non-scaling-stroke"
          />
        )}
        <polyline
          points={sparkPoints(factorHistory.value, WIDE, HIGH, most)}
          fill="none"
          stroke="var(--accent)"
          stroke-width="1.5"
          vector-effect="non-scaling-stroke"
        />
      </svg>
      <dl class="figures">
        <Figure name="tick" value={formatSpan(now.tick_seconds)} />
        <Figure name="lag" value={formatSpan(now.lag_seconds)} />
        <Figure name="slips" value={formatCount(now.slips)} warn={now.slips > 0} />
        <Figure name="vehicles" value={formatCount(now.vehicles)} />
        <Figure name="commands" value={formatCount(now.commands)} />
        <Figure name="refused" value={formatCount(now.refused)} warn={now.refused > 0} />
        <Figure name="events" value={formatCount(now.events)} />
        {Object.entries(now.counts).map(([name, count]) => (
          <Figure key={name} name={wordsOf(name)} value={formatCount(count)} />
        ))}
      </dl>
    </section>
  );
}

/** Duration of a frame without and with shadows, on request. */
function Drawing() {
  const times = useSignal<FrameTimes | null>(null);
  const busy = useSignal(false);
  const measure = async () => {
    busy.value = true;
    times.value = (await stage.value?.measureFrames()) ?? null;
    busy.value = false;
  };
  return (
    <div class="row">
      <Button
        look="small"
        label="Measure the drawing of frames"
        text={busy.value ? "Measuring" : "Measure drawing"}
        disabled={busy.value || stage.value === null}
        onClick={() => void measure()}
      />
      {times.value && (
        <span class="faint number">
          {formatSpan(times.value.without / 1000)} per frame, {formatSpan(times.value.with / 1000)} with shadows
        </span>
      )}
    </div>
  );
}

function Figure({ name, value, warn }: { name: string; value: string; warn?: boolean }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class={`number ${warn ? "warning" : ""}`}>{value}</dd>
    </div>
  );
}

function Clients({ now }: { now: FiguresTree }) {
  const { frames, arriving, granted, age, skipped, slowed } = pageRates.value;
  return (
    <section>
      <h3>This page {slowed && <span class="chip warn">slowed</span>}</h3>
      <dl class="figures">
        <Figure name="drawn" value={`${frames.toFixed(0)} fps`} />
        <Figure name="arriving" value={`${arriving.toFixed(0)} Hz`} />
        <Figure name="granted" value={`${granted.toFixed(0)} Hz`} />
        <Figure name="age" value={formatSpan(age)} />
        <Figure name="skipped" value={formatCount(skipped)} />
        <Figure name="shadows" value={stage.value?.shadowed ? "on" : "off"} />
      </dl>
      <Drawing />
      <h3 style={{ marginTop: "0.8rem" }}>
        Clients <span class="faint number">{now.subscribers.length}</span>
      </h3>
      <table class="table">
        <thead>
          <tr>
            <th>name</th>
            <th class="endpoint">endpoint</th>
            <th class="number">rate</th>
            <th class="number">skipped</th>
          </tr>
        </thead>
        <tbody>
          {now.subscribers.map(({ name, endpoint, rate, skipped: left }, at) => (
            <tr key={`${name} ${at}`}>
              <td title={`${name}, ${endpoint}`}>{name}</td>
              <td class="endpoint faint">{endpoint}</td>
              <td class="number">{rate.toFixed(0)} Hz</td>
              <td class="number">{formatCount(left)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
