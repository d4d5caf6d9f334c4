"""Commands that reach their vehicles over the radio (`via: radio` of a vehicle's entry).

A command is checked and logged when it is posted, as any other. It then waits at the station until its radio has room;
a newer command for the same vehicle joins one that waits: inputs that both have are those of the newer one. So a slow
link carries the newest inputs, not a queue of old ones. It goes over the channel as a packet of a service and is
latched when it arrives, unless a newer one has arrived before it. Whether it does is a function of the state: a replay
of the log gives the same.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from paddock.engine.events import EventLog
from paddock.engine.pipeline import NEVER_DUE
from paddock.engine.program import UPLINK, UPLINK_ROWS, FleetProgram
from paddock.engine.radio.packets import MessageStage
from paddock.errors import PaddockError
from paddock.radio.links.radios import Floats, RadioPart, Radios
from paddock.radio.packets.layout import COMMAND, GOAL
from paddock.radio.packets.messages import Arrivals, Post
from paddock.scenario import Scenario
from paddock.scenario.via import station_of
from paddock.wire.radio_results import CommandTraffic
from paddock.world.columns import column_index
from paddock.world.fleet import NEVER, Ints
from paddock.world.world import World

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


class Uplink:
    """The commands on their way to all vehicles with `via`."""

    def __init__(
        self,
        scenario: Scenario,
        world: World,
        programs: dict[str, FleetProgram],
        events: EventLog,
        radios: Callable[[], Radios],
        channel: MessageStage | None,
    ) -> None:
        """`radios` returns the radios of the present vehicles."""
        self.scenario, self.world, self.programs, self.events = scenario, world, programs, events
        self._radios, self._channel = radios, channel
        self._waits: bool | None = None  # whether a command waits at its station; None: not known

    def post(
        self, program: FleetProgram, rows: Ints, inputs: Mapping[str, Any], tick: int, lasting: int | None
    ) -> None:
        """Let a checked command for vehicles wait; `lasting`: ticks until the failsafe, None: those of the fleet."""
        known, table = column_index(program.model.command), program.fleet.tables[UPLINK]
        table[SENT, rows] += 1.0
        table[DROPPED, rows] += table[WAITS, rows]
        assert self._channel is not None
        self._channel.count_replaced(COMMAND, int(table[WAITS, rows].sum()))
        free = rows[table[WAITS, rows] == 0.0]
        table[INPUTS:, free] = NOT_GIVEN
        for name, value in inputs.items():
            table[INPUTS + known[name], rows] = value
        lasting = program.timeout_ticks if lasting is None else lasting
        table[WAITS, rows], table[POSTED, rows] = 1.0, float(tick)
        table[LASTING, rows] = HELD if lasting is None else float(lasting)
        self._waits = True

    def due(self, tick: int) -> int:
        """Return this tick while a command waits, or may have arrived."""
        if self._channel is None:
            return NEVER_DUE
        if self._waits is None:
            self._waits = any(
                program.via is not None and program.fleet.tables[UPLINK][WAITS, : program.fleet.n].any()
                for program in self.programs.values()
            )
        return tick if self._waits or self._channel.messages.serves else NEVER_DUE

    def run(self, tick: int) -> None:
        """Latch commands that have arrived, and send what waits as far as there is room."""
        assert self._channel is not None
        if self._channel.messages.serves:
            arrivals = self._channel.take_service(COMMAND, tick)
            for program, part in self._carried() if len(arrivals.receiver) else ():
                self._latch(program, part, arrivals, tick)
        if self._waits:
            self._send(tick)

    def _carried(self) -> list[tuple[FleetProgram, RadioPart]]:
        """Return the fleets whose commands go over the radio, with their radios."""
        carried = [(self.programs[part.fleet], part) for part in self._radios().parts]
        return [pair for pair in carried if pair[0].via is not None]

    # sending ---------------------------------------------------------------------------------------------------------

    def _send(self, tick: int) -> None:
        """Post the commands that wait, the oldest first; one at a time for each vehicle."""
        assert self.scenario.radio is not None and self._channel is not None
        radios, self._waits = self._radios(), False
        stations: dict[int, list[tuple[FleetProgram, RadioPart]]] = {}
        for program, part in self._carried():
            assert program.via is not None
            low, _ = station_range(radios, station_of(program.via, self.scenario.radio))
            stations.setdefault(low, []).append((program, part))
        for source, fleets in stations.items():
            self._send_from(source, fleets, tick)

    def _send_from(self, source: int, fleets: list[tuple[FleetProgram, RadioPart]], tick: int) -> None:
        """Post commands that wait at one station."""
        assert self._channel is not None
        messages, streams = self._channel.messages, self._radios().streams
        waiting = [np.flatnonzero(program.fleet.tables[UPLINK][WAITS, : program.fleet.n]) for program, _ in fleets]
        if not sum(map(len, waiting)):
            return
        of, row = np.repeat(np.arange(len(fleets)), [len(rows) for rows in waiting]), np.concatenate(waiting)
        first, slots = (np.array([getattr(part, name) for _, part in fleets]) for name in ("first", "slots"))
        goals = first[of] + row * slots[of]
        width = max(program.fleet.tables[UPLINK].shape[0] for program, _ in fleets) - PACKET
        values, bits = np.zeros((len(row), width)), np.zeros(len(row), np.int64)
        for k, (program, _) in enumerate(fleets):
            table = program.fleet.tables[UPLINK]
            values[of == k, : len(table) - PACKET] = table[PACKET:, row[of == k]].T
            bits[of == k] = INPUT_BITS * (table[INPUTS:, row[of == k]] != NOT_GIVEN).sum(axis=0)
        self._channel.fitted()
        under_way = messages.queued(COMMAND, source)[:, GOAL]
        room = self._channel.section.queue - int(messages.state.queued[source])
        free = np.flatnonzero(~np.isin(goals, under_way))
        chosen = free[np.lexsort((streams[goals[free]], values[free, 0]))][: max(room, 0)]
        if len(chosen):
            sources = np.full(len(chosen), source)
            self._channel.post_service(Post(COMMAND, sources, goals[chosen], values[chosen], bits[chosen]), tick)
        for k, (program, _) in enumerate(fleets):
            program.fleet.tables[UPLINK][WAITS:, row[chosen][of[chosen] == k]] = 0.0
        self._waits = self._waits or len(chosen) < len(row)

    # receiving -------------------------------------------------------------------------------------------------------

    def _latch(self, program: FleetProgram, part: RadioPart, arrivals: Arrivals, tick: int) -> None:
        """Take the commands of a fleet that have arrived, and latch them."""
        fleet, last = program.fleet, part.first + part.n * part.slots
        mine = np.flatnonzero((arrivals.receiver >= part.first) & (arrivals.receiver < last))
        rows = (arrivals.receiver[mine] - part.first) // part.slots
        if program.acts:
            takes = ~program.driven(rows)  # a rule drives the others: their commands count as lost
            mine, rows = mine[takes], rows[takes]
        if not len(rows):
            return
        table, values = fleet.tables[UPLINK], arrivals.values[mine]
        np.add.at(table[DELIVERED], rows, 1.0)
        np.add.at(table[DELAY], rows, arrivals.arrived[mine] - values[:, 0] * self.world.clock.dt)
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
        fleet.tables["expires"][rows], table[LATCHED, rows] = expires, values[:, 0]
        heard = np.unique(rows)
        program.expires_from = min(program.expires_from, int(fleet.tables["expires"][heard].min()))
        back = heard[fleet.tables["failed"][heard] != 0]
        if len(back):
            fleet.tables["failed"][back] = 0
            self.events.report(tick, "recovered", fleet.names_of(back), "commands are back")

    # results ---------------------------------------------------------------------------------------------------------

    def traffic(self, program: FleetProgram, rows: Ints) -> CommandTraffic:
        """Return the counts of some vehicles of a fleet."""
        if program.via is None:
            raise PaddockError(f"commands for {program.fleet.name!r} do not go over the radio: add `via: radio`")
        assert self._channel is not None
        table = program.fleet.tables[UPLINK][:, rows]
        sent, dropped, delivered, waiting = (int(table[k].sum()) for k in (SENT, DROPPED, DELIVERED, WAITS))
        self._channel.fitted()
        _, goals, _ = self._channel.messages.under_way(COMMAND)
        for _, part in [one for one in self._carried() if one[0] is program]:
            waiting += int(np.isin(goals, part.first + rows * part.slots).sum())
        delay = float(table[DELAY].sum()) / delivered if delivered else float("nan")
        return CommandTraffic(sent, delivered, sent - dropped - delivered - waiting, dropped, waiting, delay)

    # state -----------------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Refuse restored commands that no run can have left."""
        if self._channel is None:
            return
        _, goals, values = self._channel.messages.under_way(COMMAND)
        known, now = np.zeros(len(goals), bool), self.world.clock.tick
        for program, part in self._carried():
            table = program.fleet.tables[UPLINK][:, : program.fleet.n]
            rows = (goals - part.first) // part.slots
            mine = (goals >= part.first) & (rows < part.n) & ((goals - part.first) % part.slots == 0)
            known |= mine
            wide = len(table) - PACKET
            packets = values[mine]
            good = packets.shape[1] >= wide or not len(packets)
            good = good and _possible_counts(table, now) and _possible_packets(packets, now)
            waits = table[WAITS] == 1.0
            if not good or not _possible_packets(table[PACKET:, waits].T, now) or table[PACKET:, ~waits].any():
                raise PaddockError(f"saved commands on their way to {program.fleet.name!r} are not valid")
        if not known.all():
            raise PaddockError("saved commands are on their way to vehicles without `via: radio`")

    def forget(self) -> None:
        """Discard cached values: a reset or restore has replaced the state."""
        self._waits = None


def _possible_counts(table: Floats, tick: int) -> bool:
    latched = table[LATCHED]
    times = (latched >= 0.0) & (latched <= tick) & (latched == np.floor(latched))
    if not (times & ((latched == 0.0) | (table[DELIVERED] > 0.0))).all():
        return False
    counts = table[[SENT, DROPPED, DELIVERED, WAITS]]
    whole = bool(((counts >= 0.0) & (counts <= LARGEST_COUNT) & (counts == np.floor(counts))).all())
    fits = bool((table[SENT] >= table[DROPPED] + table[DELIVERED] + table[WAITS]).all() and (table[WAITS] <= 1.0).all())
    return whole and fits and bool((np.isfinite(table[DELAY]) & (table[DELAY] >= 0.0)).all())


def _possible_packets(packets: Floats, tick: int) -> bool:
    """Return whether a run can have left these numbers of commands (k, ...) at a tick."""
    if not len(packets):
        return True
    posted, lasting = packets[:, 0], packets[:, 1]
    good = (posted >= 0.0) & (posted <= tick) & (posted == np.floor(posted))
    good &= ((lasting == HELD) | (lasting >= 1.0)) & (lasting <= LARGEST_COUNT) & (lasting == np.floor(lasting))
    return bool(good.all())


def station_range(radios: Radios, name: str) -> tuple[int, int]:
    """Return the numbers [first, last) of the radios of a station."""
    own = [k for k, one in enumerate(radios.stations) if one == name]
    return radios.carried + own[0], radios.carried + own[-1] + 1
