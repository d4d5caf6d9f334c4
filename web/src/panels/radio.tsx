// The radio panel: numbers of links and packets, jammers and spoofers, coverage, the budget of a link, and the spectrum.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call, reasonOf } from "../net/connection";
import { formatCount, NONE } from "../state/format";
import { type CoverageChoice, coverageChoice, hasRadio, radio } from "../state/radio";
import { focus, layers, live, roster, selection, source } from "../state/store";
import { type LinkBudget, NO_POWER, type RadioTree } from "../wire/schema";
import { setLayer } from "./actions";
import { Emitters } from "./emitters";
import { polled, Waterfall } from "./waterfall";
import { Empty, Switch } from "./widgets";

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
      {source.value?.routes === undefined && <Packets tree={tree} /> /* not in an opened recording */}
      <Emitters title="Jammers" method="set_jammer" emitters={tree.jammers} last={tree.spoofers.length === 0} />
      <Emitters title="Spoofers of satellite navigation" method="set_spoofer" emitters={tree.spoofers} last />
      {live.value && <Coverage tree={tree} />}
      {live.value && <Budget tree={tree} />}
      {live.value && <Spectrum tree={tree} />}
    </div>
  );
}

function Numbers({ tree }: { tree: RadioTree }) {
  const facts: [string, number][] = [
    ["stations", new Set(tree.stations.map(({ name }) => name)).size],
    ...(source.value?.routes === undefined ? linksIn(tree) : []), // not in an opened recording
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

function linksIn({ up, jammed, ups, downs }: RadioTree): [string, number][] {
  return [
    ["links up", up],
    ["jammed", jammed],
    ["came up", ups],
    ["went down", downs],
  ];
}

// packets ------------------------------------------------------------------------------------------------------------

type PacketRow = readonly [name: string, sent: number, delivered: number, lost: number, dropped: number];

/** Counts of messages and of the packets of services, of those that were sent; dropped: by full queues, or replaced. */
export function packetRows({ traffic, services }: RadioTree): PacketRow[] {
  const { sent = 0, delivered = 0, lost = 0, no_route = 0, expired = 0, queue_full = 0, ttl = 0 } = traffic;
  const messages: PacketRow = ["messages", sent, delivered, lost + no_route + expired + ttl, queue_full];
  const others = Object.entries(services).map(
    ([name, counts]): PacketRow => [name, counts.sent, counts.delivered, counts.lost, counts.dropped],
  );
  return [messages, ...others].filter(([, count]) => count > 0);
}

function Packets({ tree }: { tree: RadioTree }) {
  const rows = packetRows(tree);
  if (rows.length === 0) return null;
  return (
    <section class="form">
      <h3 class="label">Packets</h3>
      <table class="table packets">
        <thead>
          <tr>
            <th scope="col" />
            {["sent", "delivered", "lost", "dropped"].map((name) => (
              <th key={name} scope="col" class="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, ...counts]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {counts.map((count, k) => (
                <td key={k} class="number">
                  {formatCount(count)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
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
          <option value="sinr">mean SINR</option>
          <option value="per">packets lost</option>
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

const ROWS: readonly [keyof LinkBudget, string, string, number][] = [
  ["distance", "distance", "m", 0],
  ["power", "transmitted power", "dBm", 1],
  ["source_gain", "gain of the transmitter", "dBi", 1],
  ["receiver_gain", "gain of the receiver", "dBi", 1],
  ["polarisation", "loss by polarisation", "dB", 1],
  ["path_loss", "path loss", "dB", 1],
  ["diffraction", "loss by diffraction", "dB", 1],
  ["obstacles", "loss by obstacles", "dB", 1],
  ["shadowing", "gain by shadowing", "dB", 1],
  ["fading", "gain by fading", "dB", 1],
  ["outside", "loss outside the band", "dB", 1],
  ["received", "received power", "dBm", 1],
  ["sensitivity", "sensitivity", "dBm", 1],
  ["noise", "noise", "dBm", 1],
  ["interference", "interference", "dBm", 1],
  ["jamming", "jamming", "dBm", 1],
  ["sinr", "SINR", "dB", 1],
  ["burst_sinr", "SINR in bursts of a jammer", "dB", 1],
  ["needed", "needed SINR", "dB", 1],
  ["denying", "jamming at the transmitter", "dBm", 1],
  ["energy", "denies the channel from", "dBm", 1],
];

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
  const budget = useSignal<LinkBudget | string | null>(null);
  useEffect(() => {
    budget.value = null;
    if (source === undefined || to === undefined) return undefined;
    return polled(EVERY, async () => {
      try {
        budget.value = (await call("link_budget", { source, to })).link;
      } catch (error) {
        budget.value = reasonOf(error);
      }
    });
  }, [source, to]);
  const result = budget.value;
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
          {typeof result === "object" && result !== null && (
            <b class={result.up ? "green" : "red"}>{result.up ? "up" : result.mismatch || "down"}</b>
          )}
        </p>
      )}
      {typeof result === "string" && <p class="amber">{result}</p>}
      {typeof result === "object" && result !== null && <BudgetTable budget={result} />}
    </section>
  );
}

/** Hide what the link does not have: another band, bursts of jammers, jammers that deny the channel. */
function isShown(name: keyof LinkBudget, budget: LinkBudget): boolean {
  if (name === "outside") return budget.outside !== 0;
  if (name === "denying" || name === "energy") return budget.denied > 0;
  return name !== "burst_sinr" || budget.burst_share > 0;
}

/** Shares of time and of packets; those of bursts, collisions and denied access only where there are any. */
function shares(budget: LinkBudget): [string, number][] {
  const rows: [string, number][] = [
    ["time in bursts", budget.burst_share],
    ["packets that collide", budget.collided],
    ["packet error rate", budget.per],
    ["time without the channel", budget.denied],
  ];
  return rows.filter(([label, share]) => share > 0 || label === "packet error rate");
}

export function BudgetTable({ budget }: { budget: LinkBudget }) {
  return (
    <dl class="link-budget">
      {ROWS.filter(([name]) => isShown(name, budget)).map(([name, label, unit, digits]) => {
        const value = budget[name] as number;
        const text =
          unit === "dBm" && value < NO_POWER + 1 ? NONE : `${(value || 0).toFixed(digits).replace("-", "−")} ${unit}`;
        const model = name === "path_loss" ? ` (${budget.model.replaceAll("_", " ")})` : "";
        return (
          <div key={name} class={name === "received" || name === "sinr" ? "row sum" : "row"}>
            <dt class="grow ellipsis">{label + model}</dt>
            <dd class="number">{text}</dd>
          </div>
        );
      })}
      {shares(budget).map(([label, share]) => (
        <div key={label} class="row">
          <dt class="grow">{label}</dt>
          <dd class="number">{(100 * share).toFixed(share < 0.1 ? 2 : 0)} %</dd>
        </div>
      ))}
      <div class="row">
        <dt class="grow">throughput</dt>
        <dd class="number">{(budget.throughput / 1e6).toFixed(2)} Mbit/s</dd>
      </div>
    </dl>
  );
}

// spectrum -----------------------------------------------------------------------------------------------------------

function Spectrum({ tree }: { tree: RadioTree }) {
  const row = focus.value === null ? undefined : roster.value.rowOfId(focus.value);
  const fleet = row === undefined ? undefined : roster.value.fleetAt(row)?.name;
  const own = tree.fleets.find(({ name }) => name === fleet)?.radios[0];
  const [receiver, type] =
    row !== undefined && own ? [roster.value.nameAt(row), own] : [tree.stations[0]?.name, tree.stations[0]?.radio];
  return (
    <section class="form">
      <h3 class="label">Spectrum at {receiver ?? "a receiver"}</h3>
      {receiver === undefined || type === undefined ? (
        <p class="faint">Select a vehicle with a radio.</p>
      ) : (
        <Waterfall receiver={receiver} bandwidth={type.bandwidth} />
      )}
    </section>
  );
}
