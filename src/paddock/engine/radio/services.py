"""Commands, telemetry and heartbeats over the radio, as packets of services.

A command to a vehicle with `via: radio` is checked and logged when it is posted, as any other. It then waits at the
station until its radio has room; a newer command for the same vehicle joins one that waits: inputs that both have are
those of the newer one. So a slow link carries the newest inputs, not a queue of old ones. It goes over the channel and
is latched when it arrives, unless a newer one has arrived before it. Whether it does is a function of the state: a
replay of the log gives the same.

Telemetry (`via: {radio: base, telemetry: 5}`) is what a client at the station knows of its vehicles. Each vehicle sends
its position, attitude, velocity and charge at a rate: to one radio, with acknowledgements and hops. A state that still
waits is replaced by the next one, in relays too. The station keeps the newest state of each vehicle; snapshots still
show the truth.

Heartbeats (`heartbeat` of `via` of MAVLink) are those of the scenario's own ground station. They are a service of the
run, as a replay without autopilots sends the same. The autopilot reads how many have arrived.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from paddock.engine.behaviours import PoseBlocks
from paddock.engine.events import EventLog
from paddock.engine.pipeline import NEVER_DUE
from paddock.engine.program import FleetProgram
from paddock.engine.radio.packets import first_turn, turns_by
from paddock.errors import PaddockError, UnknownNameError
from paddock.radio.links.radios import RadioPart, Radios
from paddock.radio.packets.messages import Arrivals, Post
from paddock.radio.packets.queues import COMMAND, GOAL, HEARTBEAT
from paddock.radio.packets.queues import TELEMETRY as TELEMETRY_KIND
from paddock.scenario.via import MavlinkViaSection, ViaSection, station_of
from paddock.wire.radio_results import CommandTraffic, VehicleTelemetry
from paddock.world.columns import Floats, column_index
from paddock.world.fleet import NEVER, Ints, draw_uniforms

if TYPE_CHECKING:
    from paddock.engine.radio.stage import RadioStage

UPLINK = "uplink"  # the table of commands that wait to be sent over the radio, and of their counts
UPLINK_ROWS = 8  # of it, beside the inputs of a command
HEARTBEATS = "heartbeats"  # the table of heartbeats of the scenario's ground station: sent, received
TELEMETRY = "telemetry"  # the table of the states that are known at the station
NO_TELEMETRY = np.array([0.0, 0.0, -1.0] + [0.0] * 11)  # states sent and received, time and numbers of the newest
INPUT_BITS = 32  # of an input in a command
NOT_GIVEN = 1e15  # value of an input that a command leaves as it is: tables hold no NaN
HELD = -1.0  # ticks of a command that never expires
LARGEST_COUNT = 1e15
# rows of the table: counts, s of all delays, the tick at which the newest latched command was posted, 1 if a command
# waits at the station, the tick at which it was posted, the ticks until the failsafe, its inputs. A packet has the last
# two and the inputs.
SENT, DROPPED, DELIVERED, DELAY, LATCHED, WAITS, POSTED, LASTING = range(UPLINK_ROWS)
INPUTS = UPLINK_ROWS
PACKET = POSTED  # first row of a packet's numbers


def fitted_fleets(radio: "RadioStage") -> list[tuple[FleetProgram, RadioPart]]:
    """Return the fleets that have radios, with them."""
    return [(radio.world.programs[part.fleet], part) for part in radio.roster.radios.parts]


def station_radio(radio: "RadioStage", via: ViaSection | MavlinkViaSection) -> int:
    """Return the first radio of the station of a way."""
    assert radio.settings is not None
    return station_range(radio.roster.radios, station_of(via, radio.settings))[0]


class Uplink:
    """The commands on their way to all vehicles with `via`."""

    def __init__(self, radio: "RadioStage", events: EventLog) -> None:
        self._radio, self.events = radio, events
        self._waits = False  # whether a command waits at its station, with the vehicles of a version
        self._version = (-1, -1)

    def post(
        self, program: FleetProgram, rows: Ints, inputs: Mapping[str, Any], tick: int, lasting: int | None
    ) -> None:
        """Let a checked command for vehicles wait; `lasting`: ticks until the failsafe, None: those of the fleet."""
        known, table = column_index(program.model.command), program.fleet.tables[UPLINK]
        table[SENT, rows] += 1.0
        table[DROPPED, rows] += table[WAITS, rows]
        self._radio.channel.count_replaced(COMMAND, int(table[WAITS, rows].sum()))
        free = rows[table[WAITS, rows] == 0.0]
        table[INPUTS:, free] = NOT_GIVEN
        for name, value in inputs.items():
            table[INPUTS + known[name], rows] = value
        lasting = program.settings.timeout_ticks if lasting is None else lasting
        table[WAITS, rows], table[POSTED, rows] = 1.0, float(tick)
        table[LASTING, rows] = HELD if lasting is None else float(lasting)
        self._waits = True

    @property
    def waits(self) -> bool:
        """Whether a command waits at its station."""
        if self._version != self._radio.world.version:
            self._version = self._radio.world.version
            self._waits = any(
                program.settings.via is not None and program.fleet.tables[UPLINK][WAITS, : program.fleet.n].any()
                for program in self._radio.world.programs.values()
            )
        return self._waits

    def due(self, tick: int) -> int:
        """Return this tick while a command waits, or may have arrived."""
        if not self._radio.active:
            return NEVER_DUE
        return tick if self.waits or self._radio.channel.messages.serves else NEVER_DUE

    def run(self, tick: int) -> None:
        """Latch commands that have arrived, and send what waits as far as there is room."""
        if self._radio.channel.messages.serves:
            arrivals = self._radio.channel.take_service(COMMAND, tick)
            for program, part in self._carried() if len(arrivals.receiver) else ():
                self._latch(program, part, arrivals, tick)
        if self.waits:
            self._send(tick)

    def _carried(self) -> list[tuple[FleetProgram, RadioPart]]:
        """Return the fleets whose commands go over the radio, with their radios."""
        return [pair for pair in fitted_fleets(self._radio) if pair[0].settings.via is not None]

    # sending ---------------------------------------------------------------------------------------------------------

    def _send(self, tick: int) -> None:
        """Post the commands that wait, the oldest first; one at a time for each vehicle."""
        self._waits = False
        stations: dict[int, list[tuple[FleetProgram, RadioPart]]] = {}
        for program, part in self._carried():
            assert program.settings.via is not None
            stations.setdefault(station_radio(self._radio, program.settings.via), []).append((program, part))
        for source, fleets in stations.items():
            self._send_from(source, fleets, tick)

    def _send_from(self, source: int, fleets: list[tuple[FleetProgram, RadioPart]], tick: int) -> None:
        """Post commands that wait at one station."""
        channel, streams = self._radio.channel, self._radio.roster.radios.streams
        waiting = [
            own.rows[own.tables[UPLINK][WAITS, own.rows] != 0.0] for own in (program.fleet for program, _ in fleets)
        ]
        if not sum(map(len, waiting)):
            return
        of, row = np.repeat(np.arange(len(fleets)), [len(rows) for rows in waiting]), np.concatenate(waiting)
        first, slots = (np.array([getattr(part, name) for _, part in fleets]) for name in ("first", "slots"))
        places = [program.fleet.ranks[rows] for (program, _), rows in zip(fleets, waiting, strict=True)]
        goals = first[of] + np.concatenate(places) * slots[of]
        width = max(program.fleet.tables[UPLINK].shape[0] for program, _ in fleets) - PACKET
        values, bits = np.zeros((len(row), width)), np.zeros(len(row), np.int64)
        for k, (program, _) in enumerate(fleets):
            table = program.fleet.tables[UPLINK]
            values[of == k, : len(table) - PACKET] = table[PACKET:, row[of == k]].T
            bits[of == k] = INPUT_BITS * (table[INPUTS:, row[of == k]] != NOT_GIVEN).sum(axis=0)
        under_way = channel.messages.queued(COMMAND, source)[:, GOAL]
        room = channel.section.queue - int(channel.messages.state.queued[source])
        free = np.flatnonzero(~np.isin(goals, under_way))
        chosen = free[np.lexsort((streams[goals[free]], values[free, 0]))][: max(room, 0)]
        if len(chosen):
            sources = np.full(len(chosen), source)
            channel.post_service(Post(COMMAND, sources, goals[chosen], values[chosen], bits[chosen]), tick)
        for k, (program, _) in enumerate(fleets):
            program.fleet.tables[UPLINK][WAITS:, row[chosen][of[chosen] == k]] = 0.0
        self._waits = self._waits or len(chosen) < len(row)

    # receiving -------------------------------------------------------------------------------------------------------

    def _latch(self, program: FleetProgram, part: RadioPart, arrivals: Arrivals, tick: int) -> None:
        """Take the commands of a fleet that have arrived, and latch them."""
        latched, places = part.vehicles(arrivals.receiver)
        rows = program.fleet.rows[places]
        if program.control.acts:
            takes = ~program.control.driven(rows)  # a rule drives the others: their commands count as lost
            latched, rows = latched[takes], rows[takes]
        if not len(rows):
            return
        table, values = program.fleet.tables[UPLINK], arrivals.values[latched]
        np.add.at(table[DELIVERED], rows, 1.0)
        np.add.at(table[DELAY], rows, arrivals.arrived[latched] - values[:, 0] * self._radio.world.clock.dt)
        newer = np.flatnonzero(values[:, 0] >= table[LATCHED, rows])  # an older one came by a slower route
        order = newer[np.argsort(values[newer, 0], kind="stable")]
        if len(order):
            self._apply(program, rows[order], values[order], tick)

    def _apply(self, program: FleetProgram, rows: Ints, values: Floats, tick: int) -> None:
        """Latch commands (k, ...), the newest last; report vehicles that leave their failsafe."""
        fleet, table = program.fleet, program.fleet.tables[UPLINK]
        for k in range(len(table) - INPUTS):  # of several commands for one vehicle the last one stays
            changed = np.flatnonzero(values[:, INPUTS - PACKET + k] != NOT_GIVEN)
            fleet.command[k, rows[changed]] = values[changed, INPUTS - PACKET + k]
        lasting = values[:, LASTING - PACKET]
        expires = tick + lasting.astype(np.int64)
        expires[lasting == HELD] = NEVER
        program.control.set_expiry(rows, expires)
        table[LATCHED, rows] = values[:, 0]
        heard = np.unique(rows)
        back = heard[fleet.tables["failed"][heard] != 0]
        if len(back):
            fleet.tables["failed"][back] = 0
            self.events.report(tick, "recovered", fleet.names_of(back), "commands are back")

    # results ---------------------------------------------------------------------------------------------------------

    def traffic(self, program: FleetProgram, rows: Ints) -> CommandTraffic:
        """Return the counts of some vehicles of a fleet."""
        if program.settings.via is None:
            raise PaddockError(f"commands for {program.fleet.name!r} do not go over the radio: add `via: radio`")
        channel, table = self._radio.channel, program.fleet.tables[UPLINK][:, rows]
        sent, dropped, delivered, waiting = (int(table[k].sum()) for k in (SENT, DROPPED, DELIVERED, WAITS))
        _, goals, _ = channel.messages.under_way(COMMAND)
        for _, part in [carried for carried in self._carried() if carried[0] is program]:
            waiting += int(np.isin(goals, part.first_radios(program.fleet.ranks[rows])).sum())
        delay = float(table[DELAY].sum()) / delivered if delivered else float("nan")
        return CommandTraffic(sent, delivered, sent - dropped - delivered - waiting, dropped, waiting, delay)

    # state -----------------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Refuse restored commands that no run can have left."""
        if not self._radio.active:
            return
        _, goals, values = self._radio.channel.messages.under_way(COMMAND)
        known, now = np.zeros(len(goals), bool), self._radio.world.clock.tick
        for program, part in self._carried():
            table = program.fleet.tables[UPLINK][:, : program.fleet.n]
            mine, rows = part.vehicles(goals)
            mine = mine[part.first_radios(rows) == goals[mine]]
            known[mine] = True
            wide = len(table) - PACKET
            packets = values[mine]
            good = packets.shape[1] >= wide or not len(packets)
            good = good and _possible_counts(table, now) and _possible_packets(packets, now)
            waits = table[WAITS] == 1.0
            if not good or not _possible_packets(table[PACKET:, waits].T, now) or table[PACKET:, ~waits].any():
                raise PaddockError(f"saved commands on their way to {program.fleet.name!r} are not valid")
        if not known.all():
            raise PaddockError("saved commands are on their way to vehicles without `via: radio`")


def _whole(values: Floats, most: float = LARGEST_COUNT) -> bool:
    """Return whether values are whole numbers from 0 to `most`."""
    return bool(((values >= 0.0) & (values <= most) & (values == np.floor(values))).all())


def _possible_counts(table: Floats, tick: int) -> bool:
    latched = (table[LATCHED] == 0.0) | (table[DELIVERED] > 0.0)
    whole = _whole(table[LATCHED], tick) and _whole(table[[SENT, DROPPED, DELIVERED, WAITS]])
    fits = (table[SENT] >= table[DROPPED] + table[DELIVERED] + table[WAITS]) & (table[WAITS] <= 1.0)
    return whole and bool((latched & fits & np.isfinite(table[DELAY]) & (table[DELAY] >= 0.0)).all())


def _possible_packets(packets: Floats, tick: int) -> bool:
    """Return whether a run can have left these numbers of commands (k, ...) at a tick."""
    if not len(packets):
        return True
    lasting = packets[:, 1]
    return _whole(packets[:, 0], tick) and _whole(lasting[lasting != HELD] - 1.0)


def station_range(radios: Radios, name: str) -> tuple[int, int]:
    """Return the numbers [first, last) of the radios of a station."""
    own = [k for k, station in enumerate(radios.stations) if station == name]
    return radios.carried + own[0], radios.carried + own[-1] + 1


PHASE_PURPOSE, LATER_PURPOSE = 907, 906  # of the random phase of a vehicle's states, in ticks and within a tick
NUMBER_BITS = 32  # of each number of a state
NO_CHARGE = -1.0  # of a vehicle without a battery
# rows of the table: states sent and received, then time (s, -1: none) and numbers of the newest one that has arrived
STATES_SENT, STATES_RECEIVED, STATE_TIME, STATE = range(4)
POSE_ROWS = 10  # x, y, z, qx, qy, qz, qw, vx, vy, vz
NUMBERS = POSE_ROWS + 1


class TimedService:
    """A service whose packets go from or to vehicles at a rate, in a random phase: at the first tick after its time."""

    def __init__(self, radio: "RadioStage", rate_of: Callable[[FleetProgram], float | None], purpose: int) -> None:
        """`rate_of` returns how often per second; None: not at all. `purpose` is that of the draw of phases."""
        self._radio, self._channel, self._purpose, self._rate_of = radio, radio.channel, purpose, rate_of
        self._phases: dict[str, Floats] = {}  # periods, of the vehicles of each fleet
        self._version = (-1, -1)

    def fleets(self) -> list[tuple[FleetProgram, RadioPart]]:
        """Return the fleets that take part, with their radios; their phases are up to date."""
        taking_part = [pair for pair in fitted_fleets(self._radio) if self._rate_of(pair[0]) is not None]
        world = self._radio.world
        if self._version != world.version:
            self._version = world.version
            own = {part.fleet: program.fleet for program, part in taking_part}
            streams = {name: fleet.by_key(fleet.tables["streams"]) for name, fleet in own.items()}
            self._phases = {
                fleet: draw_uniforms(world.seed, own, self._purpose, 1)[:, 0] for fleet, own in streams.items()
            }
        return taking_part

    def _per_tick(self, program: FleetProgram) -> float:
        rate = self._rate_of(program)
        assert rate is not None
        return rate / self._radio.world.clock.rate

    def turn(self, program: FleetProgram, part: RadioPart, tick: int) -> Ints:
        """Return the places of the vehicles of a fleet whose turn it is, in the order of its members."""
        phases, share = self._phases[part.fleet], self._per_tick(program)
        return np.flatnonzero(turns_by(tick, share, phases) > turns_by(tick - 1, share, phases))

    def due(self, tick: int) -> int:
        """Return the tick of the next turn; this one if packets may have arrived."""
        taking_part = self.fleets()
        if not taking_part or self._channel.messages.serves:
            return tick if taking_part else NEVER_DUE
        return min(first_turn(tick, self._per_tick(program), self._phases[part.fleet]) for program, part in taking_part)


class TelemetryStage(TimedService):
    """Sends the states of vehicles to their stations, and keeps those that arrive."""

    name = "telemetry"

    def __init__(self, radio: "RadioStage", poses: PoseBlocks) -> None:
        super().__init__(radio, _rate, PHASE_PURPOSE)
        self._poses = poses

    def run(self, tick: int) -> None:
        """Keep what has arrived, then send the states that are due."""
        taking_part = self.fleets()
        if self._channel.messages.serves:
            self._keep(taking_part, tick)
        for program, part in taking_part:
            places = self.turn(program, part, tick)
            places = places[~self._radio.state.silent[part.first_radios(places)]]
            if len(places):
                self._send(program, part, places, tick)

    def _send(self, program: FleetProgram, part: RadioPart, places: Ints, tick: int) -> None:
        assert program.settings.via is not None
        world, rows, state = self._radio.world, program.fleet.rows[places], np.full((len(places), NUMBERS), NO_CHARGE)
        state[:, :POSE_ROWS] = self._poses(part.fleet)[:POSE_ROWS, places].T
        charge = column_index(program.model.state).get("charge") if program.parameters.has_battery else None
        if charge is not None:
            state[:, POSE_ROWS] = program.fleet.state[charge, rows]
        bits = NUMBER_BITS * (NUMBERS if charge is not None else POSE_ROWS)
        sources, station = part.first_radios(places), station_radio(self._radio, program.settings.via)
        drawn = draw_uniforms(world.seed, program.fleet.tables["streams"][rows], LATER_PURPOSE, 1, tick)[:, 0]
        later = drawn * world.clock.dt  # vehicles that do not hear each other would collide again and again
        self._channel.post_service(
            Post(TELEMETRY_KIND, sources, np.full(len(places), station), state, bits, later=later), tick
        )
        program.fleet.tables[TELEMETRY][STATES_SENT, rows] += 1.0

    def _keep(self, fleets: list[tuple[FleetProgram, RadioPart]], tick: int) -> None:
        """Keep the newest state of each vehicle of which one has arrived."""
        arrivals = self._channel.take_service(TELEMETRY_KIND, tick)
        order = np.argsort(arrivals.sent, kind="stable")  # of several states of one vehicle the newest stays
        origin, sent, values = arrivals.origin[order], arrivals.sent[order], arrivals.values[order]
        for program, part in fleets if len(origin) else ():
            (newest, places), table = part.vehicles(origin), program.fleet.tables[TELEMETRY]
            rows = program.fleet.rows[places]
            np.add.at(table[STATES_RECEIVED], rows, 1.0)
            newer = sent[newest] > table[STATE_TIME, rows]
            newest, rows = newest[newer], rows[newer]
            table[STATE_TIME, rows] = sent[newest]
            table[STATE:, rows] = values[newest, :NUMBERS].T

    # results ---------------------------------------------------------------------------------------------------------

    def newest(self, program: FleetProgram, row: int) -> VehicleTelemetry:
        """Return what the station knows of a vehicle."""
        if TELEMETRY not in program.fleet.tables:
            name = program.fleet.vehicle_name(row)
            raise PaddockError(f"{name!r} sends no telemetry: add `via: {{radio: base, telemetry: 5}}` to its entry")
        table = program.fleet.tables[TELEMETRY][:, row].tolist()
        counts, time = (int(table[STATES_SENT]), int(table[STATES_RECEIVED])), table[STATE_TIME]
        if time < 0.0:
            return VehicleTelemetry(*counts, None, None, None, None, None, None)
        x, y, z, qx, qy, qz, qw, vx, vy, vz, charge = table[STATE:]
        place, attitude, velocity = (x, y, z), (qx, qy, qz, qw), (vx, vy, vz)
        left = None if charge == NO_CHARGE else charge
        return VehicleTelemetry(*counts, time, self._radio.world.clock.time - time, place, attitude, velocity, left)

    # state -----------------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Refuse restored states that no run can have left."""
        fleets, now = self.fleets(), self._radio.world.clock.time
        origins, _, values = self._channel.messages.under_way(TELEMETRY_KIND)
        known = np.zeros(len(origins), bool)
        for program, part in fleets:
            table = program.fleet.tables[TELEMETRY][:, : program.fleet.n]
            known[part.vehicles(origins)[0]] = True
            if not _possible(table, now):
                raise PaddockError(f"saved telemetry of {program.fleet.name!r} is not valid")
        if not known.all() or (len(values) and values.shape[1] < NUMBERS):
            raise PaddockError("saved telemetry is not that of vehicles with `via`")


def _rate(program: FleetProgram) -> float | None:
    """Return the states per second of each vehicle of a fleet; None: it sends none."""
    if TELEMETRY not in program.fleet.tables:
        return None
    assert program.settings.via is not None
    return program.settings.via.telemetry


def _possible(table: Floats, now: float) -> bool:
    """Return whether a run can have left this table at a time (s)."""
    times = (table[STATE_TIME] == -1.0) | ((table[STATE_TIME] >= 0.0) & (table[STATE_TIME] <= now + 1e-6))
    return bool(times.all() and np.isfinite(table).all() and _received_of_sent(table))


def _received_of_sent(table: Floats) -> bool:
    """Return whether the counts of what was sent and received are possible."""
    sent, received = table[STATES_SENT], table[STATES_RECEIVED]
    return _whole(sent) and _whole(received) and bool((received <= sent).all())


# heartbeats -----------------------------------------------------------------------------------------------------------
BEAT_BITS = 8 * 21  # of a heartbeat
BEAT_PHASE_PURPOSE = 908  # of the random phase of a vehicle's heartbeats


class HeartbeatStage(TimedService):
    """Sends heartbeats to the vehicles of built-in autopilots, and counts those that arrive."""

    name = "heartbeats"

    def __init__(self, radio: "RadioStage") -> None:
        super().__init__(radio, _beat_rate, BEAT_PHASE_PURPOSE)

    def run(self, tick: int) -> None:
        """Count what has arrived, then send what is due."""
        fleets, arrivals = self.fleets(), self._channel.take_service(HEARTBEAT, tick)
        for program, part in fleets:
            table = program.fleet.tables[HEARTBEATS]
            heard = program.fleet.rows[part.vehicles(arrivals.receiver)[1]]
            np.add.at(table[STATES_RECEIVED], heard, 1.0)
            places = self.turn(program, part, tick)
            if len(places):
                assert program.settings.heartbeat is not None
                station, goals = station_radio(self._radio, program.settings.heartbeat), part.first_radios(places)
                beats = Post(HEARTBEAT, np.full(len(places), station), goals, np.zeros((len(places), 0)), BEAT_BITS)
                self._channel.post_service(beats, tick)
                table[STATES_SENT, program.fleet.rows[places]] += 1.0

    def received(self, vehicle: str) -> int:
        """Return the number of heartbeats that have arrived at a vehicle; 0 if it has been removed."""
        try:
            fleet, rows = self._radio.world.find(vehicle)
        except UnknownNameError:
            return 0
        return int(fleet.tables[HEARTBEATS][STATES_RECEIVED, rows[0]])

    def check(self) -> None:
        """Refuse restored counts that no run can have left."""
        for program, _ in self.fleets():
            if not _received_of_sent(program.fleet.tables[HEARTBEATS][:, : program.fleet.n]):
                raise PaddockError(f"saved heartbeats of {program.fleet.name!r} are not valid")


def _beat_rate(program: FleetProgram) -> float | None:
    """Return the heartbeats per second for each vehicle of a fleet; None: it gets none."""
    return None if program.settings.heartbeat is None else program.settings.heartbeat.heartbeat
