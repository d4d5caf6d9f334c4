// Links of all vehicles, requested while their layer is shown: pairs of rows and stations by their SINR.
import { effect } from "@preact/signals";
import type { ColumnBlock, Frame } from "../wire/frame";
import { type ColumnRequest, listOf, onColumns, requestColumns } from "./columns";
import { hasRadio, radio, redrawRadio } from "./radio";
import type { Roster } from "./roster";
import { history } from "./run";
import { layers, roster, source } from "./store";

const RATE = 10; // per s
const RATE_OF_MANY = 3;
const MANY = 2000; // vehicles
const MOST = 8000; // drawn links; of more, the best of each vehicle
const NO_PEER = -1;
const PEERS = "radio.peers";
const COLUMNS = [PEERS, "radio.peer_sinr", "radio.jammed"];
const HEARD = ["radio.uplink", "radio.station"]; // what stations hear; not in recordings of earlier versions

/** Links between rows of a roster; a station is -2 - its number. */
export interface LinkSet {
  roster: Roster;
  count: number;
  from: Int32Array; // rows
  to: Int32Array; // rows, or stations
  margin: Float32Array; // dB above the SINR that is needed
  jammed: Int32Array; // rows
  left: number; // links that are not drawn: there are too many
}

/** Links of the newest frame; null: none are requested. */
let linkSet: LinkSet | null = null;

/** Follow the layer; return a stop function. */
export function followLinks(): () => void {
  let request: ColumnRequest | null = null;
  const stop = effect(() => {
    const wanted = hasRadio.value && layers.value.links && source.value !== null;
    const rate = roster.value.size > MANY ? RATE_OF_MANY : RATE;
    request?.release();
    request = null;
    linkSet = null;
    redrawRadio();
    if (!wanted) return;
    const heard = roster.value.fleets.some((fleet) => HEARD.every((name) => fleet.columns.includes(name)));
    const columns = heard ? [...COLUMNS, ...HEARD] : COLUMNS;
    request = requestColumns("radio links", [{ of: null, columns, rate }]);
    onColumns(request, (frame, [block]) => {
      if (block === undefined) return;
      linkSet = linksIn(frame, block, roster.peek(), heard);
      redrawRadio();
    });
  });
  return () => {
    stop();
    request?.release();
  };
}

const LONGEST = 1; // s: older links of the buffer are not shown
let shownBlock: ColumnBlock | null = null;
let shownSet: LinkSet | null = null;

/** The links at a simulated time, s: the newest ones, or those of the buffer. */
export function linksAt(time: number): LinkSet | null {
  if (source.peek()?.kind !== "buffer") return linkSet;
  if (!layers.peek().links) return null;
  for (const frame of [...history.between(time - LONGEST, time)].reverse()) {
    const wanted = listOf(frame)?.columns ?? [];
    const block = frame.columns.find(({ request }) => wanted[request]?.columns[0] === PEERS);
    if (!block) continue;
    const heard = wanted[block.request]?.columns.length === COLUMNS.length + HEARD.length;
    if (block !== shownBlock) [shownBlock, shownSet] = [block, linksIn(frame, block, roster.peek(), heard)];
    return shownSet;
  }
  return null;
}

/** Each pair once, with the better direction; `heard`: the block has the station that hears each vehicle best. */
export function linksIn(
  frame: Pick<Frame, "count">,
  block: ColumnBlock,
  known: Roster,
  heard: boolean,
): LinkSet | null {
  const { vehicles, columns, values } = block;
  const peers = (columns - 1 - (heard ? HEARD.length : 0)) / 2;
  if (frame.count !== known.size || vehicles !== known.size || !Number.isInteger(peers)) return null;
  const needed = neededOf(known);
  const ranks = ranksOf(values, vehicles, peers);
  const pairs = new Map<number, number>(); // lower * 2^26 + higher or station -> margin
  let [all, jammed] = [0, 0];
  const marked = new Int32Array(vehicles);
  const add = (row: number, other: number, margin: number) => {
    const key = Math.min(row, other) * 2 ** 26 + Math.max(row, other);
    const before = pairs.get(key);
    if (before === undefined || before < margin) pairs.set(key, margin);
  };
  const stations = radio.peek()?.stations ?? [];
  for (let row = 0; row < vehicles; row++) {
    if (values[2 * peers * vehicles + row] === 1) marked[jammed++] = row;
    for (let k = 0; k < peers; k++) {
      const peer = values[k * vehicles + row] as number;
      if (!(peer >= 0 || peer <= -2)) continue;
      all += 1;
      const other = peer >= 0 ? known.rowOfId(peer) : vehicles + (-2 - peer);
      if (k >= ranks || other === undefined) continue;
      add(row, other, (values[(peers + k) * vehicles + row] as number) - (needed[row] as number));
    }
    if (!heard) continue;
    const [uplink = 0, station = -1] = [1, 2].map((k) => values[(2 * peers + k) * vehicles + row]);
    const receiver = station >= 0 ? stations[station]?.radio : undefined;
    if (receiver) add(row, vehicles + station, uplink - receiver.needed);
  }
  const count = pairs.size;
  const links = { from: new Int32Array(count), to: new Int32Array(count), margin: new Float32Array(count) };
  let at = 0;
  for (const [key, margin] of pairs) {
    const higher = key % 2 ** 26;
    links.from[at] = (key - higher) / 2 ** 26;
    links.to[at] = higher < vehicles ? higher : -2 - (higher - vehicles);
    links.margin[at++] = margin;
  }
  const left = ranks < peers ? Math.max(0, Math.round(all / 2) - count) : 0;
  return { roster: known, count, ...links, jammed: marked.slice(0, jammed), left };
}

/** Neighbours of each vehicle that are drawn, the best first, so that there are not too many links. */
function ranksOf(values: ArrayLike<number>, vehicles: number, peers: number): number {
  let total = 0;
  for (let k = 0; k < peers; k++) {
    for (let row = 0; row < vehicles; row++) if ((values[k * vehicles + row] as number) !== NO_PEER) total += 1;
    if (total > 1.6 * MOST) return Math.max(k, 1);
  }
  return peers;
}

/** SINR in dB that the radio of each row needs. */
function neededOf(known: Roster): Float32Array {
  const needed = new Float32Array(known.size);
  for (const { name, radios } of radio.peek()?.fleets ?? []) {
    const fleet = known.fleet(name);
    if (fleet) needed.fill(radios[0]?.needed ?? 0, fleet.first, fleet.first + fleet.count);
  }
  return needed;
}
