// The driving HUD: inputs as bars, gear or mode, the key that ends driving, and buttons for touch screens.
import { driving, keys, pressKey, release, resumeDriving } from "./driving";
import type { Bar } from "./kinds/driver";

export function DrivingHud() {
  const now = driving.value;
  if (!now) return null;
  const { name, kind, status: words, bars, help, pad, suspended: away, speed, figures } = now;
  return (
    <section class={away ? "driving away" : "driving"} aria-label={`Driving ${name}`} onPointerDown={resumeDriving}>
      <header>
        <strong>driving {name}</strong>
        {words.map((word) => (
          <span key={word} class={`word ${word}`}>
            {word}
          </span>
        ))}
        <button type="button" class="button small" title="Stop driving (G)" onClick={() => void release()}>
          <kbd>G</kbd> stop
        </button>
      </header>
      <p class="figures">
        <strong>{Number.isFinite(speed) ? `${Math.abs(speed).toFixed(1)} m/s` : "– m/s"}</strong>
        {kind === "car" && Number.isFinite(speed) && <span>{(3.6 * Math.abs(speed)).toFixed(0)} km/h</span>}
        {figures.map((figure) => (
          <span key={figure.split(" ")[0]}>{figure}</span>
        ))}
      </p>
      {away && <p role="status">Inputs released. Click here or press a key to continue.</p>}
      {!away && (
        <div class="meters">
          {bars.map((bar) => (
            <Meter key={bar.name} {...bar} />
          ))}
        </div>
      )}
      <div class="touch">
        {help.map(([what, which]) => (
          <TouchGroup key={what} what={what} keys={which.split(" ")} />
        ))}
      </div>
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

const SIGNS: Readonly<Record<string, string>> = { W: "▲", A: "◀", S: "▼", D: "▶", Q: "↺", E: "↻", R: "↥", F: "↧" };

/** The keys of an action as buttons, which count while they are touched; CSS shows them on touch screens. */
function TouchGroup({ what, keys: names }: { what: string; keys: readonly string[] }) {
  return (
    <div class={names.length === 4 ? "group cross" : "group"} role="group" aria-label={what}>
      {names.map((name) => (
        <TouchButton key={name} what={what} name={name} sign={names.length === 1 ? what : (SIGNS[name] ?? name)} />
      ))}
    </div>
  );
}

function TouchButton({ what, name, sign }: { what: string; name: string; sign: string }) {
  const code = name.length === 1 ? `Key${name}` : name;
  const lift = () => keys.lift(code);
  return (
    <button
      type="button"
      class={`button key-${name}`}
      aria-label={`${what}: ${name}`}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture?.(event.pointerId);
        event.preventDefault(); // no focus, no text selection
        pressKey(code);
      }}
      onPointerUp={lift}
      onPointerCancel={lift}
      onLostPointerCapture={lift}
      onContextMenu={(event) => event.preventDefault()}>
      {sign}
    </button>
  );
}

/** A bar from zero, or from the lower limit if zero is outside the range. */
function Meter({ name, value, low, high, warns = false }: Bar) {
  const share = (x: number): number => Math.min(1, Math.max(0, (x - low) / (high - low || 1)));
  const zero = share(Math.max(low, 0));
  const at = share(value);
  const style = { left: `${100 * Math.min(zero, at)}%`, width: `${100 * Math.abs(at - zero)}%` };
  return (
    <div
      class={warns ? "meter warns" : "meter"}
      role="meter"
      aria-label={name}
      aria-valuenow={round(value)}
      aria-valuemin={low}
      aria-valuemax={high}>
      <span>{name}</span>
      <div class="track">
        <i style={style} />
        {name === "grip" && <b style={{ left: `${100 * share(1)}%` }} />}
        {low < 0 && <b style={{ left: `${100 * zero}%` }} />}
      </div>
    </div>
  );
}

function round(value: number): number {
  return Math.round(100 * value) / 100;
}
