// The driving HUD: inputs as bars, gear or mode, and the key that ends driving.
import { driving, release, resumeDriving } from "./driving";
import type { Bar } from "./kinds/driver";

export function DrivingHud() {
  const now = driving.value;
  if (!now) return null;
  const { name, status: words, bars, help, pad, suspended: away, speed } = now;
  return (
    <section class={away ? "driving away" : "driving"} aria-label={`Driving ${name}`} onPointerDown={resumeDriving}>
      <header>
        <strong>driving {name}</strong>
        {words.map((word) => (
          <span key={word} class={`word ${word}`}>
            {word}
          </span>
        ))}
        <span class="figure">{Number.isFinite(speed) ? `${Math.abs(speed).toFixed(1)} m/s` : "– m/s"}</span>
        <button type="button" class="button small" title="Stop driving (G)" onClick={() => void release()}>
          <kbd>G</kbd> stop
        </button>
      </header>
      {away && <p role="status">Inputs released. Click here or press a key to continue.</p>}
      {!away && (
        <div class="meters">
          {bars.map((bar) => (
            <Meter key={bar.name} {...bar} />
          ))}
        </div>
      )}
      <footer>
        {help.map(([what, which]) => (
          <span key={what}>
            <kbd>{which}</kbd> {what}
          </span>
        ))}
        {pad && <span>{pad}</span>}
      </footer>
    </section>
  );
}

/** A bar from zero, or from the lower limit if zero is outside the range. */
function Meter({ name, value, low, high }: Bar) {
  const share = (x: number): number => Math.min(1, Math.max(0, (x - low) / (high - low || 1)));
  const zero = share(Math.max(low, 0));
  const at = share(value);
  const style = { left: `${100 * Math.min(zero, at)}%`, width: `${100 * Math.abs(at - zero)}%` };
  return (
    <div
      class="meter"
      role="meter"
      aria-label={name}
      aria-valuenow={round(value)}
      aria-valuemin={low}
      aria-valuemax={high}>
      <span>{name}</span>
      <div class="track">
        <i style={style} />
        {low < 0 && <b style={{ left: `${100 * zero}%` }} />}
      </div>
    </div>
  );
}

function round(value: number): number {
  return Math.round(100 * value) / 100;
}
