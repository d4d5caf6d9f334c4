// The spawn panel: model, count, heading; placed by a click in the world or by coordinates.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { spawnEntries } from "../control/tools/spawn";
import { connection } from "../net/connection";
import { compassDegrees, formatVehicles } from "../state/format";
import { readOnlyReason, type Spawning, select, showNotice, spawning, tool } from "../state/store";
import type { ModelTree } from "../wire/schema";
import { attempt } from "./actions";
import { Button, Empty } from "./widgets";

let known: readonly ModelTree[] | null = null;

async function modelList(): Promise<readonly ModelTree[]> {
  if (known !== null) return known;
  const answer = await attempt("Models", "list_models", {});
  if (answer !== null) known = answer.models;
  return known ?? [];
}

export function SpawnPanel() {
  const open = connection.value.state === "open";
  const models = useSignal<readonly ModelTree[] | null>(null);
  useEffect(() => {
    if (open) void modelList().then((list) => (models.value = list));
  }, [open]);
  if (readOnlyReason.value !== "") return <Empty icon="spawn" title={`Cannot spawn: ${readOnlyReason.value}`} />;
  const waiting = open ? "Loading models …" : "Waiting for the server";
  if (models.value === null) return <Empty icon="spawn" title={waiting} />;
  if (models.value.length === 0) return <Empty icon="spawn" title="No models available" />;
  return <SpawnForm models={models.value} />;
}

function change(part: Partial<Spawning>): void {
  spawning.value = { ...spawning.value, ...part };
}

function SpawnForm({ models }: { models: readonly ModelTree[] }) {
  const now = spawning.value;
  const model = models.find((entry) => entry.model === now.model) ?? models[0];
  useEffect(() => {
    if (model && model.model !== now.model) change({ model: model.model, preset: "" });
  }, [model?.model]);
  if (model === undefined) return null;
  return (
    <div class="panel-body">
      <form class="form" onSubmit={(event) => event.preventDefault()}>
        <ModelFields models={models} model={model} now={now} />
        <NumberFields now={now} flies={model.kind === "quad" || model.kind === "aircraft"} />
        <PlaceByClick />
        <PlaceByNumbers />
      </form>
    </div>
  );
}

function ModelFields({ models, model, now }: { models: readonly ModelTree[]; model: ModelTree; now: Spawning }) {
  return (
    <>
      <label class="stack">
        <span class="label">Model</span>
        <select
          class="select"
          value={model.model}
          onChange={(event) => change({ model: event.currentTarget.value, preset: "" })}>
          {models.map((entry) => (
            <option key={entry.model} value={entry.model}>
              {entry.model}
            </option>
          ))}
        </select>
      </label>
      <p class="faint">{model.summary}</p>
      <div class="pair">
        <label class="stack">
          <span class="label">Preset</span>
          <select class="select" value={now.preset} onChange={(event) => change({ preset: event.currentTarget.value })}>
            <option value="">default</option>
            {model.presets.map((preset) => (
              <option key={preset} value={preset}>
                {preset}
              </option>
            ))}
          </select>
        </label>
        <label class="stack">
          <span class="label">Name</span>
          <input
            class="field"
            placeholder="auto-generated"
            spellcheck={false}
            value={now.name}
            onInput={(event) => change({ name: event.currentTarget.value.trim() })}
          />
        </label>
      </div>
    </>
  );
}

function NumberFields({ now, flies }: { now: Spawning; flies: boolean }) {
  const degrees = Math.round(compassDegrees(now.heading));
  return (
    <div class="triple">
      <NumberField
        label="Count"
        value={now.count}
        least={1}
        most={1000}
        onChange={(count) => change({ count: Math.round(count) })}
      />
      <NumberField
        label="Heading, °"
        title="Compass heading: 0 is north, 90 is east"
        value={degrees}
        least={-360}
        most={360}
        onChange={(value) => change({ heading: ((90 - value) * Math.PI) / 180 })}
      />
      <label class="stack">
        <span class="label">Height, m</span>
        <input
          class="field number"
          type="number"
          step="any"
          placeholder={flies ? "0" : "ground"}
          value={now.height ?? ""}
          onInput={(event) => {
            const height = event.currentTarget.valueAsNumber;
            change({ height: Number.isNaN(height) ? null : height });
          }}
        />
      </label>
    </div>
  );
}

interface NumberFieldProps {
  label: string;
  title?: string;
  value: number;
  least: number;
  most: number;
  onChange(value: number): void;
}

function NumberField({ label, title, value, least, most, onChange }: NumberFieldProps) {
  return (
    <label class="stack" title={title}>
      <span class="label">{label}</span>
      <input
        class="field number"
        type="number"
        min={least}
        max={most}
        step="any"
        value={value}
        onChange={(event) => {
          const typed = event.currentTarget.valueAsNumber;
          if (!Number.isNaN(typed)) onChange(Math.min(most, Math.max(least, typed)));
        }}
      />
    </label>
  );
}

function PlaceByClick() {
  const on = tool.value === "spawn";
  return (
    <Button
      look={on ? "" : "primary"}
      icon="spawn"
      label={on ? "Stop placing" : "Click in the world to place"}
      text={on ? "Stop placing (Esc)" : "Click in the world to place"}
      pressed={on}
      onClick={() => (tool.value = on ? "select" : "spawn")}
    />
  );
}

function PlaceByNumbers() {
  const x = useSignal(0);
  const y = useSignal(0);
  const place = async () => {
    const entries = spawnEntries(spawning.value, [x.value, y.value]);
    const spawned = await attempt("Spawn", "spawn_robots", { robots: entries });
    if (spawned === null) return;
    select(spawned.ids);
    const [first, ...others] = spawned.names;
    showNotice("info", others.length === 0 ? `Spawned ${first}` : `Spawned ${formatVehicles(spawned.names.length)}`, 3);
  };
  return (
    <>
      <span class="label">Or at coordinates</span>
      <div class="triple">
        <NumberField
          label="x (east), m"
          value={x.value}
          least={-1e7}
          most={1e7}
          onChange={(value) => (x.value = value)}
        />
        <NumberField
          label="y (north), m"
          value={y.value}
          least={-1e7}
          most={1e7}
          onChange={(value) => (y.value = value)}
        />
        <span class="stack" style={{ alignSelf: "end" }}>
          <Button label="Spawn at these coordinates" icon="plus" text="Spawn" onClick={() => void place()} />
        </span>
      </div>
    </>
  );
}
