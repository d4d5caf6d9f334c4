"""Telemetry and heartbeats over the radio, as packets of services.

Telemetry (`via: {radio: base, telemetry: 5}`) is what a client at the station knows of its vehicles. Each vehicle sends
its position, attitude, velocity and charge at a rate: to one radio, with acknowledgements and hops. A state that still
waits is replaced by the next one, in relays too. The station keeps the newest state of each vehicle; snapshots still
show the truth.

Heartbeats (`heartbeat` of `via` of MAVLink) are those of the scenario's own ground station. They are a service of
the run, as a replay without autopilots sends the same. The autopilot reads how many have arrived.
"""

from collections.abc import Callable

import numpy as np

from paddock.engine.behaviours import PoseBlocks
from paddock.engine.pipeline import NEVER_DUE
from paddock.engine.program import HEARTBEATS, TELEMETRY, FleetProgram
from paddock.engine.radio.links import Mask
from paddock.engine.radio.packets import MessageStage, first_turn, turns_by
from paddock.engine.radio.uplink import station_range
from paddock.errors import PaddockError, UnknownNameError
from paddock.radio.links.radios import RadioPart, Radios
from paddock.radio.packets.layout import HEARTBEAT
from paddock.radio.packets.layout import TELEMETRY as TELEMETRY_KIND
from paddock.radio.packets.messages import Post
from paddock.scenario import Scenario
from paddock.scenario.via import station_of
from paddock.wire.radio_results import VehicleTelemetry
from paddock.world.columns import Floats, column_index
from paddock.world.fleet import Ints, draw_uniforms
from paddock.world.world import World

PHASE_PURPOSE, LATER_PURPOSE = 907, 906  # of the random phase of a vehicle's states, in ticks and within a tick
NUMBER_BITS = 32  # of each number of a state
NO_CHARGE = -1.0  # of a vehicle without a battery
LARGEST_COUNT = 1e15
# rows of the table: states sent and received, then time (s, -1: none) and numbers of the newest one that has arrived
SENT, RECEIVED, TIME, STATE = range(4)
POSE_ROWS = 10  # x, y, z, qx, qy, qz, qw, vx, vy, vz
NUMBERS = POSE_ROWS + 1


class Timetable:
    """When the vehicles of fleets do something at a rate, each in a random phase: at the first tick after its time."""

    def __init__(
        self,
        world: World,
        programs: dict[str, FleetProgram],
        radios: Callable[[], Radios],
        rate_of: Callable[[FleetProgram], float | None],
        purpose: int,
    ) -> None:
        """`rate_of` returns how often per second; None: not at all. `purpose` is that of the draw of phases."""
        self.world, self.programs, self.purpose = world, programs, purpose
        self._radios, self._rate_of = radios, rate_of
        self._phases: dict[str, Floats] = {}  # periods, of the vehicles of each fleet
        self._version: tuple[int, ...] = ()

    def fleets(self) -> list[tuple[FleetProgram, RadioPart]]:
        """Return the fleets that take part, with their radios; their phases are up to date."""
        all_ = [(self.programs[part.fleet], part) for part in self._radios().parts]
        taking_part = [pair for pair in all_ if self._rate_of(pair[0]) is not None]
        version = self.world.run, self.world.roster_version, self.world.seed
        if version != self._version:
            self._version = version
            self._phases = {part.fleet: self._drawn(program, part.n) for program, part in taking_part}
        return taking_part

    def forget(self) -> None:
        """Draw the phases again at the next call: a restore has replaced the vehicles."""
        self._version = ()

    def _drawn(self, program: FleetProgram, n: int) -> Floats:
        return draw_uniforms(self.world.seed, program.fleet.tables["streams"][:n], self.purpose, 1)[:, 0]

    def _per_tick(self, program: FleetProgram) -> float:
        rate = self._rate_of(program)
        assert rate is not None
        return rate / self.world.clock.rate

    def rows(self, program: FleetProgram, part: RadioPart, tick: int) -> Ints:
        """Return the vehicles of a fleet whose turn it is."""
        phases, share = self._phases[part.fleet], self._per_tick(program)
        return np.flatnonzero(turns_by(tick, share, phases) > turns_by(tick - 1, share, phases))

    def due(self, tick: int, now: bool) -> int:
        """Return the tick of the next turn; `now`: this tick, if any fleet takes part."""
        taking_part = self.fleets()
        if not taking_part or now:
            return tick if taking_part else NEVER_DUE
        return min(first_turn(tick, self._per_tick(program), self._phases[part.fleet]) for program, part in taking_part)


class TelemetryStage:
    """Sends the states of vehicles to their stations, and keeps those that arrive."""

    name = "telemetry"

    def __init__(
        self,
        scenario: Scenario,
        world: World,
        programs: dict[str, FleetProgram],
        poses: PoseBlocks,
        radios: Callable[[], Radios],
        channel: MessageStage,
        silent: Callable[[], Mask],
    ) -> None:
        self.scenario, self.world, self.programs, self._poses = scenario, world, programs, poses
        self._radios, self._channel, self._silent = radios, channel, silent
        self.times = Timetable(world, programs, radios, _rate, PHASE_PURPOSE)

    def due(self, tick: int) -> int:
        """Return the tick of the next state; this one if some may have arrived."""
        return self.times.due(tick, self._channel.messages.serves)

    def run(self, tick: int) -> None:
        """Keep what has arrived, then send the states that are due."""
        taking_part = self.times.fleets()
        if self._channel.messages.serves:
            self._keep(taking_part, tick)
        for program, part in taking_part:
            rows = self.times.rows(program, part, tick)
            rows = rows[~self._silent()[part.first + rows * part.slots]]
            if len(rows):
                self._send(program, part, rows, tick)

    def _send(self, program: FleetProgram, part: RadioPart, rows: Ints, tick: int) -> None:
        assert program.via is not None and self.scenario.radio is not None
        state = np.full((len(rows), NUMBERS), NO_CHARGE)
        state[:, :POSE_ROWS] = self._poses(part.fleet)[:POSE_ROWS, rows].T
        charge = column_index(program.model.state).get("charge") if program.has_battery else None
        if charge is not None:
            state[:, POSE_ROWS] = program.fleet.state[charge, rows]
        low, _ = station_range(self._radios(), station_of(program.via, self.scenario.radio))
        bits = NUMBER_BITS * (NUMBERS if charge is not None else POSE_ROWS)
        sources, goals = part.first + rows * part.slots, np.full(len(rows), low)
        streams = program.fleet.tables["streams"][rows]
        drawn = draw_uniforms(self.world.seed, streams, LATER_PURPOSE, 1, tick)[:, 0]
        later = drawn * self.world.clock.dt  # vehicles that do not hear each other would collide again and again
        self._channel.post_service(Post(TELEMETRY_KIND, sources, goals, state, bits, later=later), tick)
        program.fleet.tables[TELEMETRY][SENT, rows] += 1.0

    def _keep(self, fleets: list[tuple[FleetProgram, RadioPart]], tick: int) -> None:
        """Keep the newest state of each vehicle of which one has arrived."""
        arrivals = self._channel.take_service(TELEMETRY_KIND, tick)
        order = np.argsort(arrivals.sent, kind="stable")  # of several states of one vehicle the newest stays
        origin, sent, values = arrivals.origin[order], arrivals.sent[order], arrivals.values[order]
        for program, part in fleets if len(origin) else ():
            mine = np.flatnonzero((origin >= part.first) & (origin < part.first + part.n * part.slots))
            table, rows = program.fleet.tables[TELEMETRY], (origin[mine] - part.first) // part.slots
            np.add.at(table[RECEIVED], rows, 1.0)
            newer = sent[mine] > table[TIME, rows]
            mine, rows = mine[newer], rows[newer]
            table[TIME, rows] = sent[mine]
            table[STATE:, rows] = values[mine, :NUMBERS].T

    # results ---------------------------------------------------------------------------------------------------------

    def newest(self, program: FleetProgram, row: int) -> VehicleTelemetry:
        """Return what the station knows of a vehicle."""
        if TELEMETRY not in program.fleet.tables:
            name = program.fleet.vehicle_name(row)
            raise PaddockError(f"{name!r} sends no telemetry: add `via: {{radio: base, telemetry: 5}}` to its entry")
        table = program.fleet.tables[TELEMETRY][:, row].tolist()
        counts, time = (int(table[SENT]), int(table[RECEIVED])), table[TIME]
        if time < 0.0:
            return VehicleTelemetry(*counts, None, None, None, None, None, None)
        x, y, z, qx, qy, qz, qw, vx, vy, vz, charge = table[STATE:]
        place, attitude, velocity = (x, y, z), (qx, qy, qz, qw), (vx, vy, vz)
        left = None if charge == NO_CHARGE else charge
        return VehicleTelemetry(*counts, time, self.world.clock.time - time, place, attitude, velocity, left)

    # state -----------------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Refuse restored states that no run can have left."""
        fleets, now = self.times.fleets(), self.world.clock.time
        origins, _, values = self._channel.messages.under_way(TELEMETRY_KIND)
        known = np.zeros(len(origins), bool)
        for program, part in fleets:
            table = program.fleet.tables[TELEMETRY][:, : program.fleet.n]
            known |= (origins >= part.first) & (origins < part.first + part.n * part.slots)
            if not _possible(table, now):
                raise PaddockError(f"saved telemetry of {program.fleet.name!r} is not valid")
        if not known.all() or (len(values) and values.shape[1] < NUMBERS):
            raise PaddockError("saved telemetry is not that of vehicles with `via`")


def _rate(program: FleetProgram) -> float | None:
    """Return the states per second of each vehicle of a fleet; None: it sends none."""
    if TELEMETRY not in program.fleet.tables:
        return None
    assert program.via is not None
    return program.via.telemetry


def _possible(table: Floats, now: float) -> bool:
    """Return whether a run can have left this table at a time (s)."""
    counts = table[[SENT, RECEIVED]]
    whole = (counts >= 0.0) & (counts <= LARGEST_COUNT) & (counts == np.floor(counts))
    times = (table[TIME] == -1.0) | ((table[TIME] >= 0.0) & (table[TIME] <= now + 1e-6))
    return bool(whole.all() and times.all() and np.isfinite(table).all() and (counts[1] <= counts[0]).all())


# heartbeats -----------------------------------------------------------------------------------------------------------
BEAT_BITS = 8 * 21  # of a heartbeat
BEAT_PHASE_PURPOSE = 908  # of the random phase of a vehicle's heartbeats


class HeartbeatStage:
    """Sends heartbeats to the vehicles of built-in autopilots, and counts those that arrive."""

    name = "heartbeats"

    def __init__(
        self,
        scenario: Scenario,
        world: World,
        programs: dict[str, FleetProgram],
        radios: Callable[[], Radios],
        channel: MessageStage,
    ) -> None:
        self.scenario, self.world, self.programs = scenario, world, programs
        self._radios, self._channel = radios, channel
        self.times = Timetable(world, programs, radios, _beat_rate, BEAT_PHASE_PURPOSE)

    def due(self, tick: int) -> int:
        """Return the tick of the next heartbeat; this one if some may have arrived."""
        return self.times.due(tick, self._channel.messages.serves)

    def run(self, tick: int) -> None:
        """Count what has arrived, then send what is due."""
        fleets, section = self.times.fleets(), self.scenario.radio
        assert section is not None
        arrivals = self._channel.take_service(HEARTBEAT, tick)
        for program, part in fleets:
            mine = (arrivals.receiver >= part.first) & (arrivals.receiver < part.first + part.n * part.slots)
            table = program.fleet.tables[HEARTBEATS]
            np.add.at(table[RECEIVED], (arrivals.receiver[mine] - part.first) // part.slots, 1.0)
            rows = self.times.rows(program, part, tick)
            if len(rows):
                assert program.heartbeat is not None
                low, _ = station_range(self._radios(), station_of(program.heartbeat, section))
                sources, goals = np.full(len(rows), low), part.first + rows * part.slots
                beats = Post(HEARTBEAT, sources, goals, np.zeros((len(rows), 0)), BEAT_BITS)
                self._channel.post_service(beats, tick)
                table[SENT, rows] += 1.0

    def received(self, vehicle: str) -> int:
        """Return the number of heartbeats that have arrived at a vehicle; 0 if it has been removed."""
        try:
            fleet, rows = self.world.find(vehicle)
        except UnknownNameError:
            return 0
        return int(fleet.tables[HEARTBEATS][RECEIVED, rows[0]])

    def check(self) -> None:
        """Refuse restored counts that no run can have left."""
        for program, _ in self.times.fleets():
            counts = program.fleet.tables[HEARTBEATS][:, : program.fleet.n]
            whole = (counts >= 0.0) & (counts <= LARGEST_COUNT) & (counts == np.floor(counts))
            if not whole.all() or (counts[RECEIVED] > counts[SENT]).any():
                raise PaddockError(f"saved heartbeats of {program.fleet.name!r} are not valid")


def _beat_rate(program: FleetProgram) -> float | None:
    """Return the heartbeats per second for each vehicle of a fleet; None: it gets none."""
    return None if program.heartbeat is None else program.heartbeat.heartbeat
