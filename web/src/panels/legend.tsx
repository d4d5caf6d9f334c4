// What the colours of the vehicles mean at the moment.
import { useComputed } from "@preact/signals";
import { rampGradient } from "../scene/ramp";
import { scalars } from "../state/colouring";
import { colouring, theme } from "../state/store";

export function Legend() {
  // as words, so that it is drawn anew only when they change
  const name = useComputed(() => scalars.value?.label ?? colouring.value).value;
  const low = useComputed(() => endOf(scalars.value?.low, scalars.value?.unit)).value;
  const high = useComputed(() => endOf(scalars.value?.high, scalars.value?.unit)).value;
  if (colouring.value === "fleet") return null;
  if (low === "") return <div class="floating legend faint">No {name} is told of these vehicles</div>;
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

function endOf(value: number | undefined, unit = ""): string {
  if (value === undefined) return "";
  const digits = Math.abs(value) < 10 ? 1 : 0;
  return `${value.toFixed(digits).replace("-", "−")} ${unit}`.trim();
}
