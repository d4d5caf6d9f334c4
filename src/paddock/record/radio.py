"""The radio in recordings: stations and jammers at a time, links as lines for viewers, and metrics of links."""

import re
from ast import literal_eval
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from foxglove_schemas_protobuf.LinePrimitive_pb2 import LinePrimitive
from foxglove_schemas_protobuf.SceneEntityDeletion_pb2 import SceneEntityDeletion
from foxglove_schemas_protobuf.SceneUpdate_pb2 import SceneUpdate
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from paddock.engine.events import Event
from paddock.engine.radio.gnss import as_jammer
from paddock.errors import PaddockError
from paddock.radio.describing import Emitters, jammer_trees, radio_tree, spoofer_trees
from paddock.radio.jamming import JammerState, changed, checked_changes, started
from paddock.radio.radios import FleetRadios, radios_of
from paddock.scenario import Scenario
from paddock.scenario.radio import RadioSection
from paddock.wire.operations.results import RadioTree
from paddock.world.columns import Floats
from paddock.world.layout import Ints
from paddock.world.snapshot import Snapshot

TOPIC = "/radio"
PEERS, PEER_SINR = "radio.peers", "radio.peer_sinr"
NO_SINR = -100.0  # dB, of a vehicle without a link
DRAWN_LINKS = 1000  # the strongest are drawn
WEAK, STRONG = 0.0, 30.0  # dB, from red to green
_CHANGE = re.compile(r"(\w+) (\[[^\]]*\]|[^,]+)(?:, |$)")


# at a time -----------------------------------------------------------------------------------------------------------


def recorded_radio(scenario: Scenario, snapshot: Snapshot, events: Sequence[Event]) -> RadioTree | None:
    """Return radios, stations and jammers at a snapshot, from the events up to it; None without radio."""
    section = scenario.radio
    if section is None:
        return None
    entries = {entry.name: entry.radio for entry in scenario.vehicles if entry.radio}
    nothing = np.zeros(0, np.int64)
    fleets = [
        FleetRadios(fleet.name, fleet.ids[:1], np.zeros(len(fleet.ids[:1]), np.int64), entries.get(fleet.name, ()))
        for fleet in snapshot
    ]
    radios = radios_of(section, fleets or [FleetRadios("", nothing, nothing, ())])
    counts = {
        name: int(sum(fleet[f"radio.{column}"].sum() for fleet in snapshot if f"radio.{column}" in fleet.columns))
        for name, column in (("up", "links"), ("jammed", "jammed"))
    }
    changes = {kind: sum(event.kind == kind for event in events) for kind in ("link_up", "link_down")}
    counts |= {"links": counts["up"], "ups": changes["link_up"], "downs": changes["link_down"]}
    return radio_tree(section, radios, recorded_emitters(section, snapshot, events), counts, {})


def recorded_emitters(section: RadioSection, snapshot: Snapshot, events: Sequence[Event]) -> Emitters:
    """Return jammers and spoofers after the changes that events report, where their vehicles are."""
    sections = *section.jammers, *map(as_jammer, section.spoofers)
    states = {one.name: started(one) for one in sorted(sections, key=lambda one: one.name)}
    for event in events:
        if event.kind in ("jammer", "spoofer") and event.subject in states:
            _apply(states[event.subject], event.detail)
    spoofers = {one.name for one in section.spoofers}
    parts = [[state for name, state in states.items() if (name in spoofers) is kind] for kind in (False, True)]
    found = Emitters(jammer_trees(section, parts[0], snapshot.time), spoofer_trees(section, parts[1], snapshot.time))
    trees: list[Any] = [*found.jammers, *found.spoofers]
    for tree in trees:
        if tree["vehicle"] is not None:
            try:
                x, y, z = snapshot[tree["vehicle"]].position.tolist()
            except PaddockError:
                tree["position"], tree["active"] = None, False
            else:
                tree["position"] = (x, y, z)
    return found


def _apply(state: JammerState, detail: str) -> None:
    """Apply the changes that an event reports: `on False, position [1.0, 2.0, 3.0]`."""
    try:
        changes = {name: _value(text) for name, text in _CHANGE.findall(detail)}
        changed(state, checked_changes(changes))
    except PaddockError:
        return  # of another version


def _value(text: str) -> Any:
    try:
        return literal_eval(text)
    except (ValueError, SyntaxError):
        return text


# links ---------------------------------------------------------------------------------------------------------------


def snapshot_links(snapshot: Snapshot, stations: Floats) -> tuple[Floats, Floats, Floats]:
    """Return both ends (n, 3) in m and the SINR (n,) in dB of every link, the strongest first.

    Links are those to the best neighbours of each vehicle; between two vehicles the better direction counts.
    `stations` (k, 3) are the places of their radios.
    """
    rows, peers, sinr, places, ids = _gathered(snapshot)
    known = np.argsort(ids, kind="stable")
    at = np.minimum(np.searchsorted(ids[known], peers), max(len(ids) - 1, 0))
    place = known[at] if len(ids) else np.zeros(len(peers), np.int64)
    exists = (peers >= 0) & (ids[place] == peers) if len(ids) else np.zeros(len(peers), bool)
    station = (peers <= -2) & (-2 - peers < len(stations))
    ends = np.concatenate([places, stations.reshape(-1, 3)])
    other = np.where(station, len(places) - 2 - peers, place)
    use = exists | station
    low, high = np.minimum(rows, other)[use], np.maximum(rows, other)[use]
    order = np.lexsort((-sinr[use], high, low))
    low, high, best = low[order], high[order], sinr[use][order]
    first = np.ones(len(low), bool)
    first[1:] = (np.diff(low) != 0) | (np.diff(high) != 0)
    strongest = np.argsort(-best[first], kind="stable")
    return ends[low[first]][strongest], ends[high[first]][strongest], best[first][strongest]


def _gathered(snapshot: Snapshot) -> tuple[Ints, Ints, Floats, Floats, Ints]:
    """Return row, neighbour and SINR of every entry of the arrays of peers; and places and ids of all vehicles."""
    rows, peers, sinr, places, ids = [], [], [], [np.zeros((0, 3))], [np.zeros(0, np.int64)]
    start = 0
    for fleet in snapshot:
        places.append(fleet.block[:3].T)
        ids.append(fleet.ids)
        blocks = fleet.blocks
        if PEERS in blocks:
            own, values = blocks[PEERS].astype(np.int64), blocks[PEER_SINR].astype(np.float64)
            heard = own != -1
            rows.append(start + np.nonzero(heard)[0])
            peers.append(own[heard])
            sinr.append(values[heard])
        start += len(fleet.ids)
    joined = [np.concatenate([np.zeros(0, np.int64), *parts]).astype(np.int64) for parts in (rows, peers)]
    return joined[0], joined[1], np.concatenate([np.zeros(0), *sinr]), np.concatenate(places), np.concatenate(ids)


def radio_scene(snapshot: Snapshot, radio: RadioTree, log_time: int) -> SceneUpdate:
    """Return links as lines coloured by SINR, stations and jammers as bodies with names, in place of those before."""
    update = SceneUpdate()
    update.deletions.add(type=SceneEntityDeletion.ALL).timestamp.FromNanoseconds(log_time)
    stations = np.array([one["position"] for one in radio["stations"]]).reshape(-1, 3)
    a, b, sinr = (part[:DRAWN_LINKS] for part in snapshot_links(snapshot, stations))
    entity = _entity(update, "links", log_time)
    for name, count in radio["traffic"].items():
        entity.metadata.add(key=name, value=str(count))
    line = entity.lines.add(type=LinePrimitive.LINE_LIST, thickness=1.0, scale_invariant=True)
    line.pose.orientation.w = 1.0
    for ends, value in zip(np.stack([a, b], axis=1).tolist(), sinr.tolist(), strict=True):
        red, green, blue = link_colour(value)
        for x, y, z in ends:
            line.points.add(x=x, y=y, z=z)
            line.colors.add(r=red, g=green, b=blue, a=0.8)
    for station in radio["stations"]:
        _body(update, station["name"], station["position"], (0.3, 0.7, 1.0), log_time)
    for emitters, bright in ((radio["jammers"], (1.0, 0.2, 0.2)), (radio["spoofers"], (0.8, 0.3, 1.0))):
        for one in emitters:
            if one["position"] is not None:
                _body(update, one["name"], one["position"], bright if one["on"] else (0.5, 0.5, 0.5), log_time)
    return update


def link_colour(sinr: float) -> tuple[float, float, float]:
    """Return red, green and blue (0 to 1): red at 0 dB or less, yellow, green at 30 dB or more."""
    share = min(max((sinr - WEAK) / (STRONG - WEAK), 0.0), 1.0)
    return (1.0, 2.0 * share, 0.1) if share < 0.5 else (2.0 - 2.0 * share, 1.0, 0.1)


def _entity(update: SceneUpdate, name: str, log_time: int) -> Any:
    entity = update.entities.add(frame_id="world", id=f"radio/{name}")
    entity.timestamp.FromNanoseconds(log_time)
    return entity


def _body(
    update: SceneUpdate, name: str, place: Sequence[float], rgb: tuple[float, float, float], log_time: int
) -> None:
    entity = _entity(update, name, log_time)
    text = entity.texts.add(text=name, billboard=True, font_size=12.0, scale_invariant=True)
    ball = entity.spheres.add()
    ball.size.x = ball.size.y = ball.size.z = 2.0
    for part, above in ((ball, 0.0), (text, 3.0)):
        part.pose.orientation.w = 1.0
        part.pose.position.x, part.pose.position.y, part.pose.position.z = place[0], place[1], place[2] + above
        part.color.r, part.color.g, part.color.b = rgb
        part.color.a = 1.0


# metrics -------------------------------------------------------------------------------------------------------------


def in_contact(snapshot: Snapshot, stations: int) -> dict[str, Floats]:
    """Return 1 for every vehicle with a usable path to a station, over any number of hops, by fleet with radio.

    Hops lead over the best neighbours of each vehicle. Without stations, a vehicle that has a link is in contact.
    """
    rows, peers, _, places, ids = _gathered(snapshot)
    count = len(places)
    direct = np.zeros(count, bool)
    start, fleets = 0, {}
    for fleet in snapshot:
        if "radio.sinr" in fleet.columns:
            fleets[fleet.name] = slice(start, start + len(fleet.ids))
            used = fleet["radio.sinr"] > NO_SINR if stations else fleet["radio.links"] > 0
            direct[fleets[fleet.name]] = used
        start += len(fleet.ids)
    reached = direct
    if stations and len(rows):
        known = np.argsort(ids, kind="stable")
        at = known[np.minimum(np.searchsorted(ids[known], peers), len(ids) - 1)]
        hops = (peers >= 0) & (ids[at] == peers)
        graph = coo_array((np.ones(hops.sum()), (rows[hops], at[hops])), shape=(count, count))
        _, part = connected_components(graph, directed=False)
        reached = np.isin(part, np.unique(part[direct]))
    return {name: reached[rows].astype(np.float64) for name, rows in fleets.items()}


class LinkTally:
    """Availability, SINR and outages of the vehicles of a fleet, over time."""

    def __init__(self, count: int) -> None:
        self.seconds, self.available, self.sinr, self.heard, self.jammed = np.zeros((5, count))
        self.outage, self.longest = np.zeros((2, count))
        self.lost, self.out = np.zeros(count), np.zeros(count, bool)

    def add(self, at: Ints, columns: Mapping[str, Floats], contact: Floats, step: float) -> None:
        """Add `step` s that ended with these values of the vehicles `at`."""
        heard = columns["radio.sinr"] > NO_SINR
        self.seconds[at] += step
        self.available[at] += step * contact
        self.sinr[at] += np.where(heard, columns["radio.sinr"], 0.0)
        self.heard[at] += heard
        self.jammed[at] += step * columns["radio.jammed"]
        out = contact < 0.5
        self.lost[at] += out & ~self.out[at]
        self.out[at] = out
        self.outage[at] = np.where(out, self.outage[at] + step, 0.0)
        self.longest[at] = np.maximum(self.longest[at], self.outage[at])

    def interrupt(self) -> None:
        """Start a new sequence of samples."""
        self.outage[:], self.out[:] = 0.0, False

    def vehicles(self) -> dict[str, list[Any]]:
        """Return the metrics of vehicles as columns; the SINR is null where there was never a link."""
        mean = [s / n if n else None for s, n in zip(self.sinr.tolist(), self.heard.tolist(), strict=True)]
        return {
            "link_availability": (self.available / np.maximum(self.seconds, 1e-12)).tolist(),
            "mean_sinr_db": mean,
            "longest_outage_s": self.longest.tolist(),
            "outages": self.lost.astype(int).tolist(),
            "jammed_s": self.jammed.tolist(),
        }

    def summary(self) -> dict[str, Any]:
        """Return the metrics of the fleet."""
        heard = self.heard.sum()
        return {
            "link_availability": float(self.available.sum() / max(self.seconds.sum(), 1e-12)),
            "mean_sinr_db": float(self.sinr.sum() / heard) if heard else None,
            "longest_outage_s": float(self.longest.max(initial=0.0)),
            "outages": int(self.lost.sum()),
            "jammed_s": float(self.jammed.sum()),
        }
