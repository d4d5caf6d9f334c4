"""Packets between the station of a mission over radio and its vehicles: routes, reports and acknowledgements.

The station numbers the routes of each vehicle. A route is sent in parts (`parts.py`) when there is room in the queue of
the station's radio; parts are sent again when a later report of the vehicle shows that they have not arrived. A vehicle
reports at a fixed rate, and at once when it has finished a task or received a route. The station acknowledges reports
of finished tasks, and those that come `heartbeat` s after its last packet to the vehicle: the time-out of a vehicle
counts from what it receives.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from paddock.engine.mission.following import MissionFleets
from paddock.engine.mission.parts import MOST_PARTS, RECEPTION, WINDOW, Inboxes, Outbox
from paddock.engine.radio.services import station_range
from paddock.engine.radio.stage import RadioStage
from paddock.errors import InvalidValueError
from paddock.planning.consensus_radio import Negotiated, negotiate
from paddock.planning.geometry.path import as_pose
from paddock.planning.mission.over_radio import Onboard
from paddock.planning.mission.station import Row, StationContact, VehicleReports
from paddock.planning.mission.vehicles import LONGEST, MEMBER, extend
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.methods import find_method
from paddock.radio.packets.messages import Post
from paddock.radio.packets.queues import MISSION
from paddock.scenario.via import MissionViaSection
from paddock.world.columns import Floats
from paddock.world.fleet import Ints, draw_uniforms
from paddock.world.parts import array, child, fill, fresh, part, record

REPORT_PURPOSE = 905  # of the random times of a vehicle's reports
ACKNOWLEDGEMENT_BITS = 136  # a HEARTBEAT of MAVLink
TASK_BITS = 32  # of a finished task in a report
RECEPTION_BITS = 64  # of what a report says about a route that is incomplete
GRACE = 1.0  # s after which a report that lacks parts of a route means that they are lost, at least
NO_CHARGE = -1.0  # of a vehicle without a battery
ROUTE, REPORT, ACKNOWLEDGEMENT = 1, 2, 3  # kinds of packets, the first number of each
# Further numbers of a route: its number, part, parts; of an acknowledgement: finished tasks; of a report:
NUMBER, ALONE, PROGRESS, TRAVELLED, CHARGE, POSE, FINISHED, LACKS = 1, 2, 3, 4, 5, 6, 10, 11
WIDTH = LACKS + RECEPTION  # numbers of a packet
LARGEST = 1e15  # number of a packet
UPDATE = 0.1  # s between updates of a mission, within which reports are sent at random times


class MissionTraffic(NamedTuple):
    """Routes and packets of a mission since the start."""

    routes: Row  # that the station has begun to send
    parts: Row  # packets of routes sent, repetitions after a loss included
    repeated: Row  # of which repeated
    taken: Row  # routes that vehicles have received
    reports: Row  # sent
    heard: Row  # reports that have arrived
    acknowledgements: Row  # sent


class Packets(NamedTuple):
    """Packets that have arrived, (k,) each, in the order of their arrival."""

    rows: Ints  # of the vehicles that sent or received them
    kind: Ints
    sent: Floats  # s
    arrived: Floats  # s
    values: Floats  # (k, WIDTH)


@part
class MissionLink:
    """The packets of a mission, in the order of its vehicles."""

    outbox: Outbox = child()
    inboxes: Inboxes = child(Inboxes)
    next_report: Floats = array("f8", MEMBER, unit="s", low=-LONGEST, high=LONGEST)
    posted: Floats = array("f8", MEMBER, unit="s", low=-LONGEST, high=LONGEST)  # when the newest route was sent last
    last_sent: Floats = array("f8", MEMBER, unit="s", low=-LONGEST, high=LONGEST)  # a packet of the station
    reported: Ints = array("i8", MEMBER, low=0)  # finished tasks in the last report
    counts: MissionTraffic = record(MissionTraffic, lambda: MissionTraffic(0, 0, 0, 0, 0, 0, 0))

    def __init__(self, station: str, via: MissionViaSection, participants: MissionFleets) -> None:
        """`station` and `via` are those of the scenario's mission."""
        fill(self)
        self.station, self.via, self.participants = station, via, participants
        self.mission = participants.mission
        self.outbox = fresh(Outbox, most_bits=8 * via.mtu)

    @property
    def radio(self) -> RadioStage:
        """The radio over which the packets go."""
        return self.participants.host.radio

    def check(self, state: Any) -> None:
        """Refuse other numbers of vehicles than the mission has."""
        count, announced = len(self.reported), len(self.outbox.number)
        joined = len(self.mission.fleet.joined)
        if not count <= announced <= joined or any(row >= count for row in self.inboxes.routes):
            raise InvalidValueError(f"{count} and {announced} rows of {joined} vehicles")

    @property
    def _parts(self) -> tuple[StationContact, Onboard]:
        assert self.mission.contact is not None and self.mission.onboard is not None
        return self.mission.contact, self.mission.onboard

    def announce(self, rows: Sequence[int]) -> None:
        """Send the new routes of vehicles as soon as there is room."""
        contact, _ = self._parts
        self.outbox.grow(len(self.mission.vehicles))
        for row in rows:
            waypoints = 1 + len(self.mission.fleet.vehicles[row].route.path.segments)
            bits = self.via.waypoint_bits * waypoints
            self.outbox.announce(row, int(contact.number[row]), bits)

    def exchange(self, time: float, poses: Floats, charge: Floats | None) -> list[int]:
        """Deliver what has arrived by a time (s), update the mission, send; return the rows that fly another route.

        `poses` (n, 4) and `charge` (n,) are those of the vehicles.
        """
        radios = self._radios()
        self._grow(time, radios)
        packets = self._arrivals(radios)
        changed = self._deliver(time, packets, poses) if len(packets.rows) else []
        reports, lacks = _reports(packets)
        contact, onboard = self._parts
        agreed = onboard.take_agreed(contact, time, lambda row: as_pose(poses[row]))
        self.inboxes.discard(agreed, onboard.number)
        self.next_report[agreed] = self.posted[agreed] = time
        changed += agreed + onboard.act_alone(time, charge, lambda row: as_pose(poses[row]))
        before, damaged = contact.finished.copy(), onboard.fleet.marked("damaged")
        new = self.mission.update_from_reports(reports)
        failed = np.flatnonzero(onboard.fleet.marked("damaged")[: len(damaged)] & ~damaged).tolist()
        joined = range(len(poses), len(self.mission.vehicles))  # they stay until they get a route
        if joined:
            self._grow(time, radios := self._radios())
        self.announce(new)
        if len(reports.rows):
            self._count(heard=len(reports.rows))
            self._repeat(reports, lacks)
            self._acknowledge(time, radios, reports, before)
        if self.outbox.waiting:
            self._send_routes(time, radios)
        self._send_reports(time, radios, poses, charge)
        return sorted({*changed, *failed, *joined})

    def negotiate(self, costs: Costs, rows: list[int], present: list[list[int]]) -> Negotiated:
        """Let vehicles negotiate over the present links; the packets of the run do not change."""
        self.radio.ensure_links()
        options = find_method(self.mission.setup.method).read(self.mission.setup.options)
        radios = self._radios()[rows]
        return negotiate(costs, options, self.radio.channel.medium(), radios, present)

    # receiving -------------------------------------------------------------------------------------------------------

    def _arrivals(self, radios: Ints) -> Packets:
        """Return the packets that have arrived of and for vehicles that are there."""
        packets = self.radio.channel.take_service(MISSION, self.radio.world.clock.tick)
        values = _wide(packets.values)
        kind, row_of = values[:, 0].astype(np.int64), np.full(self.radio.roster.radios.n, -1)
        present = np.flatnonzero(radios >= 0)
        row_of[radios[present]] = present
        rows = row_of[np.where(kind == REPORT, packets.origin, packets.receiver)]
        there = rows >= 0  # the others have left the mission
        return Packets(rows[there], kind[there], packets.sent[there], packets.arrived[there], values[there])

    def _deliver(self, time: float, packets: Packets, poses: Floats) -> list[int]:
        """Let vehicles take packets of the station; return the rows of those that have received a new route."""
        contact, onboard = self._parts
        received = (packets.kind != REPORT) & ~onboard.fleet.marked("damaged")[packets.rows]
        np.maximum.at(onboard.heard, packets.rows[received], packets.arrived[received])
        number, changed = packets.values[:, NUMBER].astype(np.int64), []
        answers = received & (packets.kind == ACKNOWLEDGEMENT)
        np.maximum.at(onboard.acknowledged, packets.rows[answers], number[answers])
        newer = received & (packets.kind == ROUTE) & (number > onboard.number[packets.rows])
        for k in np.flatnonzero(newer).tolist():  # at most half a queue of the station in an update
            row, (part, parts) = int(packets.rows[k]), packets.values[k, NUMBER + 1 : NUMBER + 3].tolist()
            if not self.inboxes.take(row, int(number[k]), int(part), int(parts)):
                continue
            inputs = contact.issued.get(row, {}).get(int(number[k]))
            if inputs is not None and onboard.take_up(row, int(number[k]), inputs, as_pose(poses[row])):
                changed.append(row)
                self.next_report[row] = time
                self._count(taken=1)
        return changed

    # sending ---------------------------------------------------------------------------------------------------------

    def _repeat(self, reports: VehicleReports, lacks: Ints) -> None:
        """Send parts of a route again to vehicles that lack them after they could have received them."""
        contact, _ = self._parts
        wait, rows = max(GRACE, 1.0 / self.via.reports), reports.rows
        outdated = (reports.number < contact.number[rows]) & (reports.sent > self.posted[rows] + wait)
        for k in np.flatnonzero(outdated).tolist():
            row = int(rows[k])
            if row in self.outbox.waiting or row in contact.agreed:
                continue
            if self.outbox.number[row] == contact.number[row]:
                self.outbox.repeat(row, lacks[k].tolist())
            else:  # it was negotiated, and the vehicle could not take it up
                self.announce([row])

    def _acknowledge(self, time: float, radios: Ints, reports: VehicleReports, before: Ints) -> None:
        """Acknowledge reports of finished tasks, and reports of vehicles that the station has sent nothing for long."""
        contact, _ = self._parts
        rows = np.unique(reports.rows)
        silent = time - self.last_sent[rows] >= self.via.heartbeat - 1e-9
        due = rows[(contact.finished[rows] > before[rows]) | silent]
        self._post(ACKNOWLEDGEMENT, radios, due, contact.finished[due, None], ACKNOWLEDGEMENT_BITS)
        self.last_sent[due] = time
        self._count(acknowledgements=len(due))

    def _send_routes(self, time: float, radios: Ints) -> None:
        """Send parts of routes while there is room in the queue of the station's radio."""
        contact, _ = self._parts
        sent = self.outbox.take(self._room(), contact.agreed)  # others still negotiate
        table = np.column_stack([contact.number[sent.rows], sent.part, sent.parts])
        self._post(ROUTE, radios, sent.rows, table, sent.bits)
        self.posted[sent.rows] = self.last_sent[sent.rows] = time
        first = (sent.part == 0) & ~sent.again
        self._count(routes=int(first.sum()), parts=len(sent.rows), repeated=int(sent.again.sum()))

    def _send_reports(self, time: float, radios: Ints, poses: Floats, charge: Floats | None) -> None:
        """Send the reports that are due."""
        _, onboard = self._parts
        due = (self.next_report < time + UPDATE) | (onboard.finished > self.reported)
        due[len(poses) :] = False  # vehicles that have just joined
        rows = np.flatnonzero(due & (radios >= 0) & ~onboard.fleet.marked("damaged"))
        if not len(rows):
            return
        levels = np.full(len(rows), np.nan) if charge is None else charge[rows]
        lacks = self.inboxes.reception(rows)
        table = np.column_stack([_numbers(onboard.report(rows, time, levels, poses[rows])), lacks])
        more = TASK_BITS * np.maximum(onboard.finished[rows] - onboard.acknowledged[rows], 0)
        bits = self.via.report_bits + more + RECEPTION_BITS * (lacks[:, 0] > 0.0)
        later = UPDATE * self._drawn(radios[rows], self.radio.world.clock.tick)
        self._post(REPORT, radios, rows, table, bits, later)
        steps = np.floor((time + UPDATE - self.next_report[rows]) * self.via.reports) + 1.0
        self.next_report[rows] += np.maximum(steps, 0.0) / self.via.reports
        self.reported[rows] = onboard.finished[rows]
        self._count(reports=len(rows))

    def _post(
        self, kind: int, radios: Ints, rows: Ints, values: Any, bits: Ints | int, later: Floats | float = 0.0
    ) -> None:
        """Queue packets of a kind, with rows of numbers, to or from vehicles that have a radio; `later` in s."""
        there = radios[rows] >= 0
        if not there.any():
            return
        vehicles = radios[rows[there]]
        table = np.zeros((len(vehicles), WIDTH))
        table[:, 0], table[:, 1 : 1 + values.shape[1]] = kind, values[there]
        station = np.full(len(vehicles), self._station_radio())
        source, goal = (vehicles, station) if kind == REPORT else (station, vehicles)
        lifetime = self.via.lost_after if kind == REPORT else None  # an older report would be of no use
        tick = self.radio.world.clock.tick
        sizes, delay = (np.broadcast_to(size, len(rows))[there] for size in (bits, later))
        self.radio.channel.post_service(Post(MISSION, source, goal, table, sizes, lifetime, delay), tick)

    def _room(self) -> int:
        """Return how many packets the station's radio takes; half of its queue is left to others."""
        messages = self.radio.channel.messages
        share = max(messages.section.queue // 2, 1)
        return max(share - int(messages.state.queued[self._station_radio()]), 0)

    def _station_radio(self) -> int:
        return station_range(self.radio.roster.radios, self.station)[0]

    def _radios(self) -> Ints:
        """Return the radio of each vehicle, -1 for removed vehicles."""
        radios = np.full(len(self.mission.vehicles), -1, np.int64)
        first = {part.fleet: (part.first, part.slots) for part in self.radio.roster.radios.parts}
        for group in self.participants.vehicles()[0]:
            begin, slots = first[group.program.fleet.name]
            radios[group.indices] = begin + group.program.fleet.ranks[group.rows] * slots
        return radios

    def _grow(self, time: float, radios: Ints) -> None:
        """Extend the arrays for vehicles that have joined; each begins to report within one interval."""
        rows, count = len(self.reported), len(radios)
        if count == rows:
            return
        phase = self._drawn(np.maximum(radios[rows:], 0), 0)
        extend(self, count, next_report=time + phase / self.via.reports, posted=time, last_sent=time)
        self.outbox.grow(count)

    def _drawn(self, radios: Ints, tick: int) -> Floats:
        """Return a random number in [0, 1) for each radio at a tick."""
        streams = self.radio.roster.radios.streams[radios]
        return draw_uniforms(self.radio.world.seed, streams, REPORT_PURPOSE, 1, tick)[:, 0]

    def _count(self, **more: int) -> None:
        """Add to counters."""
        self.counts = self.counts._replace(**{name: getattr(self.counts, name) + n for name, n in more.items()})

    def check_packets(self) -> None:
        """Refuse loaded packets that no run can have sent; the channel must be rebuilt first."""
        _, _, values = self.radio.channel.messages.under_way(MISSION)
        table = _wide(values)
        kind, rest = table[:, 0], table[:, 1:]
        report, route = table[kind == REPORT], table[kind == ROUTE]
        integers = table[:, [0, NUMBER]], report[:, [ALONE, FINISHED]], report[:, LACKS:], route[:, NUMBER : NUMBER + 3]
        valid = all(bool(((numbers >= 0.0) & (numbers == np.floor(numbers))).all()) for numbers in integers)
        valid = valid and bool(
            np.isin(kind, (ROUTE, REPORT, ACKNOWLEDGEMENT)).all() and (np.abs(rest) <= LARGEST).all()
        )
        part, parts = route[:, NUMBER + 1], route[:, NUMBER + 2]
        valid = valid and bool((report[:, ALONE] <= 1.0).all() and (part < parts).all() and (parts <= MOST_PARTS).all())
        if not valid or (report[:, LACKS + 1] > MOST_PARTS).any() or (report[:, LACKS + 2] >= 2.0**WINDOW).any():
            raise InvalidValueError("saved packets of the mission are not valid")


def _wide(values: Floats) -> Floats:
    """Return the numbers of packets with WIDTH columns."""
    table = np.zeros((len(values), WIDTH))
    table[:, : values.shape[1]] = values[:, :WIDTH]
    return table


def _numbers(reports: VehicleReports) -> Floats:
    """Return reports as the numbers of packets, without what they say about incomplete routes."""
    charge = np.where(np.isnan(reports.charge), NO_CHARGE, reports.charge)
    own = reports.number, reports.alone, reports.progress, reports.travelled, charge, reports.poses, reports.finished
    return np.column_stack(own)


def _reports(packets: Packets) -> tuple[VehicleReports, Ints]:
    """Return the reports among packets, and what they say about incomplete routes (k, RECEPTION)."""
    which = packets.kind == REPORT
    rows, sent, values = packets.rows[which], packets.sent[which], packets.values[which]
    charge = np.where(values[:, CHARGE] == NO_CHARGE, np.nan, values[:, CHARGE])
    own = values[:, NUMBER].astype(np.int64), values[:, ALONE] != 0.0, values[:, PROGRESS], values[:, TRAVELLED], charge
    pose, finished = values[:, POSE:FINISHED], values[:, FINISHED].astype(np.int64)
    return VehicleReports(rows, sent, *own, pose, finished), values[:, LACKS:].astype(np.int64)
