// How the simulation, its watchers and this page keep up.
import type { FiguresTree } from "../net/schema";
import { paletteColour } from "../state/palette";
import { clock, figures, idle, pulse } from "../state/store";
import { budgetOf, sparkPoints } from "./budget";
import { formatCount, formatFactor, formatSpan, wordsOf } from "./format";
import { factors, previous } from "./history";
import { Empty } from "./parts";

export function PerformancePanel() {
  const now = figures.value;
  if (now === null) return <Empty icon="gauge" title="No figures yet" />;
  return (
    <div class="panel-body">
      <div class="perf">
        <TickBudget now={now} />
        <RealTime now={now} />
        <Watchers now={now} />
      </div>
    </div>
  );
}

function TickBudget({ now }: { now: FiguresTree }) {
  const { shares, spent, limit } = budgetOf(now, previous.value);
  const whole = Number.isFinite(limit) ? Math.max(limit, spent) : spent || 1;
  const against = Number.isFinite(limit) ? ` of ${formatSpan(limit)}` : ", no limit";
  const words = `${formatSpan(spent)}${against}`;
  return (
    <section>
      <h3>
        Tick <span class="faint number">{words}</span>
      </h3>
      <div class="budget" role="img" aria-label={`A tick takes ${words}`}>
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
  const most = 1.15 * Math.max(pace, ...factors.value, 0.01);
  const wanted = HIGH - (pace / most) * HIGH;
  const words = idle.value ? "idle" : paused ? "held" : formatFactor(factor);
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
        aria-label={`Real-time factor ${words}`}
      >
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
          points={sparkPoints(factors.value, WIDE, HIGH, most)}
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

function Figure({ name, value, warn }: { name: string; value: string; warn?: boolean }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class={`number ${warn ? "warning" : ""}`}>{value}</dd>
    </div>
  );
}

function Watchers({ now }: { now: FiguresTree }) {
  const { frames, arriving, granted, age, skipped, slowed } = pulse.value;
  return (
    <section>
      <h3>
        This page {slowed && <span class="chip warn">slowed</span>}
      </h3>
      <dl class="figures">
        <Figure name="drawn" value={`${frames.toFixed(0)} fps`} />
        <Figure name="arriving" value={`${arriving.toFixed(0)} Hz`} />
        <Figure name="asked for" value={`${granted.toFixed(0)} Hz`} />
        <Figure name="age" value={formatSpan(age)} />
        <Figure name="skipped" value={formatCount(skipped)} />
      </dl>
      <h3 style={{ marginTop: "0.8rem" }}>
        Subscribers <span class="faint number">{now.subscribers.length}</span>
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
