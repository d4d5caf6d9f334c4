"""Packets of a run: radios get packets from actions and beacons, the channel runs, splits of the network are reported.

`paddock.radio.packets` computes on arrays. The stage follows that of the links: it first runs the channel up to now
over the last links, then takes the new ones. It is due in every tick while a packet is under way or beacons are sent.

Beacons and services have rates that need not divide that of the clock: each turn has its exact time, and begins at the
tick after it. A vehicle with the phase p (0 to 1) has its turn k at k - p periods of the run.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from paddock.compute.philox import signed, uniforms
from paddock.compute.twin import vectorised
from paddock.engine.events import EventLog
from paddock.engine.pipeline import NEVER_DUE, every
from paddock.engine.radio.jamming import sensed, steady_jamming
from paddock.engine.radio.links import among
from paddock.engine.radio.service_counts import ServiceCounts
from paddock.errors import InvalidValueError, PaddockError, unknown_name
from paddock.radio.links.paths import PathTables
from paddock.radio.links.radios import Floats, Radios
from paddock.radio.links.table import BANDWIDTH, GROUP, MODULATION, OWNER, SPREAD, Links
from paddock.radio.links.update import LinkUpdate
from paddock.radio.packets import layout as c
from paddock.radio.packets.channel_links import (
    PLACED,
    Disturbances,
    DisturbanceUpdate,
    air_links,
    no_disturbances,
    placed_radios,
    possible_places,
    unplaced_radios,
)
from paddock.radio.packets.contents import TEXT, Arrivals, encoded
from paddock.radio.packets.heard import FleetHeard
from paddock.radio.packets.layout import AirLinks, Devices
from paddock.radio.packets.messages import EVERYONE, Messages
from paddock.radio.packets.network import Graph, Ints, Network, component_labels, graph_of
from paddock.radio.packets.queues import denied_slots
from paddock.radio.packets.state import places_of
from paddock.radio.physics.signal import power_ratio
from paddock.radio.settings import checked_options
from paddock.radio.views import Received
from paddock.scenario.radio_types import MessagesSection
from paddock.world.fleet import draw_uniforms

ROUNDING = 1e-9  # of a period
EARLY = 1e-6  # of a tick


def turns_by(tick: int, share: float, phases: Floats) -> Floats:
    """Return how many turns (n,) there were by a tick; `share` of one in a tick, in phases (n,) of 0 to 1."""
    turns: Floats = np.floor(tick * share + phases + ROUNDING)
    return turns


def turn_ticks(turns: Floats, share: float, phases: Floats) -> Floats:
    """Return the ticks (n,) at which turns begin: those after their times."""
    ticks: Floats = np.ceil((turns - phases - ROUNDING) / share)
    return ticks


def first_turn(tick: int, share: float, phases: Floats) -> int:
    """Return the tick of the first turn of all from `tick` on, or one tick before where the numbers are too close."""
    later = turn_ticks(turns_by(tick - 1, share, phases) + 1.0, share, phases + EARLY * share)
    return max(int(later.min()), tick)


# the stage ------------------------------------------------------------------------------------------------------------
PHASE_PURPOSE, JITTER_PURPOSE = 902, 909  # of a vehicle's beacons: their phase, and the offset of each
JITTER = 0.5  # of the period of beacons: the largest offset
PARTS_SHOWN = 20  # of splits and joins at one update; a last one counts the rest
FEW = 1000  # radios up to which the network is watched at every update; more: once per second
BEACON_ROWS = 10  # of a pose: position, quaternion, velocity
LONGEST_NAME = 1000  # of a vehicle
CONTENTS = ("text", "bytes")  # how a log holds the contents of a message


class RadioView(NamedTuple):
    """What the stage needs of the links."""

    radios: Radios
    links: Links
    update: LinkUpdate  # of the links
    tables: PathTables
    name_of: Callable[[int], str]
    number_of: Callable[[str | int], int]
    tick: int
    silent: Any  # (n,) whether radios neither transmit nor receive


def devices_of(radios: Radios, section: MessagesSection) -> Devices:
    """Return the radios as the channel sees them."""
    n = radios.n
    table = radios.table[:, :n]
    rate, duties = table[BANDWIDTH] / table[SPREAD], np.array([one.radio.duty for one in radios.groups])
    return Devices(
        *(radios.streams[:n], rate, np.full(n, section.overhead), table[MODULATION].astype(np.int64)),
        *(table[BANDWIDTH].copy(), table[OWNER].astype(np.int64), duties[table[GROUP].astype(np.int64)]),
    )


class MessageStage:
    """Runs the messages between all radios."""

    name = "messages"

    def __init__(
        self,
        section: MessagesSection,
        rate: float,
        seed: Callable[[], int],
        period: int,
        view: Callable[[], RadioView],
        poses: Callable[[str], Any],
        events: EventLog,
    ) -> None:
        """`rate`: ticks per second; `period`: ticks between updates of the links."""
        self.section, self.rate, self.period, self.events = section, rate, period, events
        self._seed, self._view, self._poses = seed, view, poses
        self.messages = Messages(section, seed())
        self.services = ServiceCounts()
        self.senders: dict[int, str] = {}  # names by numbers of messages, of vehicles that have been removed
        self._name_of: Callable[[int], str] = str  # of the radios in use
        self.labels: Ints = np.zeros(0, np.int64)  # component of each radio at the last look, -1: it was not there
        self._placed = np.zeros((len(PLACED), 0))  # radios at the last update of the links
        self._sensed = np.zeros((2, 0))
        self._disturbances: DisturbanceUpdate | None = None
        self._radios: Radios | None = None
        self._linked = -1  # tick of the links in use, -1: none
        self._routed = False  # whether the routes are those of the links
        self._phases = np.zeros(0)  # periods of beacons
        self._numbers, self._starts = np.zeros(0), np.zeros(0)  # of their present periods, and the ticks of their begin
        self._offsets = np.zeros(0)  # ticks, of beacons in their present period
        # beacons of a radio in one tick, 0: there are none
        self.beacons_per_tick = 0.0 if section.beacons is None else min(section.beacons.rate / rate, 1.0)

    # time ------------------------------------------------------------------------------------------------------------

    def due(self, tick: int) -> int:
        """Return this tick while packets are under way or beacons are sent, else that of the next links."""
        if not self._view().radios.n:
            return NEVER_DUE
        busy = self.beacons_per_tick or self.messages.busy or self.messages.serves
        return tick if busy else every(tick, self.period)

    def run(self, tick: int) -> None:
        """Run the channel up to now, take new links, and send beacons."""
        view, messages = self.fitted(), self.messages
        if messages.busy:
            messages.advance(tick / self.rate)
        if view.links.tick != self._linked:
            self._update(view, tick)
        if self.beacons_per_tick:
            self._send_beacons(view, tick)

    def airtimes(self, tick: int) -> Floats:
        """Return the time (s) that each radio was on the air since the last call, until a tick."""
        self.fitted()
        return self.messages.airtimes(tick / self.rate)

    def begin(self, tick: int) -> None:
        """Take the first links, and send the first beacons."""
        view = self.fitted()
        self._update(view, tick, quiet=True)
        if self.beacons_per_tick:
            self._send_beacons(view, tick)

    def fitted(self) -> RadioView:
        """Return the radios and links; the messages follow when vehicles come or go."""
        view = self._view()
        if view.radios is not self._radios:
            self._radios, new, old = view.radios, view.radios.streams[: view.radios.n], self.messages.devices.streams
            orphans = self.messages.fit(devices_of(view.radios, self.section), view.tick / self.rate)
            self.senders |= {number: self._name_of(radio) for number, radio in orphans.items()}
            self._name_of, self._sensed = view.name_of, sensed(view.radios, self.section)
            if not np.array_equal(old, new):
                moved, self._linked = places_of(new, old), -1
                self.labels = _kept_labels(self.labels, moved, len(new))
                placed, self._placed = self._placed, unplaced_radios(view.radios)
                self._placed[:, moved[moved >= 0]] = placed[:, moved >= 0]
                self.messages.relink(None, None)
                if self.beacons_per_tick or self.messages.busy:
                    self._connect(view, view.tick)
            self._phases = draw_uniforms(self._seed(), new, PHASE_PURPOSE, 1)[:, 0]
            self._numbers, self._starts, self._offsets = np.zeros((3, len(new)))
            if self.beacons_per_tick:
                numbers = turns_by(view.tick, self.beacons_per_tick, self._phases)
                self._draw_offsets(view.radios, np.arange(len(new)), numbers)
        return view

    def _draw_offsets(self, radios: Radios, rows: Ints, numbers: Floats) -> None:
        """Draw the offsets of the beacons of radios in their periods of these numbers."""
        given = radios.streams[rows], JITTER_PURPOSE, numbers.astype(np.int64)
        drawn, _ = vectorised(uniforms)(signed(self._seed()), *given)
        self._numbers[rows], self._offsets[rows] = numbers, JITTER / self.beacons_per_tick * drawn
        self._starts[rows] = turn_ticks(numbers, self.beacons_per_tick, self._phases[rows])

    def _update(self, view: RadioView, tick: int, quiet: bool = False) -> None:
        """Take the links of an update; while there are no packets, those are looked at when one is sent."""
        self._linked, busy = -1, self.messages.busy
        if view.silent.any():
            self.messages.silence(np.flatnonzero(view.silent))
        if view.links.tick == tick:
            self._placed = placed_radios(view.radios, self._placed)
        if self.beacons_per_tick or busy:
            self._connect(view, tick)
        seldom = view.radios.n > FEW and tick % max(1, round(self.rate)) >= self.period
        if view.links.tick == tick and not seldom:
            self._watch(view, self._graph(view), tick, quiet)

    def _connect(self, view: RadioView, tick: int) -> None:
        """Let the channel use the links."""
        self._routed = self.messages.routing
        graph = self._graph(view) if self._routed else None
        self.messages.relink(self._paths(view), graph, tick / self.rate)
        self._linked = view.links.tick

    def _paths(self, view: RadioView) -> AirLinks:
        links, rules = view.links, self.messages.rules
        anchor = self.messages.slot_at(max(links.tick, 0) / self.rate)
        senses = self.section.sharing == "csma"
        sense, energy = vectorised(power_ratio)(self._sensed) if senses else self._sensed
        denied = denied_slots(links.bursts, steady_jamming(links), energy, rules.slot, rules.difs, anchor)
        given = view.radios.table, links, self._others(view), self._placed[:3], sense, energy
        return air_links(*given, view.update.least, denied)

    def _others(self, view: RadioView) -> Disturbances:
        """Return what disturbs packets, or is sensed, and is no link."""
        if self.section.sharing == "none" or view.links.tick < 0:
            return no_disturbances(view.radios.n)
        if self._disturbances is None or self._disturbances.of is not view.update:
            least = np.minimum(view.update.keep - view.update.margin, self._sensed.min(axis=0))
            self._disturbances = DisturbanceUpdate(view.update, least)
        return self._disturbances.find(self._placed, view.tables)

    def _graph(self, view: RadioView) -> Graph:
        return graph_of(view.links, view.radios.table[OWNER, : view.radios.n].astype(np.int64))

    def _send_beacons(self, view: RadioView, tick: int) -> None:
        """Send the beacons of this tick: one in every period of a vehicle, at a random offset from its begin."""
        radios = view.radios
        numbers = turns_by(tick, self.beacons_per_tick, self._phases)
        begun = np.flatnonzero(numbers != self._numbers)
        if len(begun):
            self._draw_offsets(radios, begun, numbers[begun])
        whole = np.floor(self._offsets)
        due, later = (whole == tick - self._starts) & ~view.silent, (self._offsets - whole) / self.rate
        for part in radios.parts:
            first = np.arange(part.first, part.first + part.n * part.slots, part.slots)
            rows = np.flatnonzero(due[first])
            if len(rows):
                states = np.ascontiguousarray(self._poses(part.fleet)[:BEACON_ROWS, rows].T)
                self.messages.beacon(first[rows], states, tick / self.rate, later[first[rows]])

    # network ---------------------------------------------------------------------------------------------------------

    def graph(self) -> Graph:
        """Return the neighbours of each radio by the present links."""
        return self._graph(self.fitted())

    def network(self, tick: int) -> Network:
        """Return the network of the present links."""
        view = self.fitted()
        present = np.flatnonzero(~view.silent)
        names = [view.name_of(k) for k in present.tolist()]
        return Network(tick, among(self._graph(view), present), names, view.radios.table[OWNER, present])

    def _watch(self, view: RadioView, graph: Graph, tick: int, quiet: bool) -> None:
        """Report components that have split or joined since the last look, of the radios that were there then."""
        before, now = self.labels, component_labels(graph.start, graph.peer)
        self.labels = now
        if quiet or len(before) != len(now) or np.array_equal(before, now):
            return
        present = np.flatnonzero(~view.silent & (before >= 0))
        before, now = before[present], now[present]
        found = [("network_split", present[one], two) for one, two in _parted(before, now)]
        found += [("network_joined", present[one], two) for one, two in _parted(now, before)]
        for kind, some, rest in found[:PARTS_SHOWN]:
            what = "is cut off from" if kind == "network_split" else "is connected with"
            others = f"{what} {rest} radios" if len(some) == 1 else f"and {len(some) - 1} more: {what} {rest} radios"
            self.events.report(tick, kind, view.name_of(int(some[0])), others)
        if len(found) > PARTS_SHOWN:
            self.events.report(tick, found[-1][0], "", f"{len(found) - PARTS_SHOWN} more parts of the network")

    def medium(self) -> Messages:
        """Return an empty channel over the present links, for planning: what is sent there is not part of the run.

        Mailboxes have room for a message of every radio.
        """
        view = self.fitted()
        section = self.section.model_copy(update={"mailbox": max(self.section.mailbox, view.radios.n)})
        found = Messages(section, self._seed())
        found.fit(devices_of(view.radios, section))
        paths = self._paths(view)
        found.relink(paths._replace(bursts=paths.bursts.copy()), self._graph(view))  # the next update uses it again
        return found

    # actions ---------------------------------------------------------------------------------------------------------

    def checked(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a `send` in plain values; PaddockError if it cannot be sent."""
        view, known = self._view(), ("source", "to", "bits", "hops", "lifetime")
        for name in arguments:
            if name not in (*known, "data", *CONTENTS):
                raise unknown_name("argument of send", name, (*known, "data"))
        given: dict[str, Any] = {name: arguments.get(name) for name in known}
        source = view.number_of(given["source"])
        if view.silent[source]:
            raise PaddockError(f"send: {given['source']!r} is damaged: its radio is dead")
        if given["to"] != EVERYONE and view.number_of(given["to"]) == source:
            raise PaddockError(f"send: {given['to']!r} cannot send a message to itself")
        content = _content(arguments)
        ends = {name: given.pop(name) for name in ("source", "to")}
        return ends | checked_options(given) | content

    def send(self, arguments: Mapping[str, Any], tick: int) -> int:
        """Queue a message; return its number."""
        view = self.fitted()
        source, to = view.number_of(arguments["source"]), arguments["to"]
        goal = c.BROADCAST if to == EVERYONE else view.number_of(to)
        content = json.loads(arguments["text"]) if "text" in arguments else bytes(arguments["bytes"])
        self._prepare(view, tick, goal != c.BROADCAST)
        given = {name: arguments.get(name) for name in ("bits", "hops", "lifetime")}
        return self.messages.send(source, goal, content, tick / self.rate, **given)

    def _prepare(self, view: RadioView, tick: int, routed: bool) -> None:
        """Let the channel use the present links, and their network where a packet needs a route."""
        if self._linked != view.links.tick:
            self._connect(view, tick)
        if routed and not self._routed:
            self._routed = True
            self.messages.use_graph(self._graph(view))

    def post_service(
        self,
        kind: int,
        sources: Ints,
        goals: Ints,
        values: Floats,
        bits: Any,
        tick: int,
        lifetime: float | None = None,
        later: Floats | float = 0.0,
    ) -> Ints:
        """Queue packets of a service between radios (k,), with rows of numbers (k, w); see `Messages.post_service`."""
        self._prepare(self.fitted(), tick, True)
        given = kind, sources, goals, values, bits, tick / self.rate, lifetime, later
        numbers = self.messages.post_service(*given)
        self.services.posted(kind, numbers)
        return numbers

    def take_service(self, kind: int, tick: int) -> Arrivals:
        """Take the packets of a service that have arrived by a tick; receivers and origins are radios."""
        self.fitted()
        found = self.messages.take_service(kind, tick / self.rate)
        self.services.arrived(kind, len(found.number))
        return found

    def received(self, name: str | int, tick: int, since: int = 0) -> list[Received]:
        """Return the messages that have arrived at a vehicle or station, oldest first; `since`: later numbers only."""
        view = self.fitted()
        first = view.number_of(name)
        owner = view.radios.table[OWNER, : view.radios.n]
        own = np.flatnonzero(owner == owner[first]).tolist()
        found = [one for radio in own for one in self.messages.received(radio, tick / self.rate)]
        found.sort(key=lambda one: (one.arrived, one.number))
        return [
            Received(one.number, view.name_of(one.source) if one.source >= 0 else self.senders[one.number], *one[2:])
            for one in found
            if one.number > since
        ]

    def heard(self, fleet: str, tick: int) -> FleetHeard:
        """Return what the vehicles of a fleet have heard."""
        view, air = self.fitted(), self.messages.air
        keep = 0.0 if self.section.beacons is None else self.section.beacons.keep
        arrays = air.heard, air.heard_real, air.whole, air.mail, air.mail_real
        for part in view.radios.parts:
            if part.fleet == fleet:
                return FleetHeard(tick / self.rate, keep, part.first, part.slots, part.n, *arrays)
        return FleetHeard(tick / self.rate, keep, 0, 1, 0, *arrays)

    # state -----------------------------------------------------------------------------------------------------------

    def save(self) -> dict[str, Any]:
        """Return the messages, the places to which delays refer, components of the network and counts of services."""
        self.fitted()
        own = {"placed": self._placed.copy(), "labels": self.labels.copy(), "services": self.services.table.copy()}
        saved = self.messages.save()
        self.senders = {number: name for number, name in self.senders.items() if number in self.messages.contents}
        numbers = sorted(self.senders)
        names = {"of": np.array(numbers, np.int64), "names": [self.senders[number] for number in numbers]}
        return {**saved, **own, "senders": names}

    def restore(self, saved: Any) -> None:
        """Load what `save` returned, after the links."""
        self.messages = Messages(self.section, self._seed())
        self._radios = None
        view = self.fitted()
        n = view.radios.n
        if not isinstance(saved, Mapping) or not {"placed", "labels", "services", "senders"} <= saved.keys():
            raise PaddockError("saved messages lack a part")
        placed, labels = np.asarray(saved["placed"]), np.asarray(saved["labels"])
        if placed.shape != (len(PLACED), n) or placed.dtype != np.float64 or labels.shape not in ((n,), (0,)):
            raise PaddockError("saved messages do not fit the radios")
        if not possible_places(placed):
            raise PaddockError("saved messages: places of radios are not valid")
        if labels.dtype != np.int64 or (labels < -1).any() or (labels >= n).any():
            raise PaddockError("saved components of the network are not valid")
        self._placed, self.labels, self._linked = placed.copy(), labels.copy(), -1
        self.messages.use(self._paths(view))
        self.messages.restore(saved, view.tick / self.rate, 1.0 / self.rate)
        self.services.restore(saved["services"])
        self.senders = _saved_senders(saved["senders"], self.messages)
        if self.beacons_per_tick or self.messages.busy:
            self._linked = view.links.tick
            self._routed = self.messages.routing
            self.messages.use_graph(self._graph(view) if self._routed else None)

    def take_over(self, other: "MessageStage") -> None:
        """Replace the state by that of another stage."""
        self.messages, self.labels, self._placed = other.messages, other.labels, other._placed
        self._sensed, self._disturbances = other._sensed, other._disturbances
        self._radios, self._linked, self._routed = other._radios, other._linked, other._routed
        self.services, self.senders, self._name_of = other.services, other.senders, other._name_of
        self._phases, self._offsets = other._phases, other._offsets
        self._numbers, self._starts = other._numbers, other._starts

    def clear(self) -> None:
        """Start a new run."""
        self.messages = Messages(self.section, self._seed())
        self.services, self.senders = ServiceCounts(), {}
        self._radios, self._linked = None, -1
        self.labels, self._placed = np.zeros(0, np.int64), np.zeros((len(PLACED), 0))


def _content(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the contents of a message as logs hold them: `text` (JSON) or `bytes`."""
    if "text" in arguments:
        try:
            data = json.loads(arguments["text"])
        except (TypeError, ValueError):
            raise InvalidValueError("send: text is no JSON") from None
    elif "bytes" in arguments:
        data = np.asarray(arguments["bytes"], np.uint8).tobytes()
    else:
        data = arguments.get("data")
    content, _ = encoded(data)
    if content[0] == TEXT:
        return {"text": content[1:].decode()}
    return {"bytes": np.frombuffer(content[1:], np.uint8).copy()}


def _saved_senders(saved: Any, messages: Messages) -> dict[int, str]:
    """Return the names of removed senders of a saved state; PaddockError unless they are those of its messages."""
    wanted = sorted(messages.orphans())
    of, names = (saved.get("of"), saved.get("names")) if isinstance(saved, Mapping) else (None, None)
    if not isinstance(of, np.ndarray) or of.dtype != np.int64 or of.tolist() != wanted:
        raise PaddockError("saved messages: names of removed senders are not those of their messages")
    if not isinstance(names, list) or len(names) != len(wanted):
        raise PaddockError("saved messages: names of removed senders are not those of their messages")
    if not all(isinstance(name, str) and 0 < len(name) <= LONGEST_NAME for name in names):
        raise PaddockError("saved messages: a name of a removed sender is not valid")
    return dict(zip(wanted, names, strict=True))


def _kept_labels(labels: Ints, moved: Ints, n: int) -> Ints:
    """Return the components of `n` radios, of which those with places in `moved` were there before; -1: it was not."""
    if len(labels) != len(moved):
        return np.zeros(0, np.int64)
    kept: Ints = np.full(n, -1)
    kept[moved[moved >= 0]] = labels[moved >= 0]
    known = kept >= 0
    kept[known] = np.unique(kept[known], return_inverse=True)[1]
    return kept


def _parted(before: Ints, now: Ints) -> list[tuple[Ints, int]]:
    """Return the radios of each part into which a component has fallen, without the largest, and how many are left."""
    labels = int(now.max(initial=0)) + 1
    pairs, inverse, sizes = np.unique(before * labels + now, return_inverse=True, return_counts=True)
    label_before = pairs // labels
    found = []
    for label in np.flatnonzero(np.bincount(label_before) > 1).tolist():
        parts = np.flatnonzero(label_before == label)
        largest = parts[np.argmax(sizes[parts])]
        for part in parts[parts != largest].tolist():
            found.append((np.flatnonzero(inverse == part), int(sizes[parts].sum() - sizes[part])))
    return found
