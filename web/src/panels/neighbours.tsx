// The best neighbours of a vehicle's radio by name, with the SINR of their links.
import { radio } from "../state/radio";
import type { Roster } from "../state/roster";
import { roster, select } from "../state/store";
import type { StationTree } from "../wire/schema";

interface Neighbour {
  name: string;
  id: number | null; // of a vehicle; null: a station
  sinr: number; // dB
}

/** Neighbours, the best first; `peers` are ids of vehicles, -1 none, -2 - k the k-th station. */
export function neighboursOf(
  peers: ArrayLike<number>,
  sinr: ArrayLike<number>,
  known: Roster,
  stations: readonly Pick<StationTree, "name">[],
): Neighbour[] {
  const linked: Neighbour[] = [];
  for (let k = 0; k < peers.length; k++) {
    const [peer, value] = [peers[k] as number, sinr[k] ?? Number.NaN];
    const row = peer >= 0 ? known.rowOfId(peer) : undefined;
    if (row !== undefined) linked.push({ name: known.nameAt(row), id: peer, sinr: value });
    const station = peer <= -2 ? stations[-2 - peer] : undefined;
    if (station) linked.push({ name: station.name, id: null, sinr: value });
  }
  return linked.sort((a, b) => b.sinr - a.sinr);
}

interface NeighboursProps {
  fleet: string;
  peers: ArrayLike<number> | undefined;
  sinr: ArrayLike<number> | undefined;
}

export function Neighbours({ fleet, peers, sinr }: NeighboursProps) {
  if (peers === undefined || sinr === undefined) return null;
  const tree = radio.value;
  const linked = neighboursOf(peers, sinr, roster.value, tree?.stations ?? []);
  const needed = tree?.fleets.find(({ name }) => name === fleet)?.radios[0]?.needed ?? 0;
  return (
    <>
      <h4 class="neighbours-head label">{linked.length > 0 ? "Links to, SINR" : "No links"}</h4>
      {linked.map(({ name, id, sinr: value }) => (
        <div key={name} class="value-row">
          {id === null ? (
            <span class="name ellipsis">{name}</span>
          ) : (
            <button type="button" class="name ellipsis as-link" title={`Select ${name}`} onClick={() => select([id])}>
              {name}
            </button>
          )}
          <span class={`value ${value - needed >= 10 ? "green" : value >= needed ? "amber" : "red"}`}>
            {value.toFixed(1).replace("-", "−")}
          </span>
          <span class="unit">dB</span>
          <span />
        </div>
      ))}
    </>
  );
}
