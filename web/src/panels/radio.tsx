// The radio panel: numbers of links, jammers with switches, coverage, the budget of a link, and the spectrum.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { setCanvasTool } from "../control/pointer";
import { call } from "../net/connection";
import { reasonOf } from "../net/rpc";
import { formatCount } from "../state/format";
import { type CoverageChoice, coverageChoice, hasRadio, radio } from "../state/radio";
import { groundAt } from "../state/scenery";
import { focus, layers, live, readOnlyReason, roster, selection } from "../state/store";
import type { JammerTree, LinkBudgetTree, RadioTree, SpooferTree } from "../wire/schema";
import { attempt, setLayer, stage } from "./actions";
import { polled, Waterfall } from "./waterfall";
import { Button, Empty, Switch } from "./widgets";

const EVERY = 500; // ms

export function RadioPanel() {
  const tree = radio.value;
  if (tree === null) {
    return (
      <Empty icon="radio" title={hasRadio.value ? "Loading the radio …" : "No radio"}>
        {!hasRadio.value && <p>Add a section `radio` to the scenario, and radios to its vehicles.</p>}
      </Empty>
    );
  }
  return (
    <div class="panel-body radio-panel">
      <Numbers tree={tree} />
      <Emitters title="Jammers" method="set_jammer" emitters={tree.jammers} />
      <Emitters title="Spoofers of satellite navigation" method="set_spoofer" emitters={tree.spoofers} />
      {live.value && <Coverage tree={tree} />}
      {live.value && <Budget tree={tree} />}
      {live.value && <Spectrum tree={tree} />}
    </div>
  );
}

function Numbers({ tree }: { tree: RadioTree }) {
  const facts: [string, number][] = [
    ["stations", new Set(tree.stations.map(({ name }) => name)).size],
    ["usable links", tree.up],
    ["jammed", tree.jammed],
    ["came up", tree.ups],
    ["dropped", tree.downs],
    ...messagesIn(tree),
  ];
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name} class="fact">
          <dt class="label">{name}</dt>
          <dd>
            <b>{formatCount(value)}</b>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Numbers of messages, if any were sent. */
function messagesIn({ traffic }: RadioTree): [string, number][] {
  const { sent = 0, delivered = 0, lost = 0, no_route = 0, expired = 0, queue_full = 0, ttl = 0 } = traffic;
  if (sent === 0) return [];
  return [
    ["sent", sent],
    ["delivered", delivered],
    ["lost", lost + no_route + expired + queue_full + ttl],
  ];
}

/** `2.4 GHz`, `868 MHz`. */
export function formatFrequency(hertz: number): string {
  if (hertz >= 1e9) return `${Number((hertz / 1e9).toPrecision(4))} GHz`;
  return hertz >= 1e6 ? `${Number((hertz / 1e6).toPrecision(4))} MHz` : `${Number((hertz / 1e3).toPrecision(4))} kHz`;
}

// jammers ------------------------------------------------------------------------------------------------------------

type Emitter = JammerTree | SpooferTree;
type Setter = "set_jammer" | "set_spoofer";

interface EmittersProps {
  title: string;
  method: Setter;
  emitters: readonly Emitter[];
}

function Emitters({ title, method, emitters }: EmittersProps) {
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
  const reason = readOnlyReason.value;
  return (
    <section class="form">
      <h3 class="label">
        {title} <span class="number">{formatCount(emitters.length)}</span>
      </h3>
      <ul class="jammers">
        {emitters.map((one) => (
          <li key={one.name} class="row">
            <div class="grow">
              <Switch
                label={one.name}
                on={one.on}
                onChange={(on) => void attempt(one.name, method, { name: one.name, on })}
              />
              <p class="faint number">{about(one)}</p>
            </div>
            <Button
              look="bare small"
              icon="go"
              label={`Move ${one.name}: click on the ground`}
              pressed={moving.value === one.name}
              disabled={reason !== ""}
              {...(reason !== "" && { title: reason })}
              onClick={() => (moving.value = moving.value === one.name ? null : one.name)}
            />
          </li>
        ))}
      </ul>
      {moving.value !== null && <p class="faint">Click on the ground where {moving.value} stands from now on.</p>}
    </section>
  );
}

/** `barrage, 2.4 GHz, 17 dBm, on relays[0]`. */
function about(one: Emitter): string {
  const carried = one.vehicle === null ? "" : `, on ${one.vehicle}`;
  if ("captured" in one) return `${one.power.toFixed(0)} dBm, ${formatCount(one.captured)} captured${carried}`;
  const { kind, frequency, power, false_frames } = one;
  const frames = kind === "deceptive" ? `, ${formatCount(Math.round(false_frames))} false frames` : "";
  return `${kind}, ${formatFrequency(frequency)}, ${power.toFixed(0)} dBm${carried}${frames}`;
}

/** A jammer keeps its height above the ground. */
async function move(method: Setter, name: string, [x, y, z]: readonly [number, number, number]): Promise<void> {
  const { jammers = [], spoofers = [] } = radio.peek() ?? {};
  const before = [...jammers, ...spoofers].find((one) => one.name === name)?.position;
  const above = before ? Math.max(before[2] - groundAt(before[0], before[1]), 0) : 2;
  const position = [x, y, z + above].map((one) => Math.round(100 * one) / 100);
  await attempt(name, method, { name, position });
}

// coverage -----------------------------------------------------------------------------------------------------------

function Coverage({ tree }: { tree: RadioTree }) {
  const choice = coverageChoice.value;
  const change = (part: Partial<CoverageChoice>) => (coverageChoice.value = { ...choice, ...part });
  const chosen = focus.value === null ? undefined : roster.value.rowOfId(focus.value);
  const vehicle = chosen === undefined ? "" : roster.value.nameAt(chosen);
  const sources = [...new Set([...tree.stations.map(({ name }) => name), vehicle, choice.of ?? ""])].filter(Boolean);
  return (
    <section class="form">
      <h3 class="label">Coverage</h3>
      <Switch label="Show the heat map" on={layers.value.coverage} onChange={(on) => setLayer("coverage", on)} />
      <label class="row">
        <span class="grow">Of</span>
        <select
          class="select small"
          aria-label="Transmitter of the coverage"
          value={choice.of ?? ""}
          onChange={(event) => change({ of: event.currentTarget.value || null })}>
          <option value="">{tree.stations.length > 0 ? "all stations" : "all vehicles"}</option>
          {sources.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label class="row">
        <span class="grow">Value</span>
        <select
          class="select small"
          aria-label="Value of the coverage"
          value={choice.quantity}
          onChange={(event) => change({ quantity: event.currentTarget.value as CoverageChoice["quantity"] })}>
          <option value="power">received power</option>
          <option value="sinr">SINR</option>
        </select>
      </label>
      <label class="row">
        <span class="grow">Height above the ground, m</span>
        <input
          class="field number"
          type="number"
          aria-label="Height of the coverage, m"
          min={0}
          max={10000}
          step={1}
          value={choice.height}
          onChange={(event) => {
            const height = event.currentTarget.valueAsNumber;
            if (Number.isFinite(height)) change({ height: Math.min(Math.max(height, 0), 10_000) });
          }}
        />
      </label>
    </section>
  );
}

// link budget --------------------------------------------------------------------------------------------------------

const ROWS: readonly [keyof LinkBudgetTree, string, string, number, 1 | -1][] = [
  ["distance", "distance", "m", 0, 1],
  ["power", "transmitted power", "dBm", 1, 1],
  ["source_gain", "gain of the transmitter", "dBi", 1, 1],
  ["receiver_gain", "gain of the receiver", "dBi", 1, 1],
  ["polarisation", "polarisation", "dB", 1, -1],
  ["path_loss", "path loss", "dB", 1, -1],
  ["diffraction", "terrain", "dB", 1, -1],
  ["obstacles", "obstacles", "dB", 1, -1],
  ["shadowing", "shadowing", "dB", 1, 1],
  ["fading", "fading", "dB", 1, 1],
  ["outside", "outside the band", "dB", 1, -1],
  ["received", "received power", "dBm", 1, 1],
  ["sensitivity", "sensitivity", "dBm", 1, 1],
  ["noise", "noise", "dBm", 1, 1],
  ["interference", "interference", "dBm", 1, 1],
  ["jamming", "jamming", "dBm", 1, 1],
  ["sinr", "SINR", "dB", 1, 1],
  ["needed", "needed SINR", "dB", 1, 1],
];
const NOTHING = -290; // dBm: nothing at all

/** The names of both ends: two selected vehicles, or one and a station. */
function ends(tree: RadioTree): [string, string] | null {
  const rows = [...selection.value].flatMap((id) => roster.value.rowOfId(id) ?? []);
  const names = rows.slice(0, 2).map((row) => roster.value.nameAt(row));
  const [a, b = tree.stations[0]?.name] = names;
  return a !== undefined && b !== undefined ? [a, b] : null;
}

function Budget({ tree }: { tree: RadioTree }) {
  const other = useSignal("");
  const pair = ends(tree);
  const stations = [...new Set(tree.stations.map(({ name }) => name))];
  const alone = selection.value.size === 1 && stations.length > 1;
  const to = alone && stations.includes(other.value) ? other.value : pair?.[1];
  const source = pair?.[0];
  const budget = useSignal<LinkBudgetTree | string | null>(null);
  useEffect(() => {
    budget.value = null;
    if (source === undefined || to === undefined) return undefined;
    return polled(EVERY, async () => {
      try {
        budget.value = (await call("get_link", { source, to })).link;
      } catch (error) {
        budget.value = reasonOf(error);
      }
    });
  }, [source, to]);
  const found = budget.value;
  return (
    <section class="form">
      <h3 class="label">Link budget</h3>
      {source === undefined && <p class="faint">Select a vehicle, or two, in the world.</p>}
      {source !== undefined && (
        <p class="row">
          <span class="grow ellipsis">
            {source} → {alone ? "" : to}
          </span>
          {alone && (
            <select
              class="select small"
              aria-label="Station of the link budget"
              value={to ?? ""}
              onChange={(event) => (other.value = event.currentTarget.value)}>
              {stations.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          )}
          {typeof found === "object" && found !== null && (
            <b class={found.up ? "green" : "red"}>{found.up ? "up" : found.mismatch || "down"}</b>
          )}
        </p>
      )}
      {typeof found === "string" && <p class="amber">{found}</p>}
      {typeof found === "object" && found !== null && <BudgetTable budget={found} />}
    </section>
  );
}

function BudgetTable({ budget }: { budget: LinkBudgetTree }) {
  return (
    <dl class="link-budget">
      {ROWS.map(([name, label, unit, digits, sign]) => {
        const value = sign * (budget[name] as number);
        const text = value < NOTHING ? "none" : `${(value || 0).toFixed(digits).replace("-", "−")} ${unit}`;
        const model = name === "path_loss" ? ` (${budget.model.replaceAll("_", " ")})` : "";
        return (
          <div key={name} class={name === "received" || name === "sinr" ? "row sum" : "row"}>
            <dt class="grow ellipsis">{label + model}</dt>
            <dd class="number">{text}</dd>
          </div>
        );
      })}
      <div class="row">
        <dt class="grow">packet error rate</dt>
        <dd class="number">{(100 * budget.per).toFixed(budget.per < 0.1 ? 2 : 0)} %</dd>
      </div>
    </dl>
  );
}

// spectrum -----------------------------------------------------------------------------------------------------------

function Spectrum({ tree }: { tree: RadioTree }) {
  const row = focus.value === null ? undefined : roster.value.rowOfId(focus.value);
  const fleet = row === undefined ? undefined : roster.value.fleetAt(row)?.name;
  const fitted = tree.fleets.some(({ name }) => name === fleet);
  const receiver = row !== undefined && fitted ? roster.value.nameAt(row) : tree.stations[0]?.name;
  return (
    <section class="form">
      <h3 class="label">Spectrum at {receiver ?? "a receiver"}</h3>
      {receiver === undefined ? <p class="faint">Select a vehicle with a radio.</p> : <Waterfall receiver={receiver} />}
    </section>
  );
}
