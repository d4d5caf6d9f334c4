"""Messages in a run: radios get packets from actions and beacons, the channel runs, the network reports its splits.

`paddock.radio.messages` computes on arrays. The stage follows that of the links: it first runs the channel up to now
over the last links, then takes the new ones. It is due in every tick while a packet is under way or beacons are sent.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from paddock.compute.twin import vectorised
from paddock.engine.events import EventLog
from paddock.engine.pipeline import NEVER_DUE, every
from paddock.errors import InvalidValueError, PaddockError, unknown_name
from paddock.radio import channel as c
from paddock.radio.channel import AirLinks, Devices
from paddock.radio.heard import FleetHeard
from paddock.radio.links import BANDWIDTH, BITS, MODULATION, OWNER, SENSITIVITY, SPREAD, Links
from paddock.radio.message_checks import MOST_BITS
from paddock.radio.messages import EVERYONE, TEXT, Messages, encoded, places_of
from paddock.radio.network import Graph, Ints, Network, component_labels, graph_of
from paddock.radio.radios import Floats, Radios
from paddock.radio.signal import power_ratio
from paddock.scenario.messages import LONGEST, MessagesSection
from paddock.world.fleet import draw_uniforms

BEACON_PURPOSE = 902  # of the random phase of a vehicle's beacons
EVENTS_SHOWN = 20  # of splits and joins at one update; a last one counts the rest
FEW = 1000  # radios up to which the network is watched at every update; more: once per second
BEACON_ROWS = 10  # of a pose: position, quaternion, velocity
FARTHEST = 1e9  # m
CONTENTS = ("text", "bytes")  # how a log holds the contents of a message


class Received(NamedTuple):
    """A message that a vehicle or station has received."""

    number: int  # counts the messages of the run from 1
    source: str  # vehicle or station
    data: Any  # bytes, or values as in JSON
    bits: int
    hops: int
    sent: float  # s
    arrived: float  # s


class RadioView(NamedTuple):
    """What the stage needs of the links."""

    radios: Radios
    links: Links
    name_of: Callable[[int], str]
    number_of: Callable[[str | int], int]
    tick: int


def devices_of(radios: Radios, section: MessagesSection) -> Devices:
    """Return the radios as the channel sees them."""
    n = radios.n
    table = radios.table[:, :n]
    dbm = table[SENSITIVITY] if section.sense is None else np.full(n, section.sense)
    sense = vectorised(power_ratio)(dbm) if section.sharing == "csma" else np.full(n, np.inf)
    rate = table[BANDWIDTH] / table[SPREAD]
    return Devices(
        *(radios.streams[:n], rate, np.full(n, section.overhead), sense, table[MODULATION].astype(np.int64)),
        *(table[BANDWIDTH].copy(), table[OWNER].astype(np.int64)),
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
        self.labels: Ints = np.zeros(0, np.int64)  # component of each radio at the last look
        self._place = np.zeros((3, 0))  # m, radios at the last update of the links
        self._radios: Radios | None = None
        self._linked = -1  # tick of the links in use, -1: none
        self._routed = False  # whether the routes are those of the links
        self._phases: Ints = np.zeros(0, np.int64)
        self.beacon_period = 0 if section.beacons is None else max(1, round(rate / section.beacons.rate))

    # time ------------------------------------------------------------------------------------------------------------

    def due(self, tick: int) -> int:
        """Return this tick while packets are under way or beacons are sent, else that of the next links."""
        if not self._view().radios.n:
            return NEVER_DUE
        return tick if self.beacon_period or self.messages.busy else every(tick, self.period)

    def run(self, tick: int) -> None:
        """Run the channel up to now, take new links, and send beacons."""
        view, messages = self._fitted(), self.messages
        messages.advance(tick / self.rate)
        if view.links.tick != self._linked:
            self._update(view, tick)
        if self.beacon_period:
            self._send_beacons(view.radios, tick)

    def airtimes(self, tick: int) -> Floats:
        """Return the time (s) that each radio was on the air since the last call, until a tick."""
        self._fitted()
        return self.messages.airtimes(tick / self.rate)

    def begin(self, tick: int) -> None:
        """Take the first links, and send the first beacons."""
        view = self._fitted()
        self._update(view, tick, quiet=True)
        if self.beacon_period:
            self._send_beacons(view.radios, tick)

    def _fitted(self) -> RadioView:
        """Return the radios and links; the messages follow when vehicles come or go."""
        view = self._view()
        if view.radios is not self._radios:
            self._radios, new, old = view.radios, view.radios.streams[: view.radios.n], self.messages.devices.streams
            self.messages.fit(devices_of(view.radios, self.section), view.tick / self.rate)
            if not np.array_equal(old, new):
                moved, self._linked, self.labels = places_of(new, old), -1, np.zeros(0, np.int64)
                place, self._place = self._place, np.zeros((3, len(new)))
                self._place[:, moved[moved >= 0]] = place[:, moved >= 0]
                self.messages.relink(None, None)
                if self.beacon_period or self.messages.busy:
                    self._connect(view, view.tick)
            drawn = draw_uniforms(self._seed(), new, BEACON_PURPOSE, 1)[:, 0]
            self._phases = np.floor(drawn * max(1, self.beacon_period)).astype(np.int64)
        return view

    def _update(self, view: RadioView, tick: int, quiet: bool = False) -> None:
        """Take the links of an update; while there are no packets, those are looked at when one is sent."""
        self._linked = -1
        if view.links.tick == tick:
            self._place = view.radios.table[:3, : view.radios.n].copy()
        if self.beacon_period or self.messages.busy:
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
        links, (x, y, z) = view.links, self._place
        given = links.start, links.peer, links.power, links.sinr, links.per, links.up
        return AirLinks(*c.transposed(*given, x, y, z, view.radios.table[BITS, : view.radios.n]))

    def _graph(self, view: RadioView) -> Graph:
        return graph_of(view.links, view.radios.table[OWNER, : view.radios.n].astype(np.int64))

    def _send_beacons(self, radios: Radios, tick: int) -> None:
        due = (tick + self._phases) % self.beacon_period == 0
        for part in radios.parts:
            first = np.arange(part.first, part.first + part.n * part.slots, part.slots)
            rows = np.flatnonzero(due[first])
            if len(rows):
                states = np.ascontiguousarray(self._poses(part.fleet)[:BEACON_ROWS, rows].T)
                self.messages.beacon(first[rows], states, tick / self.rate)

    # network ---------------------------------------------------------------------------------------------------------

    def network(self, tick: int) -> Network:
        """Return the network of the present links."""
        view = self._fitted()
        names = [view.name_of(k) for k in range(view.radios.n)]
        return Network(tick, self._graph(view), names, view.radios.table[OWNER, : view.radios.n])

    def components(self) -> Ints:
        """Return the component of each radio at the last look at the network."""
        view = self._fitted()
        if len(self.labels) == view.radios.n:
            return self.labels
        graph = self._graph(view)  # vehicles have joined or left since
        return component_labels(graph.start, graph.peer)

    def _watch(self, view: RadioView, graph: Graph, tick: int, quiet: bool) -> None:
        """Report components that have split or joined since the last look."""
        before, now = self.labels, component_labels(graph.start, graph.peer)
        self.labels = now
        if quiet or len(before) != len(now) or np.array_equal(before, now):
            return
        found = [("network_split", one, two) for one, two in _parted(before, now)]
        found += [("network_joined", one, two) for one, two in _parted(now, before)]
        for kind, some, rest in found[:EVENTS_SHOWN]:
            what = "is cut off from" if kind == "network_split" else "is connected with"
            others = f"{what} {rest} radios" if len(some) == 1 else f"and {len(some) - 1} more: {what} {rest} radios"
            self.events.report(tick, kind, view.name_of(int(some[0])), others)
        if len(found) > EVENTS_SHOWN:
            self.events.report(tick, found[-1][0], "", f"{len(found) - EVENTS_SHOWN} more parts of the network")

    def medium(self) -> Messages:
        """Return an empty channel over the present links, for planning: what is sent there is not part of the run."""
        view = self._fitted()
        found = Messages(self.section, self._seed())
        found.fit(devices_of(view.radios, self.section))
        found.relink(self._paths(view), self._graph(view))
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
        if given["to"] != EVERYONE and view.number_of(given["to"]) == source:
            raise PaddockError(f"send: {given['to']!r} cannot send a message to itself")
        content = _content(arguments)
        for name, low, high in (("bits", 0, MOST_BITS), ("hops", 1, 255)):
            value = given[name]
            if value is not None and not (type(value) is int and low <= value <= high):
                raise InvalidValueError(f"send: {name} is a whole number from {low} to {high}, not {value!r}")
        life = given["lifetime"]
        if life is not None and not (isinstance(life, int | float) and 0.0 < life <= LONGEST):
            raise InvalidValueError(f"send: lifetime is a time in s, > 0 and <= {LONGEST:g}, not {life!r}")
        return {name: value for name, value in given.items() if value is not None} | content

    def send(self, arguments: Mapping[str, Any], tick: int) -> int:
        """Queue a message; return its number."""
        view = self._fitted()
        source, to = view.number_of(arguments["source"]), arguments["to"]
        goal = c.BROADCAST if to == EVERYONE else view.number_of(to)
        content = json.loads(arguments["text"]) if "text" in arguments else bytes(arguments["bytes"])
        if self._linked != view.links.tick:
            self._connect(view, tick)
        if goal != c.BROADCAST and not self._routed:
            self._routed = True
            self.messages.use_graph(self._graph(view))
        given = {name: arguments.get(name) for name in ("bits", "hops", "lifetime")}
        return self.messages.send(source, goal, content, tick / self.rate, **given)

    def received(self, name: str | int, tick: int, since: int = 0) -> list[Received]:
        """Return the messages that have arrived at a vehicle or station, oldest first; `since`: later numbers only."""
        view = self._fitted()
        first = view.number_of(name)
        owner = view.radios.table[OWNER, : view.radios.n]
        own = np.flatnonzero(owner == owner[first]).tolist()
        found = [one for radio in own for one in self.messages.received(radio, tick / self.rate)]
        found.sort(key=lambda one: (one.arrived, one.number))
        return [
            Received(one.number, view.name_of(one.source) if one.source >= 0 else "", *one[2:])
            for one in found
            if one.number > since
        ]

    def heard(self, fleet: str, tick: int) -> FleetHeard:
        """Return what the vehicles of a fleet have heard."""
        view, air = self._fitted(), self.messages.air
        keep = 0.0 if self.section.beacons is None else self.section.beacons.keep
        arrays = air.heard, air.heard_real, air.whole, air.mail, air.mail_real
        for part in view.radios.parts:
            if part.fleet == fleet:
                return FleetHeard(tick / self.rate, keep, part.first, part.slots, part.n, *arrays)
        return FleetHeard(tick / self.rate, keep, 0, 1, 0, *arrays)

    # state -----------------------------------------------------------------------------------------------------------

    def save(self) -> dict[str, Any]:
        """Return the messages, the places to which delays refer, and the components of the network."""
        self._fitted()
        return {**self.messages.save(), "place": self._place.copy(), "labels": self.labels.copy()}

    def restore(self, saved: Any) -> None:
        """Load what `save` returned, after the links."""
        self.messages = Messages(self.section, self._seed())
        self._radios = None
        view = self._fitted()
        n = view.radios.n
        if not isinstance(saved, Mapping) or not {"place", "labels"} <= saved.keys():
            raise PaddockError("saved messages lack a part")
        place, labels = np.asarray(saved["place"]), np.asarray(saved["labels"])
        if place.shape != (3, n) or place.dtype != np.float64 or labels.shape not in ((n,), (0,)):
            raise PaddockError("saved messages do not fit the radios")
        if not (np.abs(place) <= FARTHEST).all():
            raise PaddockError("saved messages: places of radios are not valid")
        if labels.dtype != np.int64 or (labels < 0).any() or (labels >= n).any():
            raise PaddockError("saved components of the network are not valid")
        self.messages.restore(saved, view.tick / self.rate, 1.0 / self.rate)
        self._place, self.labels, self._linked = place.copy(), labels.copy(), -1
        if self.beacon_period or self.messages.busy:
            self._linked = view.links.tick
            self.messages.use(self._paths(view))
            self._routed = self.messages.routing
            self.messages.use_graph(self._graph(view) if self._routed else None)

    def take_over(self, other: "MessageStage") -> None:
        """Replace the state by that of another stage."""
        self.messages, self.labels, self._place = other.messages, other.labels, other._place
        self._radios, self._linked, self._routed = other._radios, other._linked, other._routed
        self._phases = other._phases

    def clear(self) -> None:
        """Start a new run."""
        self.messages = Messages(self.section, self._seed())
        self._radios, self._linked = None, -1
        self.labels, self._place = np.zeros(0, np.int64), np.zeros((3, 0))


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


def _parted(before: Ints, now: Ints) -> list[tuple[Ints, int]]:
    """Return the radios of each part into which a component has fallen, without the largest, and how many are left."""
    pairs, inverse, sizes = np.unique(np.stack([before, now]), axis=1, return_inverse=True, return_counts=True)
    inverse = inverse.reshape(-1)
    found = []
    for label in np.flatnonzero(np.bincount(pairs[0]) > 1).tolist():
        parts = np.flatnonzero(pairs[0] == label)
        largest = parts[np.argmax(sizes[parts])]
        for part in parts[parts != largest].tolist():
            found.append((np.flatnonzero(inverse == part), int(sizes[parts].sum() - sizes[part])))
    return found
