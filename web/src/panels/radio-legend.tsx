// The legends of links and of the coverage.
import { rampGradient } from "../scene/colour-ramp";
import { coverage, coverageChoice, coverageSpan, radio } from "../state/radio";
import { layers, theme } from "../state/store";

export function RadioLegend() {
  const { links, jamming, coverage: map } = layers.value;
  const tree = coverage.value;
  const needed = Math.round(radio.value?.fleets[0]?.radios[0]?.needed ?? 0);
  const edges = jamming && tree !== null && radio.value?.jammers.some(({ active }) => active > 0) === true;
  if (!links && !edges && !(map && tree)) return null;
  return (
    <div class="floating legend radio">
      {links && radio.value && (
        <div role="img" aria-label={`Links: SINR from ${needed} to ${needed + 20} dB`}>
          <span class="label">link SINR</span>
          <div
            class="bar-ramp"
            style={{ background: "linear-gradient(to right, var(--red), var(--amber), var(--green))" }}
          />
          <div class="ends number">
            <span>{needed} dB</span>
            <span>{needed + 20} dB</span>
          </div>
        </div>
      )}
      {map && tree && <CoverageBar />}
      {edges && (
        <ul>
          <li>
            <span class="swatch above-noise" />
            jamming above noise
          </li>
          <li>
            <span class="swatch jammed" />
            jammed: above all signals
          </li>
        </ul>
      )}
    </div>
  );
}

const USABLE = 0.1; // packet error rate up to which a link is usable

function CoverageBar() {
  const tree = coverage.value;
  const { quantity, height } = coverageChoice.value;
  if (tree === null) return null;
  const [low, high] = coverageSpan(tree, quantity);
  const [what, unit, scale, least] = (
    {
      power: ["received power", "dBm", 1, tree.sensitivity],
      sinr: ["mean SINR", "dB", 1, tree.needed],
      per: ["packets lost", "%", 100, USABLE],
    } as const
  )[quantity];
  const name = `${what}, ${height} m up`;
  const text = (value: number) => `${(scale * value).toFixed(0).replace("-", "−")} ${unit}`;
  const [worst, best] = quantity === "per" ? ["", ""] : [quantity === "sinr" ? "≤ " : "", "≥ "];
  return (
    <div role="img" aria-label={`Coverage: ${name} from ${text(low)} to ${text(high)}, usable from ${text(least)}`}>
      <span class="label">{name}</span>
      <div class="bar-ramp marked" style={{ background: rampGradient(theme.value) }}>
        <span style={{ left: `${(100 * (least - low)) / (high - low)}%` }} />
      </div>
      <div class="ends number">
        <span>{worst + text(low)}</span>
        <span>{best + text(high)}</span>
      </div>
      <span class="number faint">usable from {text(least)}</span>
    </div>
  );
}
