"""Packets of a run: radios get packets from actions and beacons, the channel runs, splits of the network are reported.

`paddock.radio.packets` computes on arrays. The stage follows that of the links: it first runs the channel up to now
over the last links, then takes the new ones. It is due in every tick while a packet is under way or beacons are sent.

Beacons and services have rates that need not divide that of the clock: each turn has its exact time, and begins at the
tick after it. A vehicle with the phase p (0 to 1) has its turn k at k - p periods of the run.
"""

import json
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from paddock.compute.philox import signed, uniforms
from paddock.compute.twin import vectorised
from paddock.engine.actions import PacketAction
from paddock.engine.behaviours import PoseBlocks
from paddock.engine.events import EventLog
from paddock.engine.pipeline import NEVER_DUE, every
from paddock.engine.radio.jammers import sensed, steady_jamming
from paddock.engine.radio.links import among
from paddock.engine.run_state import RunState
from paddock.errors import InvalidValueError, PaddockError, unknown_name
from paddock.radio.links.radios import COLUMN, Floats, Radios
from paddock.radio.packets import queues as c
from paddock.radio.packets.channel_links import (
    Disturbances,
    DisturbanceUpdate,
    channel_links,
    no_disturbances,
    placed_radios,
    possible_places,
)
from paddock.radio.packets.messages import EVERYONE, Arrivals, Messages, Post
from paddock.radio.packets.network import Graph, Ints, Network, component_labels, graph_of
from paddock.radio.packets.queues import ChannelLinks, Devices, denied_slots
from paddock.radio.packets.state import (
    SERVICE_DELIVERED,
    SERVICE_DROPPED,
    SERVICE_SENT,
    SERVICES,
    TEXT,
    FleetHeard,
    PacketState,
    check_times,
    encoded,
)
from paddock.radio.physics.signal import power_ratio
from paddock.radio.settings import checked_options
from paddock.scenario.radio_types import LONGEST, MessagesSection
from paddock.wire.radio_results import Received, ServiceTraffic
from paddock.world.fleet import draw_uniforms

if TYPE_CHECKING:
    from paddock.engine.radio.stage import RadioStage

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
AGAIN = 10.0  # s after which it is reported again that messages do not arrive
FEW = 1000  # radios up to which the network is watched at every update; more: once per second
BEACON_ROWS = 10  # of a pose: position, quaternion, velocity
CONTENTS = ("text", "bytes")  # how a log holds the contents of a message


def devices_of(radios: Radios, section: MessagesSection) -> Devices:
    """Return the radios as the channel sees them."""
    n, table = radios.n, radios.table[:, : radios.n]
    rate, duties = table[COLUMN.bandwidth] / table[COLUMN.spread], [group.radio.duty for group in radios.groups]
    group, owner, modulation = (table[k].astype(np.int64) for k in (COLUMN.group, COLUMN.owner, COLUMN.modulation))
    overhead, bandwidth = np.full(n, section.overhead), table[COLUMN.bandwidth].copy()
    return Devices(radios.streams[:n], rate, overhead, modulation, bandwidth, owner, np.array(duties)[group])


class MessageStage:
    """Runs the messages between all radios."""

    name = "messages"

    def __init__(self, radio: "RadioStage", poses: PoseBlocks, events: EventLog) -> None:
        self._radio, self._poses, self.events = radio, poses, events
        self.section = section = radio.section
        self.rate, self.period = radio.world.clock.rate, radio.period  # ticks per second, and between two updates
        self._messages = Messages(section)
        self._disturbances: DisturbanceUpdate | None = None
        self._radios: Radios | None = None
        self._run: RunState | None = None  # the state of the run whose packets are in use
        self._sensed = np.zeros((2, 0))
        self._linked = -1  # tick of the links in use, -1: none
        self._routed = False  # whether the routes are those of the links
        self._phases = np.zeros(0)  # periods of beacons
        self._numbers = np.zeros(0)  # of their present periods
        self._beacons, self._later = np.zeros(0), np.zeros(0)  # ticks of their beacons, and ticks after those
        # of packets of programs, by their numbers: where they go, and what they contain
        self._contents: dict[int, tuple[deque[Any], Any]] = {}
        # beacons of a radio in one tick, 0: there are none
        self.beacons_per_tick = 0.0 if section.beacons is None else min(section.beacons.rate / self.rate, 1.0)

    # time ------------------------------------------------------------------------------------------------------------

    @property
    def messages(self) -> Messages:
        """The packets between the present radios."""
        self.fitted()
        return self._messages

    def slot_at(self, time: float) -> int:
        """Return the slot of the channel that contains a time (s)."""
        return self._messages.slot_at(time)

    def due(self, tick: int) -> int:
        """Return this tick while packets are under way or beacons are sent, else that of the next links."""
        if not self.fitted().roster.radios.n:
            return NEVER_DUE
        busy = self.beacons_per_tick or self._messages.busy or self._messages.serves
        return tick if busy else every(tick, self.period)

    def run(self, tick: int) -> None:
        """Run the channel up to now, take new links, and send beacons."""
        radio, messages = self.fitted(), self._messages
        if messages.busy:
            messages.advance(tick / self.rate)
        if messages.serves:
            self._deliver_programs(tick)
        if radio.links.tick != self._linked:
            self._update(tick)
        if self.beacons_per_tick:
            self._send_beacons(tick)

    def airtimes(self, tick: int) -> Floats:
        """Return the time (s) that each radio was on the air since the last call, until a tick."""
        self.fitted()
        return self._messages.airtimes(tick / self.rate)

    def begin(self, tick: int) -> None:
        """Take the first links, and send the first beacons."""
        self.fitted()
        self._update(tick, quiet=True)
        if self.beacons_per_tick:
            self._send_beacons(tick)

    def fitted(self) -> "RadioStage":
        """Return the radio; the packets follow when vehicles come or go, and when the state is replaced."""
        radio = self._radio
        radios, state = radio.roster.radios, radio.state.packets
        if radios is self._radios:
            return radio
        self._radios, streams = radios, radios.streams[: radios.n]
        devices = devices_of(radios, self.section)
        self._sensed = sensed(radios, self.section)
        if state is self._messages.state:
            self._messages.devices = devices
        else:
            self._messages.set_state(state, devices, radio.world.seed)
            self._linked = -1
            if self._run is radio.world.state:
                self._follow_radios()
            else:
                self._run, self._contents = radio.world.state, {}
                self._follow_state()
        self._phases = draw_uniforms(radio.world.seed, streams, PHASE_PURPOSE, 1)[:, 0]
        self._numbers, self._beacons, self._later = np.zeros((3, len(streams)))
        if self.beacons_per_tick:
            numbers = turns_by(radio.world.clock.tick, self.beacons_per_tick, self._phases)
            self._draw_beacons(radios, np.arange(len(streams)), numbers)
        return radio

    def _follow_radios(self) -> None:
        """Use the links between the radios that are there now: transmissions start again."""
        self._messages.relink(None, None)
        if self.beacons_per_tick or self._messages.busy:
            self._connect(self._radio.world.clock.tick)

    def _follow_state(self) -> None:
        """Use the links of a state that was loaded, or is that of a new run."""
        self._messages.use(self.channel_links())
        if self.beacons_per_tick or self._messages.busy:
            self._linked = self._radio.links.tick
            self._routed = self._messages.routing
            self._messages.use_graph(self._graph() if self._routed else None)

    def check(self) -> None:
        """Refuse a loaded state whose times do not fit the run."""
        radio, messages = self.fitted(), self._messages
        if not possible_places(radio.state.packets.placed):
            raise PaddockError("saved packets: places of radios are not valid")
        now, step = radio.world.clock.tick / self.rate, 1.0 / self.rate
        check_times(radio.state.packets, messages.rules, messages.devices, messages.links, now, step)

    def _draw_beacons(self, radios: Radios, rows: Ints, numbers: Floats) -> None:
        """Draw when radios send their beacons of their periods of these numbers: at a random offset from its begin."""
        keys = radios.streams[rows], JITTER_PURPOSE, numbers.astype(np.int64)
        drawn, _ = vectorised(uniforms)(signed(self._radio.world.seed), *keys)
        offsets = JITTER / self.beacons_per_tick * drawn
        whole = np.floor(offsets)
        self._numbers[rows], self._later[rows] = numbers, offsets - whole
        self._beacons[rows] = turn_ticks(numbers, self.beacons_per_tick, self._phases[rows]) + whole

    def _update(self, tick: int, quiet: bool = False) -> None:
        """Take the links of an update; while there are no packets, those are looked at when one is sent."""
        radio = self._radio
        self._linked, busy = -1, self._messages.busy
        if radio.state.silent.any():
            self._messages.silence(np.flatnonzero(radio.state.silent))
        if radio.links.tick == tick:
            radio.state.packets.placed = placed_radios(radio.roster.radios, radio.state.packets.placed)
        if self.beacons_per_tick or busy:
            self._connect(tick)
        seldom = radio.roster.radios.n > FEW and tick % max(1, round(self.rate)) >= self.period
        if radio.links.tick == tick and not seldom:
            self._watch(self._graph(), tick, quiet)

    def _connect(self, tick: int) -> None:
        """Let the channel use the links."""
        self._routed = self._messages.routing
        self._messages.relink(self.channel_links(), self._graph() if self._routed else None, tick / self.rate)
        self._linked = self._radio.links.tick

    def channel_links(self) -> ChannelLinks:
        """Return the links of an update as the channel needs them."""
        radio = self._radio
        links, rules = radio.links, self._messages.rules
        anchor = self._messages.slot_at(max(links.tick, 0) / self.rate)
        senses = self.section.sharing == "csma"
        sense, energy = vectorised(power_ratio)(self._sensed) if senses else self._sensed
        denied = denied_slots(links.bursts, steady_jamming(links), energy, rules.slot, rules.difs, anchor)
        tables = radio.roster.radios.table, links, self._others(), radio.state.packets.placed[:3], sense, energy
        return channel_links(*tables, radio.roster.update.least, denied)

    def _others(self) -> Disturbances:
        """Return what disturbs packets, or is sensed, and is no link."""
        radio = self._radio
        if self.section.sharing == "none" or radio.links.tick < 0:
            return no_disturbances(radio.roster.radios.n)
        if self._disturbances is None or self._disturbances.of is not radio.roster.update:
            least = np.minimum(radio.roster.update.keep - radio.roster.update.margin, self._sensed.min(axis=0))
            self._disturbances = DisturbanceUpdate(radio.roster.update, least)
        return self._disturbances.find(radio.state.packets.placed, radio.roster.tables)

    def _graph(self) -> Graph:
        radios = self._radio.roster.radios
        return graph_of(self._radio.links, radios.table[COLUMN.owner, : radios.n].astype(np.int64))

    def _send_beacons(self, tick: int) -> None:
        """Send the beacons of this tick: one in every period of a vehicle, at a random offset from its begin."""
        radios = self._radio.roster.radios
        numbers = turns_by(tick, self.beacons_per_tick, self._phases)
        begun = np.flatnonzero(numbers != self._numbers)
        if len(begun):
            self._draw_beacons(radios, begun, numbers[begun])
        due = np.flatnonzero(self._beacons == tick)
        due = due[(radios.slot[due] == 0) & ~self._radio.state.silent[due]]
        for part in radios.parts:
            own, places = part.vehicles(due)
            if len(own):
                states = np.ascontiguousarray(self._poses(part.fleet)[:BEACON_ROWS, places].T)
                self._messages.beacon(due[own], states, tick / self.rate, self._later[due[own]] / self.rate)

    # network ---------------------------------------------------------------------------------------------------------

    def graph(self) -> Graph:
        """Return the neighbours of each radio by the present links."""
        self.fitted()
        return self._graph()

    def network(self, tick: int) -> Network:
        """Return the network of the present links."""
        radio = self.fitted()
        present = np.flatnonzero(~radio.state.silent)
        names = [radio.name_of(k) for k in present.tolist()]
        return Network(tick, among(self._graph(), present), names, radio.roster.radios.table[COLUMN.owner, present])

    def _watch(self, graph: Graph, tick: int, quiet: bool) -> None:
        """Report components that have split or joined since the last look, of the radios that were there then."""
        radio = self._radio
        before, now = radio.state.packets.labels, component_labels(graph.start, graph.peer)
        radio.state.packets.labels = now
        if quiet or np.array_equal(before, now):
            return
        present = np.flatnonzero(~radio.state.silent & (before >= 0))
        before, now = before[present], now[present]
        changes = [("network_split", present[part], two) for part, two in _parted(before, now)]
        changes += [("network_joined", present[part], two) for part, two in _parted(now, before)]
        for kind, some, rest in changes[:PARTS_SHOWN]:
            what = "is cut off from" if kind == "network_split" else "is connected with"
            others = f"{what} {rest} radios" if len(some) == 1 else f"and {len(some) - 1} more: {what} {rest} radios"
            self.events.report(tick, kind, radio.name_of(int(some[0])), others)
        if len(changes) > PARTS_SHOWN:
            self.events.report(tick, changes[-1][0], "", f"{len(changes) - PARTS_SHOWN} more parts of the network")

    def medium(self) -> Messages:
        """Return an empty channel over the present links, for planning: what is sent there is not part of the run.

        Mailboxes have room for a message of every radio.
        """
        radio = self.fitted()
        section = self.section.model_copy(update={"mailbox": max(self.section.mailbox, radio.roster.radios.n)})
        messages = Messages(section, self._radio.world.seed)
        messages.begin(devices_of(radio.roster.radios, section))
        paths = self.channel_links()
        kept = paths._replace(table=paths.table.copy(), bursts=paths.bursts.copy())  # the next update uses them again
        messages.relink(kept, self._graph())
        return messages

    def rehearse(self) -> None:
        """Compile what packets need, over the present links: what is sent here is not part of the run."""
        radios = self.fitted().roster.radios
        messages = Messages(self.section, self._radio.world.seed)
        messages.begin(devices_of(radios, self.section))
        messages.relink(self.channel_links(), self._graph())
        messages.send(0, c.BROADCAST if radios.n < 2 else 1, b"", 0.0)
        messages.advance(0.01)
        messages.relink(None, None, 0.01)
        messages.forge(np.zeros(0, np.int64), (1.0, 1.0), np.zeros(radios.n), 0, None, (0, b""))

    # actions ---------------------------------------------------------------------------------------------------------

    def checked(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a `send` in plain values; PaddockError if it cannot be sent."""
        radio, options = self._radio, ("source", "to", "bits", "hops", "lifetime")
        for name in arguments:
            if name not in (*options, "data", *CONTENTS):
                raise unknown_name("argument of send", name, (*options, "data"))
        values: dict[str, Any] = {name: arguments.get(name) for name in options}
        source = radio.number_of(values["source"])
        if radio.state.silent[source]:
            raise PaddockError(f"send: {values['source']!r} is damaged: its radio is dead")
        if values["to"] != EVERYONE and radio.number_of(values["to"]) == source:
            raise PaddockError(f"send: {values['to']!r} cannot send a message to itself")
        content = _content(arguments)
        ends = {name: values.pop(name) for name in ("source", "to")}
        return ends | checked_options(values) | content

    def send(self, arguments: Mapping[str, Any], tick: int) -> int:
        """Queue a message; return its number."""
        radio = self.fitted()
        source, to = radio.number_of(arguments["source"]), arguments["to"]
        goal = c.BROADCAST if to == EVERYONE else radio.number_of(to)
        content = json.loads(arguments["text"]) if "text" in arguments else bytes(arguments["bytes"])
        self._prepare(tick, goal != c.BROADCAST)
        options = {name: arguments.get(name) for name in ("bits", "hops", "lifetime")}
        number = self._messages.send(source, goal, content, tick / self.rate, **options)
        self._report_unreachable(source, goal, tick)
        return number

    def _report_unreachable(self, source: int, goal: int, tick: int) -> None:
        """Report why a message will not arrive, by the present links; once in `AGAIN` s for the same two."""
        labels, links = self._radio.state.packets.labels, self._messages.links
        if goal == c.BROADCAST:
            row = links.entries["link"][links.first[source] : links.last[source]]
            if links.up[row[row >= 0]].any() or self._messages.n < 2:
                return
            apart = self._radio.roster.radios.table[:3, : self._messages.n] - links.position[:, [source]]
            others = self._messages.devices.group != self._messages.devices.group[source]
            if not others.any():
                return
            nearest = int(np.argmin(np.where(others, (apart**2).sum(axis=0), np.inf)))
        elif min(labels[source], labels[goal]) < 0 or labels[source] == labels[goal]:
            return
        else:
            nearest = goal
        name = self._radio.name_of(source)
        to = "no radio receives it; the nearest" if goal == c.BROADCAST else f"no route to {self._radio.name_of(goal)}"
        for event in reversed(self.events.since()):
            if tick - event.tick > AGAIN * self.rate:
                break
            if (event.kind, event.subject) == ("unreachable", name) and event.detail.startswith(to):
                return
        budget = self._radio.budget(source, nearest)
        self.events.report(tick, "unreachable", name, f"{to}: {budget.problem or 'the way back is down'}")

    def _prepare(self, tick: int, routed: bool) -> None:
        """Let the channel use the present links, and their network where a packet needs a route."""
        if self._linked != self._radio.links.tick:
            self._connect(tick)
        if routed and not self._routed:
            self._routed = True
            self._messages.use_graph(self._graph())

    def post_service(self, post: Post, tick: int) -> Ints:
        """Queue packets of a service; return their numbers, 0 for those that a full queue has dropped."""
        self.fitted()
        self._prepare(tick, True)
        numbers, counts = self._messages.post_service(post, tick / self.rate), self._messages.state.services
        counts[SERVICE_SENT, post.kind - c.COMMAND] += len(numbers)
        counts[SERVICE_DROPPED, post.kind - c.COMMAND] += int((numbers == 0).sum())
        return numbers

    def count_replaced(self, kind: int, replaced: int) -> None:
        """Count packets of a service that newer ones have replaced before they were queued."""
        self.fitted().state.packets.services[[SERVICE_SENT, SERVICE_DROPPED], kind - c.COMMAND] += replaced

    def take_service(self, kind: int, tick: int) -> Arrivals:
        """Take the packets of a service that have arrived by a tick; receivers and origins are radios."""
        state = self.fitted().state.packets
        arrivals = self._messages.take_service(kind, tick / self.rate)
        state.services[SERVICE_DELIVERED, kind - c.COMMAND] += len(arrivals.number)
        return arrivals

    # packets of programs ---------------------------------------------------------------------------------------------

    def post_packet(self, action: PacketAction, tick: int) -> int:
        """Queue the packet of a program; return its number, or 0: no room, or an end is gone."""
        radio = self.fitted()
        try:
            source, goal = radio.number_of(action.source), radio.number_of(action.to)
        except PaddockError:  # the vehicle has been removed
            return 0
        if len(self._messages.queued(c.MAVLINK, source)) >= action.queue:
            self._messages.state.counts[c.QUEUE_FULL, source] += 1
            self.count_replaced(c.MAVLINK, 1)
            return 0
        ends, frame = (np.array([source]), np.array([goal])), (action.header_bits, action.retries)
        post = Post(c.MAVLINK, *ends, np.zeros((1, 0)), action.bits, lifetime=LONGEST, frame=frame)
        return int(self.post_service(post, tick)[0])

    def await_packet(self, number: int, arrivals: deque[Any], content: Any) -> None:
        """Append the content of a packet to `arrivals` when it has arrived."""
        self.fitted()
        self._contents[number] = arrivals, content

    def awaits(self, number: int) -> bool:
        """Return whether a packet of a program may still arrive."""
        return number in self._contents

    def _deliver_programs(self, tick: int) -> None:
        """Hand the packets of programs that have arrived to those that await them."""
        for number in self.take_service(c.MAVLINK, tick).number.tolist():
            arrivals, content = self._contents.pop(number, (None, None))
            if arrivals is not None:
                arrivals.append(content)
        if len(self._contents) > 2 * self._messages.n * self.section.queue:  # others were lost
            queued = set(self._messages.queued(c.MAVLINK)[:, c.NUMBER].tolist())
            self._contents = {number: kept for number, kept in self._contents.items() if number in queued}

    def traffic_of_services(self) -> dict[str, ServiceTraffic]:
        """Return the counts of packets of each service that has sent some."""
        state, traffic = self.fitted().state.packets, {}
        waiting = self._waiting(state) if state.services[SERVICE_SENT].any() else []
        for k, name in enumerate(SERVICES):
            sent, delivered, dropped = state.services[:, k].tolist()
            if sent:
                lost = max(sent - delivered - dropped - waiting[k], 0)
                traffic[name] = ServiceTraffic(sent, delivered, lost, dropped, waiting[k])
        return traffic

    def _waiting(self, state: PacketState) -> list[int]:
        """Return how many packets of each service are in queues or in the inbox; copies of one packet count once."""
        return [len(self._messages.under_way(c.COMMAND + k)[0]) for k in range(len(SERVICES))]

    def received(self, name: str | int, tick: int, since: int = 0) -> list[Received]:
        """Return the messages that have arrived at a vehicle or station, oldest first; `since`: later numbers only."""
        radio = self.fitted()
        first = radio.number_of(name)
        owner = radio.roster.radios.table[COLUMN.owner, : radio.roster.radios.n]
        own = np.flatnonzero(owner == owner[first]).tolist()
        messages = [message for radio in own for message in self._messages.received(radio, tick / self.rate)]
        messages.sort(key=lambda message: (message.arrived, message.number))
        names, senders = radio.name_of, radio.state.packets.senders
        return [
            Received(
                message.number, names(message.source) if message.source >= 0 else senders[message.number], *message[2:]
            )
            for message in messages
            if message.number > since
        ]

    def heard(self, fleet: str, tick: int) -> FleetHeard:
        """Return what the vehicles of a fleet have heard."""
        radio = self.fitted()
        state = radio.state.packets
        keep = 0.0 if self.section.beacons is None else self.section.beacons.keep
        arrays = state.heard, state.heard_real, state.mail_head, state.mails, state.mail, state.mail_real
        for part in radio.roster.radios.parts:
            if part.fleet == fleet:
                return FleetHeard(tick / self.rate, keep, part.first, part.slots, part.n, *arrays)
        return FleetHeard(tick / self.rate, keep, 0, 1, 0, *arrays)


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
    labels = int(now.max(initial=0)) + 1
    pairs, inverse, sizes = np.unique(before * labels + now, return_inverse=True, return_counts=True)
    label_before = pairs // labels
    split = []
    for label in np.flatnonzero(np.bincount(label_before) > 1).tolist():
        parts = np.flatnonzero(label_before == label)
        largest = parts[np.argmax(sizes[parts])]
        for part in parts[parts != largest].tolist():
            split.append((np.flatnonzero(inverse == part), int(sizes[parts].sum() - sizes[part])))
    return split
