// Inputs of a vehicle that takes commands: a slider and a number for each, sent as they are moved.
import { useSignal } from "@preact/signals";
import { driving } from "../control";
import type { InspectedTree, ValueTree } from "../net/schema";
import { attempt } from "./actions";
import { formatUnit, formatValue } from "./format";
import { Icon } from "./icons";

export function CommandInputs({ tree }: { tree: InspectedTree }) {
  if (tree.command.length === 0 || driving.value?.id === tree.id) return null;
  return (
    <details class="section" open>
      <summary>
        <Icon name="chevron" />
        Give commands
      </summary>
      {tree.command.map((input) => (
        <InputRow key={input.name} id={tree.id} input={input} />
      ))}
    </details>
  );
}

function InputRow({ id, input }: { id: number; input: ValueTree }) {
  const send = (value: number) => void attempt(input.name, "set_control", { vehicle_id: id, [input.name]: value });
  return (
    <div class="input-row" title={input.meaning}>
      <span class="ellipsis faint">{input.name}</span>
      {input.choices.length > 0 ? <Choice input={input} onChange={send} /> : <Slider input={input} onChange={send} />}
    </div>
  );
}

interface InputProps {
  input: ValueTree;
  onChange(value: number): void;
}

function Choice({ input, onChange }: InputProps) {
  return (
    <select
      class="select small"
      aria-label={input.name}
      value={String(input.value ?? 0)}
      onChange={(event) => onChange(Number(event.currentTarget.value))}
    >
      {input.choices.map((choice, at) => (
        <option key={choice} value={String(at)}>
          {choice}
        </option>
      ))}
    </select>
  );
}

function Slider({ input, onChange }: InputProps) {
  const held = useSignal<number | null>(null); // while it is moved, what the server says does not move it
  const value = held.value ?? input.value ?? 0;
  const [low, high] = [input.low ?? -1, input.high ?? 1];
  const bounded = Number.isFinite(low) && Number.isFinite(high) && high > low;
  const move = (next: number) => {
    if (Number.isNaN(next)) return;
    held.value = next;
    onChange(next);
  };
  return (
    <>
      <input
        type="range"
        aria-label={`${input.name}, slider`}
        min={bounded ? low : -1}
        max={bounded ? high : 1}
        step="any"
        value={value}
        onInput={(event) => move(event.currentTarget.valueAsNumber)}
        onChange={() => (held.value = null)}
      />
      <input
        class="field small number"
        type="number"
        step="any"
        aria-label={input.name}
        value={formatValue(value).replaceAll("−", "-")}
        onChange={(event) => {
          move(event.currentTarget.valueAsNumber);
          held.value = null;
        }}
      />
      <span class="unit faint">{formatUnit(input.unit)}</span>
    </>
  );
}
