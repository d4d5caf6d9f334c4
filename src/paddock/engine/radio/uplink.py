"""Commands that reach their vehicles over the radio (`via: radio` of a vehicle's entry).

A command is checked and logged when it is posted, as any other, and then waits in the queue of its vehicle, a table of
the fleet. The latch stage delivers it when it has arrived. Whether it does is a function of the state: a replay of the
log gives the same.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from paddock.compute.philox import signed
from paddock.engine.events import EventLog
from paddock.engine.pipeline import NEVER_DUE
from paddock.engine.program import UPLINK, FleetProgram
from paddock.errors import PaddockError
from paddock.radio import datalink as d
from paddock.radio.links import Links
from paddock.radio.radios import Floats, Radios
from paddock.scenario import Scenario
from paddock.scenario.via import ViaSection, station_of
from paddock.world.columns import column_index
from paddock.world.fleet import NEVER, Ints
from paddock.world.world import World


class CommandTraffic(NamedTuple):
    """Commands of a vehicle or fleet that go over the radio, since the start of the run."""

    sent: int
    delivered: int
    lost: int  # in spite of their repetitions
    dropped: int  # because the queue was full
    waiting: int  # queued or on their way
    delay: float  # s, mean of those delivered; NaN: none was


class Uplink:
    """The commands on their way to all vehicles with `via`."""

    def __init__(
        self,
        scenario: Scenario,
        world: World,
        programs: dict[str, FleetProgram],
        events: EventLog,
        around: Callable[[], tuple[Radios, Links]],
    ) -> None:
        """`around` returns the radios of the present vehicles and their links."""
        self.scenario, self.world, self.programs, self.events = scenario, world, programs, events
        self._around = around
        self._next: int | None = None  # tick of the next change; None: not known

    def carries(self, program: FleetProgram) -> bool:
        """Return whether commands for a fleet go over the radio."""
        return program.via is not None

    def post(
        self, program: FleetProgram, rows: Ints, inputs: Mapping[str, Any], tick: int, lasting: int | None
    ) -> None:
        """Queue a checked command for vehicles of a fleet; `lasting`: ticks until the failsafe, None: the fleet's."""
        assert program.via is not None
        known = column_index(program.model.command)
        values = np.full((len(known), len(rows)), d.NOT_GIVEN)
        for name, value in inputs.items():
            values[known[name]] = value
        lasting = program.timeout_ticks if lasting is None else lasting
        ticks = d.HELD if lasting is None else float(lasting)
        d.put(program.fleet.tables[UPLINK], rows, program.via.queue, tick, ticks, values)
        self._next = tick

    def due(self, tick: int) -> int:
        """Return the next tick at which a queue changes."""
        if self._next is None:
            waits = any(
                program.via is not None and program.fleet.tables[UPLINK][d.COUNT, : program.fleet.n].any()
                for program in self.programs.values()
            )
            self._next = tick if waits else NEVER_DUE
        return max(tick, self._next)

    def run(self, tick: int) -> None:
        """Send, deliver and discard what is due; report vehicles that leave their failsafe."""
        first = NEVER_DUE
        for program in self.programs.values():
            if program.via is not None and program.fleet.tables[UPLINK][d.COUNT, : program.fleet.n].any():
                first = min(first, self._carry(program, program.via, tick))
        self._next = first

    def _carry(self, program: FleetProgram, via: ViaSection, tick: int) -> int:
        """Carry the commands of a fleet; return the tick of its next change."""
        radios, links = self._around()
        fleet, n, section = program.fleet, program.fleet.n, self.scenario.radio
        assert section is not None
        [part] = [one for one in radios.parts if one.fleet == fleet.name]
        low, high = station_range(radios, station_of(via, section))
        queue, rows = fleet.tables[UPLINK], fleet.rows
        driven = program.driven(rows).astype(np.uint8) if program.acts else np.zeros(n, np.uint8)
        arrived, due = np.zeros(n, np.int64), np.zeros(n, np.int64)
        width = d.PER_PACKET + len(column_index(program.model.command))
        given: Any = (
            *(queue, width, tick, self.world.clock.rate, float(via.retries), float(via.header_bits)),
            *(signed(self.world.seed), fleet.tables["streams"], part.first, part.slots, low, high),
            *(links.start, links.peer, links.power, links.sinr, radios.table),
            *(fleet.command, fleet.tables["expires"], driven, arrived, due),
        )
        d.carry(*given)
        if arrived.any():
            heard = np.flatnonzero(arrived)
            program.expires_from = min(program.expires_from, int(fleet.tables["expires"][heard].min(initial=NEVER)))
            back = heard[fleet.tables["failed"][heard] != 0]
            if len(back):
                fleet.tables["failed"][back] = 0
                self.events.report(tick, "recovered", fleet.names_of(back), "commands are back")
        return int(due.min(initial=d.NO_TICK))

    def airtimes(self, interval: float) -> Floats:
        """Return the time (s) that each radio has transmitted commands, of what is not counted yet, within an interval.

        The rest of a longer transmission counts at the next call.
        """
        radios, _ = self._around()
        found = np.zeros(radios.n)
        for program in self.programs.values():
            if program.via is not None and program.fleet.n:
                assert self.scenario.radio is not None
                low, high = station_range(radios, station_of(program.via, self.scenario.radio))
                queue = program.fleet.tables[UPLINK][:, : program.fleet.n]
                taken = np.minimum(queue[d.AIR], interval)
                queue[d.AIR] -= taken
                np.add.at(found, np.minimum(low + queue[d.FROM].astype(np.int64), high - 1), taken)
        return found

    def traffic(self, program: FleetProgram, rows: Ints) -> CommandTraffic:
        """Return the counts of some vehicles of a fleet."""
        if program.via is None:
            raise PaddockError(f"commands for {program.fleet.name!r} do not go over the radio: add `via: radio`")
        queue = program.fleet.tables[UPLINK][:, rows]
        sent, delivered, lost, dropped, waiting = (
            int(queue[k].sum()) for k in (d.SENT, d.DELIVERED, d.LOST, d.DROPPED, d.COUNT)
        )
        delay = float(queue[d.DELAY].sum()) / delivered if delivered else float("nan")
        return CommandTraffic(sent, delivered, lost, dropped, waiting, delay)

    def check_saved(self) -> None:
        """Refuse restored queues that no run can have left."""
        for name, program in self.programs.items():
            if program.via is not None:
                queue = program.fleet.tables[UPLINK][:, : program.fleet.n]
                inputs = len(column_index(program.model.command))
                if not d.possible_queue(queue, program.via.queue, inputs, self.world.clock.tick):
                    raise PaddockError(f"saved commands on their way to {name!r} are not valid")

    def forget(self) -> None:
        """Discard cached values: a reset or restore has replaced the state."""
        self._next = None


def station_range(radios: Radios, name: str) -> tuple[int, int]:
    """Return the numbers [first, last) of the radios of a station."""
    own = [k for k, one in enumerate(radios.stations) if one == name]
    return radios.carried + own[0], radios.carried + own[-1] + 1
