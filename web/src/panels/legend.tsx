// What the colours of the vehicles mean at the moment.
import { useComputed } from "@preact/signals";
import { rampCss, rampGradient } from "../scene/ramp";
import { scalars } from "../state/colouring";
import { colouring, theme } from "../state/store";

export function Legend() {
  // as words, so that it is drawn anew only when they change
  const name = useComputed(() => scalars.value?.label ?? colouring.value).value;
  const low = useComputed(() => endOf(scalars.value?.low, scalars.value?.unit)).value;
  const high = useComputed(() => endOf(scalars.value?.high, scalars.value?.unit)).value;
  const words = useComputed(() => scalars.value?.words).value;
  if (colouring.value === "fleet") return null;
  if (low === "") return <div class="floating legend faint">No {name} is told of these vehicles</div>;
  if (words) return <WordsLegend name={name} words={words} />;
  return (
    <div class="floating legend" role="img" aria-label={`Colours: ${name} from ${low} to ${high}`}>
      <span class="label">{name}</span>
      <div class="bar-ramp" style={{ background: rampGradient(theme.value) }} />
      <div class="ends number">
        <span>{low}</span>
        <span>{high}</span>
      </div>
    </div>
  );
}

/** Colours that stand for words. */
function WordsLegend({ name, words }: { name: string; words: readonly string[] }) {
  return (
    <div class="floating legend">
      <span class="label">{name}</span>
      <ul>
        {words.map((word, k) => (
          <li key={word}>
            <span class="swatch" style={{ background: rampCss(k / (words.length - 1), theme.value) }} />
            {word}
          </li>
        ))}
      </ul>
    </div>
  );
}

function endOf(value: number | undefined, unit = ""): string {
  if (value === undefined) return "";
  const digits = Math.abs(value) < 10 ? 1 : 0;
  return `${value.toFixed(digits).replace("-", "−")} ${unit}`.trim();
}
