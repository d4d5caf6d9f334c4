// Jammers and spoofers in the radio panel: state, control, and where they are.

import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { setCanvasTool } from "../control/pointer";
import {
  aboutEmitter,
  type Emitter,
  type EmitterMode,
  modeOf,
  planOf,
  shownSecond,
  statusOf,
  statusText,
} from "../state/emitters";
import { formatCount } from "../state/format";
import { radio } from "../state/radio";
import { groundAt } from "../state/scenery";
import { live, readOnlyReason } from "../state/store";
import { attempt, stage } from "./actions";
import { Button } from "./widgets";

type Setter = "set_jammer" | "set_spoofer";

interface EmittersProps {
  title: string;
  method: Setter;
  emitters: readonly Emitter[];
  last?: boolean; // of all lists: it says why there are no changes
}

export function Emitters({ title, method, emitters, last = true }: EmittersProps) {
  const moving = useSignal<string | null>(null);
  useEffect(() => {
    const name = moving.value;
    if (name === null) return undefined;
    setCanvasTool({
      dragFrom: () => null,
      hover: () => {},
      click: (x, y) => {
        const point = stage.peek()?.groundPoint(x, y);
        moving.value = null;
        if (point) void move(method, name, point);
      },
    });
    const key = (event: KeyboardEvent) => {
      if (event.key === "Escape") moving.value = null;
    };
    window.addEventListener("keydown", key);
    return () => {
      setCanvasTool(null);
      window.removeEventListener("keydown", key);
    };
  }, [moving.value]);
  if (emitters.length === 0) return null;
  const moved = emitters.find(({ name }) => name === moving.value);
  return (
    <section class="form">
      <h3 class="label">
        {title} <span class="number">{formatCount(emitters.length)}</span>
      </h3>
      <ul class="emitters">
        {emitters.map((emitter) => (
          <EmitterRow key={emitter.name} emitter={emitter} method={method} moving={moving} />
        ))}
      </ul>
      {last && readOnlyReason.value !== "" && <p class="faint">No changes: {readOnlyReason.value}.</p>}
      {moved && (
        <p class="faint">
          Click on the ground where {moved.name} stands from now on
          {moved.vehicle === null ? "." : `: it is taken off ${moved.vehicle}.`}
        </p>
      )}
    </section>
  );
}

interface RowProps {
  emitter: Emitter;
  method: Setter;
  moving: Signal<string | null>;
}

function EmitterRow({ emitter, method, moving }: RowProps) {
  const { name } = emitter;
  const plan = planOf(emitter);
  const status = statusOf(emitter, plan);
  const reason = readOnlyReason.value;
  const off = { disabled: reason !== "", ...(reason !== "" && { title: reason }) };
  const kind = "captured" in emitter ? "spoofer" : "jammer";
  return (
    <li>
      <div class="row">
        <span class={`dot ${status === "transmits" ? kind : "faint"}`} />
        <b class="grow ellipsis">{name}</b>
        {plan.vehicle !== null && emitter.vehicle === null && (
          <Button
            look="bare small"
            icon="back"
            label={`Put ${name} back on ${plan.vehicle}`}
            {...off}
            onClick={() => void attempt(name, method, { name, vehicle: plan.vehicle })}
          />
        )}
        <Button
          look="bare small"
          icon="go"
          label={`Move ${name}: click on the ground`}
          pressed={moving.value === name}
          {...off}
          onClick={() => (moving.value = moving.value === name ? null : name)}
        />
        <select
          class="select small"
          aria-label={`${name}: control`}
          value={modeOf(emitter, plan)}
          {...off}
          onChange={(event) => void control(method, name, event.currentTarget.value as EmitterMode)}>
          <option value="on">on</option>
          <option value="off">off</option>
          {plan.schedule !== null && <option value="schedule">schedule</option>}
        </select>
      </div>
      <p class="faint">
        <span class={status}>{statusText(emitter, plan, shownSecond.value)}</span>,{" "}
        {aboutEmitter(emitter, plan, !live.value)}
      </p>
    </li>
  );
}

/** Switched on or off by hand, or back to the schedule. */
function control(method: Setter, name: string, mode: EmitterMode): Promise<unknown> {
  const change = mode === "schedule" ? { scheduled: true } : { on: mode === "on" };
  return attempt(name, method, { name, ...change });
}

/** A jammer keeps its height above the ground. */
async function move(method: Setter, name: string, [x, y, z]: readonly [number, number, number]): Promise<void> {
  const { jammers = [], spoofers = [] } = radio.peek() ?? {};
  const before = [...jammers, ...spoofers].find((emitter) => emitter.name === name)?.position;
  const above = before ? Math.max(before[2] - groundAt(before[0], before[1]), 0) : 2;
  const position = [x, y, z + above].map((coordinate) => Math.round(100 * coordinate) / 100);
  await attempt(name, method, { name, position });
}
