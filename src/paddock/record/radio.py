"""The radio in recordings: stations and jammers at a time, links as lines for viewers, traffic, and metrics of links.

Counts of messages, packets by service and changes of links are written with the links, and read at a time.
"""

import re
from ast import literal_eval
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from foxglove_schemas_protobuf.LinePrimitive_pb2 import LinePrimitive
from foxglove_schemas_protobuf.SceneEntity_pb2 import SceneEntity
from foxglove_schemas_protobuf.SceneUpdate_pb2 import SceneUpdate
from google.protobuf.message import DecodeError

from paddock.engine.events import Event
from paddock.engine.radio.control import jammer_views, radio_tree, spoofer_views
from paddock.engine.radio.gnss import as_jammer
from paddock.engine.radio.stage import Emitters
from paddock.errors import PaddockError
from paddock.radio.links.jamming import JammerState, started
from paddock.radio.links.radios import COLUMN, FleetRadios, radios_of
from paddock.radio.links.table import FULL_SIGNAL, NO_SINR
from paddock.radio.settings import checked_changes
from paddock.record.foxglove import WORLD, add_label, cleared_scene, pose, rgba, timestamp, vector
from paddock.scenario import Scenario
from paddock.scenario.radio import RadioSection
from paddock.wire.radio_results import JammerView, RadioTree, ServiceTraffic, SpooferView
from paddock.world.columns import Floats
from paddock.world.layout import Ints
from paddock.world.snapshot import Snapshot

if TYPE_CHECKING:
    from paddock.record.reader import RecordedRun

PEERS, PEER_SINR = "radio.peers", "radio.peer_sinr"
CONTACT, UPLINK, STATION = "radio.contact", "radio.uplink", "radio.station"
DRAWN_LINKS = 1000  # the strongest are drawn
_CHANGE = re.compile(r"(\w+) (\[[^\]]*\]|[^,]+)(?:, |$)")
TRAFFIC_TOPIC = "/radio"
DROPS = ("queue_full", "no_route", "lost", "ttl", "expired")  # why messages do not arrive
SERVICE_COUNTS = ("sent", "delivered", "lost", "dropped", "waiting")  # of each service


# traffic -------------------------------------------------------------------------------------------------------------


class RadioTraffic(NamedTuple):
    """Counts since the start of the run."""

    messages: dict[str, int]  # sent, delivered, dropped by reason, ...; empty: not recorded
    services: dict[str, ServiceTraffic]  # of services that have sent packets
    link_changes: dict[str, int]  # `ups`, `downs`: links that have become usable or unusable; empty: not recorded


NO_TRAFFIC = RadioTraffic({}, {}, {})
LINKS = "links"  # their changes stand among the services


def write_traffic(entity: SceneEntity, radio: RadioTree) -> None:
    """Add the counts to an entity as its metadata; those of services are `commands.sent`, ..., of links `links.ups`."""
    for change in ("ups", "downs"):
        entity.metadata.add(key=f"{LINKS}.{change}", value=str(radio[change]))
    for name, count in radio["traffic"].items():
        entity.metadata.add(key=name, value=str(count))
    for service, counts in radio["services"].items():
        for name, count in cast(Mapping[str, int], counts).items():
            entity.metadata.add(key=f"{service}.{name}", value=str(count))


def recorded_traffic(run: "RecordedRun", time: float = np.inf) -> RadioTraffic:
    """Return the counts of a recording at a time (s from its start), or at its end; empty where it has none."""
    times = run.file.index(TRAFFIC_TOPIC).times
    if not np.isinf(time):
        times = times[: np.searchsorted(times, run.sections[0].start + round(1e9 * time), "right")]
    if not len(times):
        return NO_TRAFFIC
    try:
        update = SceneUpdate.FromString(bytes(run.file.message(TRAFFIC_TOPIC, len(times) - 1).data))
        pairs = {pair.key: int(pair.value) for entity in update.entities[:1] for pair in entity.metadata}
    except (DecodeError, ValueError):
        return NO_TRAFFIC
    changes = {name.partition(".")[2]: count for name, count in pairs.items() if name.startswith(f"{LINKS}.")}
    traffic = RadioTraffic({name: count for name, count in pairs.items() if "." not in name}, {}, changes)
    for service in dict.fromkeys(name.partition(".")[0] for name in pairs if "." in name):
        if service == LINKS:
            continue
        counts: Any = {name: pairs.get(f"{service}.{name}", 0) for name in SERVICE_COUNTS}
        traffic.services[service] = counts
    return traffic


def message_summary(messages: Mapping[str, int]) -> str:
    """Return the counts of messages in one line: sent, delivered, dropped by reason, left from full mailboxes."""
    dropped = {name: count for name, count in messages.items() if count and name in DROPS}
    lost = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in dropped.items()) or "none"
    replaced = messages.get("mailbox_full", 0)  # they have arrived, and may have been read
    more = f"; {replaced:,} made room for newer ones in full mailboxes" if replaced else ""
    return f"{messages['sent']:,} sent, {messages['delivered']:,} delivered; dropped: {lost}{more}"


def service_summary(counts: Mapping[str, int]) -> str:
    """Return the counts of a service in one line, without those that are zero beyond the first two."""
    shown = {name: counts[name] for k, name in enumerate(SERVICE_COUNTS) if k < 2 or counts[name]}
    return ", ".join(f"{count:,} {'under way' if name == 'waiting' else name}" for name, count in shown.items())


# at a time -----------------------------------------------------------------------------------------------------------


def recorded_radio(
    scenario: Scenario, snapshot: Snapshot, events: Sequence[Event], traffic: RadioTraffic = NO_TRAFFIC
) -> RadioTree | None:
    """Return radios, stations, jammers and `traffic` at a snapshot, from the events up to it; None without radio."""
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
    for part in radios.parts:  # for ranges; the ground is taken as level
        radios.table[COLUMN.height, part.first : part.first + part.slots] = snapshot.fleet(part.fleet).block[2, 0]
    radios.table[COLUMN.height, radios.carried :] = radios.table[COLUMN.z, radios.carried :]
    counts = {
        name: int(sum(fleet[f"radio.{column}"].sum() for fleet in snapshot if f"radio.{column}" in fleet.columns))
        for name, column in (("up", "links"), ("jammed", "jammed"))
    }
    counts |= {"links": counts["up"], **traffic.link_changes}
    packets = traffic.messages, traffic.services
    return radio_tree(section, radios, recorded_emitters(section, snapshot, events), counts, *packets)


def recorded_emitters(section: RadioSection, snapshot: Snapshot, events: Sequence[Event]) -> Emitters:
    """Return jammers and spoofers after the changes that events report, where their vehicles are."""
    sections = *section.jammers, *map(as_jammer, section.spoofers)
    states = {emitter.name: started(emitter) for emitter in sorted(sections, key=lambda emitter: emitter.name)}
    for event in events:
        if event.kind in ("jammer", "spoofer") and event.subject in states:
            _apply(states[event.subject], event.detail)
    spoofers = {emitter.name for emitter in section.spoofers}
    parts = [[state for name, state in states.items() if (name in spoofers) is kind] for kind in (False, True)]
    captured = _captured(events)
    jammers = [
        jammer._replace(**_carried(jammer, snapshot)) for jammer in jammer_views(section, parts[0], snapshot.time)
    ]
    return Emitters(
        jammers,
        [
            spoofer._replace(captured=captured[spoofer.name], **_carried(spoofer, snapshot))
            for spoofer in spoofer_views(section, parts[1], snapshot.time)
        ],
    )


def _carried(emitter: JammerView | SpooferView, snapshot: Snapshot) -> dict[str, Any]:
    """Return the position of an emitter that a vehicle carries; without the vehicle it is off."""
    if emitter.vehicle is None:
        return {}
    try:
        return {"position": tuple(snapshot[emitter.vehicle].position.tolist())}
    except PaddockError:
        return {"position": None, "active": False}


def _captured(events: Sequence[Event]) -> Counter[str]:
    """Return the number of receivers that each spoofer has captured after these events."""
    captors: dict[str, str] = {}
    for event in events:
        if event.kind == "gnss_spoofed":
            captors[event.subject] = event.detail
        elif event.kind == "gnss_released":
            captors.pop(event.subject, None)
    return Counter(captors.values())


def _apply(state: JammerState, detail: str) -> None:
    """Apply the changes that an event reports: `on False, position [1.0, 2.0, 3.0]`."""
    try:
        changes = {name: _value(text) for name, text in _CHANGE.findall(detail)}
        state.change(checked_changes(changes))
    except PaddockError:
        return  # of another version


def _value(text: str) -> Any:
    try:
        return literal_eval(text)
    except (ValueError, SyntaxError):
        return text


# links ---------------------------------------------------------------------------------------------------------------


class UsableLinks(NamedTuple):
    """The usable links of a snapshot, an item for each direction that it holds."""

    row: Ints  # of a vehicle among those of all fleets: the receiver, or what a station hears
    peer: Ints  # id of the transmitter; -2 - k: the radio k of stations, at either end
    margin: Floats  # dB, SINR above what the receiver needs
    positions: Floats  # (n, 3) m, of all vehicles
    ids: Ints  # (n,) of all vehicles

    def rows_of_peers(self) -> Ints:
        """Return the row of each peer, -1: it is a station, or not present."""
        if not len(self.ids):
            return np.full(len(self.peer), -1)
        order = np.argsort(self.ids, kind="stable")
        at = order[np.minimum(np.searchsorted(self.ids[order], self.peer), len(self.ids) - 1)]
        return np.where((self.peer >= 0) & (self.ids[at] == self.peer), at, -1)


def snapshot_links(snapshot: Snapshot, radio: RadioTree) -> tuple[Floats, Floats, Floats]:
    """Return both ends (n, 3) in m of every link, and by how much (n,) its SINR exceeds what is needed, in dB.

    Links are those to the best neighbours of each vehicle, and to the station that hears it best; of two directions the
    better one counts. The strongest link is the first.
    """
    stations = np.array([station["position"] for station in radio["stations"]]).reshape(-1, 3)
    links = _usable_links(snapshot, radio)
    vehicle, count = links.rows_of_peers(), len(links.positions)
    station = (links.peer <= -2) & (-2 - links.peer < len(stations))
    ends = np.concatenate([links.positions, stations])
    other = np.where(station, count - 2 - links.peer, vehicle)
    use = station | (vehicle >= 0)
    low, high = np.minimum(links.row, other)[use], np.maximum(links.row, other)[use]
    order = np.lexsort((-links.margin[use], high, low))
    low, high, best = low[order], high[order], links.margin[use][order]
    first = np.ones(len(low), bool)
    first[1:] = (np.diff(low) != 0) | (np.diff(high) != 0)
    strongest = np.argsort(-best[first], kind="stable")
    return ends[low[first]][strongest], ends[high[first]][strongest], best[first][strongest]


def _usable_links(snapshot: Snapshot, radio: RadioTree | None = None) -> UsableLinks:
    """Return the links in the arrays of vehicles and in those of stations; margins need `radio`."""
    needed = {fleet["name"]: fleet["radios"][0]["needed"] for fleet in radio["fleets"]} if radio else {}
    at_stations = np.array([station["radio"]["needed"] for station in radio["stations"]] if radio else [])
    rows, peers, margins, positions, ids = [], [], [], [np.zeros((0, 3))], [np.zeros(0, np.int64)]
    start = 0
    for fleet in snapshot:
        positions.append(fleet.block[:3].T)
        ids.append(fleet.ids)
        blocks = fleet.blocks
        if PEERS in blocks:
            own, values = blocks[PEERS].astype(np.int64), blocks[PEER_SINR].astype(np.float64)
            usable = own != -1
            rows.append(start + np.nonzero(usable)[0])
            peers.append(own[usable])
            margins.append(values[usable] - needed.get(fleet.name, 0.0))
        if STATION in fleet.columns:
            station = fleet[STATION].astype(np.int64)
            linked = np.flatnonzero((station >= 0) & (station < len(at_stations)))
            rows.append(start + linked)
            peers.append(-2 - station[linked])
            margins.append(fleet[UPLINK][linked] - at_stations[station[linked]])
        start += len(fleet.ids)
    row, peer = (np.concatenate([np.zeros(0, np.int64), *parts]).astype(np.int64) for parts in (rows, peers))
    return UsableLinks(
        row, peer, np.concatenate([np.zeros(0), *margins]), np.concatenate(positions), np.concatenate(ids)
    )


def radio_scene(snapshot: Snapshot, radio: RadioTree, log_time: int) -> SceneUpdate:
    """Return links as lines coloured by SINR, stations and jammers as bodies with names, in place of those before."""
    update = cleared_scene(log_time)
    a, b, margin = (part[:DRAWN_LINKS] for part in snapshot_links(snapshot, radio))
    entity = _entity(update, "links", log_time)
    write_traffic(entity, radio)
    line = {"type": LinePrimitive.LINE_LIST, "thickness": 1.0, "scale_invariant": True, "pose": pose()}
    ends = [vector(end) for end in np.stack([a, b], axis=1).reshape(-1, 3).tolist()]
    tones = [rgba(link_colour(value), 0.8) for value in np.repeat(margin, 2).tolist()]
    entity.lines.add(**line, points=ends, colors=tones)
    for station in radio["stations"]:
        _body(update, station["name"], station["position"], (0.3, 0.7, 1.0), log_time)
    drawn: list[tuple[Any, tuple[float, float, float]]] = [(radio["jammers"], (1.0, 0.2, 0.2))]
    for emitters, bright in [*drawn, (radio["spoofers"], (0.8, 0.3, 1.0))]:
        for emitter in emitters:
            if emitter["position"] is not None:
                colour = bright if emitter["active"] else (0.5, 0.5, 0.5)
                _body(update, emitter["name"], emitter["position"], colour, log_time)
    return update


def link_colour(margin: float) -> tuple[float, float, float]:
    """Return red, green and blue (0 to 1): red at the SINR that is needed, yellow, green from 20 dB above it on."""
    share = min(max(margin / FULL_SIGNAL, 0.0), 1.0)
    return (1.0, 2.0 * share, 0.1) if share < 0.5 else (2.0 - 2.0 * share, 1.0, 0.1)


def _entity(update: SceneUpdate, name: str, log_time: int) -> Any:
    return update.entities.add(timestamp=timestamp(log_time), frame_id=WORLD, id=f"radio/{name}")


def _body(
    update: SceneUpdate, name: str, position: Sequence[float], rgb: tuple[float, float, float], log_time: int
) -> None:
    entity = _entity(update, name, log_time)
    entity.spheres.add(pose=pose(position), size=vector((2.0, 2.0, 2.0)), color=rgba(rgb))
    add_label(entity, name, (position[0], position[1], position[2] + 3.0), rgb)


# metrics -------------------------------------------------------------------------------------------------------------


def in_contact(snapshot: Snapshot) -> dict[str, Floats]:
    """Return 1 for every vehicle with a route to a station and back, over any number of hops, by fleet with radio.

    Without stations, a vehicle with a neighbour is in contact.
    """
    return {fleet.name: fleet[CONTACT] for fleet in snapshot if CONTACT in fleet.columns}


class LinkTally:
    """Availability, SINR and outages of the vehicles of a fleet, over time."""

    def __init__(self, count: int) -> None:
        self.seconds, self.available, self.sinr, self.linked, self.jammed = np.zeros((5, count))
        self.outage, self.longest = np.zeros((2, count))
        self.lost, self.out = np.zeros(count), np.zeros(count, bool)

    def add(self, at: Ints, columns: Mapping[str, Floats], contact: Floats, step: float) -> None:
        """Add `step` s that ended with these values of the vehicles `at`."""
        linked = columns["radio.sinr"] > NO_SINR
        self.seconds[at] += step
        self.available[at] += step * contact
        self.sinr[at] += np.where(linked, columns["radio.sinr"], 0.0)
        self.linked[at] += linked
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
        mean = [s / n if n else None for s, n in zip(self.sinr.tolist(), self.linked.tolist(), strict=True)]
        return {
            "link_availability": (self.available / np.maximum(self.seconds, 1e-12)).tolist(),
            "mean_sinr_db": mean,
            "longest_outage_s": self.longest.tolist(),
            "outages": self.lost.astype(int).tolist(),
            "jammed_s": self.jammed.tolist(),
        }

    def summary(self) -> dict[str, Any]:
        """Return the metrics of the fleet."""
        linked = self.linked.sum()
        return {
            "link_availability": float(self.available.sum() / max(self.seconds.sum(), 1e-12)),
            "mean_sinr_db": float(self.sinr.sum() / linked) if linked else None,
            "longest_outage_s": float(self.longest.max(initial=0.0)),
            "outages": int(self.lost.sum()),
            "jammed_s": float(self.jammed.sum()),
        }
