"""Heartbeats of the scenario's own ground station (`heartbeat` of `via` of MAVLink), as packets of a service.

They are part of the run, unlike the packets of programs that connect: they share the channel with messages, followers
hear them, and a replay without autopilots sends the same. The autopilot reads how many have arrived.
"""

from collections.abc import Callable

import numpy as np

from paddock.engine.program import HEARTBEATS, FleetProgram
from paddock.engine.radio.messages import MessageStage
from paddock.engine.radio.telemetry import LARGEST_COUNT, RECEIVED, SENT, Timetable
from paddock.engine.radio.uplink import station_range
from paddock.errors import PaddockError, UnknownNameError
from paddock.radio.air import HEARTBEAT
from paddock.radio.radios import Radios
from paddock.scenario import Scenario
from paddock.scenario.via import station_of
from paddock.world.world import World

BEAT_BITS = 8 * 21  # of a heartbeat
PHASE_PURPOSE = 908  # of the random phase of a vehicle's heartbeats


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
        self.times = Timetable(world, programs, radios, _rate, PHASE_PURPOSE)

    def due(self, tick: int) -> int:
        """Return the tick of the next heartbeat; this one if some may have arrived."""
        return self.times.due(tick, self._channel.messages.serves)

    def run(self, tick: int) -> None:
        """Count what has arrived, then send what is due."""
        fleets, section = self.times.fleets(), self.scenario.radio
        assert section is not None
        found = self._channel.take_service(HEARTBEAT, tick)
        for program, part in fleets:
            mine = (found.receiver >= part.first) & (found.receiver < part.first + part.n * part.slots)
            table = program.fleet.tables[HEARTBEATS]
            np.add.at(table[RECEIVED], (found.receiver[mine] - part.first) // part.slots, 1.0)
            rows = self.times.rows(program, part, tick)
            if len(rows):
                assert program.heartbeat is not None
                low, _ = station_range(self._radios(), station_of(program.heartbeat, section))
                sources, goals = np.full(len(rows), low), part.first + rows * part.slots
                self._channel.post_service(HEARTBEAT, sources, goals, np.zeros((len(rows), 0)), BEAT_BITS, tick)
                table[SENT, rows] += 1.0

    def received(self, vehicle: str) -> int:
        """Return the number of heartbeats that have arrived at a vehicle; 0 if it has been removed."""
        try:
            fleet, rows = self.world.find(vehicle)
        except UnknownNameError:
            return 0
        return int(fleet.tables[HEARTBEATS][RECEIVED, rows[0]])

    def check_saved(self) -> None:
        """Refuse restored counts that no run can have left."""
        for program, _ in self.times.fleets():
            counts = program.fleet.tables[HEARTBEATS][:, : program.fleet.n]
            whole = (counts >= 0.0) & (counts <= LARGEST_COUNT) & (counts == np.floor(counts))
            if not whole.all() or (counts[RECEIVED] > counts[SENT]).any():
                raise PaddockError(f"saved heartbeats of {program.fleet.name!r} are not valid")


def _rate(program: FleetProgram) -> float | None:
    """Return the heartbeats per second for each vehicle of a fleet; None: it gets none."""
    return None if program.heartbeat is None else program.heartbeat.heartbeat
