"""Fleets of a simulation as an adapter sees them: sensors as rows of sensor data, actuator rows as inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.compute.routine import routine
from paddock.engine.actions import CommandAction
from paddock.engine.program import FleetProgram
from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError
from paddock.sitl.adapter import AdapterError
from paddock.sitl.airframe import Airframe, find_airframe
from paddock.sitl.equipment import TIMES, ReadingWriter, copy_truth
from paddock.sitl.sensor_data import COLUMN, RANGEFINDERS, TRUTH, Floats, empty_block
from paddock.world.columns import column_index
from paddock.world.fleet import NEVER, Ints
from paddock.world.frames import conversion
from paddock.world.geodesy import Origin
from paddock.world.snapshot import ORIENTATION, POSITION, VELOCITY

TO_NED = conversion("enu", "ned")
QUATERNIONS: Floats = TO_NED.quaternion(np.eye(4))[:, [3, 0, 1, 2]].astype(np.float64)
"""Attitude (x, y, z, w) of ENU and FLU, times this, is (w, x, y, z) of NED and FRD."""
TRUE_ROWS = np.concatenate(
    [np.arange(13)[part][list(TO_NED.world.index)] for part in (POSITION, VELOCITY)] + [np.arange(13)[ORIENTATION]]
)
"""Rows of a pose for position and velocity in NED, each with a sign, then those of the attitude."""
TRUE_SIGNS = np.array(2 * TO_NED.world.sign, np.float64)


class FleetFeed:
    """The newest sensor data (n, WIDTH) of a fleet, and the conversion of actuator commands to its inputs."""

    def __init__(self, program: FleetProgram, origin: Origin, tick_us: float) -> None:
        """`tick_us`: us per tick."""
        self.program = program
        self.airframe: Airframe = find_airframe(program.model)(program)
        self.block = empty_block(program.fleet.n)
        self.truth = np.zeros(program.fleet.n, np.bool_)  # vehicles whose rows include the truth
        self.posted_at = -1
        self._received = np.full(program.fleet.n, -1, np.int64)  # ticks
        self._tick_us = tick_us
        sensors = program.sensors
        self._writers = [ReadingWriter(kind, sensors[kind], origin) for kind in TIMES if kind in sensors]
        self._shown = [-1] * len(self._writers)  # tick of the sample in the block
        self._ranges = [
            (sensor, float(sensor.options[column_index(sensor.sensor.options)["range_max"]]))
            for sensor in sensors.values()
            if sensor.sensor.name == "rangefinder"
        ][:RANGEFINDERS]
        self._range_tick = -1
        self._airspeed = "airspeed" in column_index(program.model.state)
        self._tick = -1
        self.any_truth = False
        self._all = slice(0, program.fleet.n)

    @property
    def carried(self) -> frozenset[str]:
        """The sensors of its vehicles, by the names of an adapter's capabilities."""
        names = [writer.kind for writer in self._writers]
        names += ["rangefinder"] * bool(self._ranges) + ["airspeed"] * self._airspeed
        return frozenset(names + ["battery"] * (self.airframe.battery(self._all) is not None))

    def update(self, tick: int) -> Floats:
        """Return the rows at this tick."""
        if tick != self._tick:
            self._tick = tick
            self.block[:, 0] = round(tick * self._tick_us)
            for k, writer in enumerate(self._writers):
                writer.sensor.arrive(tick)
                if writer.sensor.sample_tick != self._shown[k]:
                    self._shown[k] = writer.sensor.sample_tick
                    writer.write(self.block, round(self._shown[k] * self._tick_us))
            self._show_ranges(tick)
            power = self.airframe.battery(self._all)
            if power is not None:
                for k, values in enumerate(power):
                    self.block[:, COLUMN["battery_voltage"] + k] = values
            if self._airspeed:
                self.block[:, COLUMN["airspeed"]] = self.airframe.state("airspeed", self._all)
            if self.any_truth:
                poses = self.program.pose_block(tick)
                copy_truth(poses, self.truth, TRUE_ROWS, TRUE_SIGNS, QUATERNIONS, TRUTH.start, self.block)
        return self.block

    def news(self, rows: Ints | slice) -> NDArray[np.bool_]:
        """Return which of the rows have changed since the last call."""
        news = self._received[rows] != self._tick
        self._received[rows] = self._tick
        return np.asarray(news)

    def _show_ranges(self, tick: int) -> None:
        for k, (sensor, farthest) in enumerate(self._ranges):
            sensor.arrive(tick)
            if k == 0 and sensor.sample_tick == self._range_tick:
                return
            distance, valid = sensor.published()
            seen = (valid > 0.5) | (distance < farthest)  # too near counts, too far does not
            self.block[:, COLUMN["range_1"] + k] = np.where(seen, distance, np.nan)
            self._range_tick = sensor.sample_tick
            self.block[:, COLUMN["range_time_us"]] = round(self._range_tick * self._tick_us)

    def control(self, block: Floats, rows: Ints | slice, tick: int) -> CommandAction | None:
        """Return the command for these rows (ascending); None if it is in force already and never expires."""
        fleet, inputs = self.program.fleet, self.airframe.commanded(block, rows)
        expiring = self.program.timeout_ticks is not None or (fleet.tables["expires"][rows] != NEVER).any()
        if self.posted_at != tick and not expiring:
            commands, known = fleet.tables["command"], column_index(self.program.model.command)
            present = ((commands[known[name], rows], value) for name, value in inputs.items())
            if all(same_values(now, v) if isinstance(v, np.ndarray) else bool((now == v).all()) for now, v in present):
                return None
        self.posted_at = tick
        return CommandAction(fleet.name if len(block) == fleet.n else fleet.ids[rows].copy(), inputs)


def all_same(values: Floats, wanted: Floats) -> bool:
    """Return whether two arrays of equal length hold the same numbers."""
    same = True
    for k in range(len(values)):
        same = same and bool(values[k] == wanted[k])
    return same


same_values = routine(all_same)


class FleetPart(NamedTuple):
    """The vehicles of one fleet in a block of several."""

    feed: FleetFeed
    rows: Ints | slice  # of the fleet, ascending
    places: Ints | slice  # in the block


class FleetFeeds:
    """Finds vehicles in the fleets of a simulation; valid until a vehicle is added or removed."""

    def __init__(self, sim: Simulation, names: Mapping[int, str]) -> None:
        """`names`: id -> name in the simulation."""
        self.sim = sim
        self.names = names
        self.known: dict[tuple[int, ...], list[FleetPart]] = {}
        self._feeds: dict[str, FleetFeed] = {}
        self._roster = (sim.engine.world.run, sim.engine.world.roster_version)

    @property
    def stale(self) -> bool:
        """Whether vehicles were added or removed since."""
        return (self.sim.engine.world.run, self.sim.engine.world.roster_version) != self._roster

    def parts(self, vehicles: tuple[int, ...]) -> list[FleetPart]:
        """Return these vehicles fleet by fleet; cached for each selection."""
        if vehicles not in self.known:
            found: dict[str, list[tuple[int, int]]] = {}
            for place, vehicle in enumerate(vehicles):
                feed, row = self._find(vehicle)
                found.setdefault(feed.program.fleet.name, []).append((row, place))
            indices = {name: np.array(sorted(pairs)).T for name, pairs in found.items()}
            self.known[vehicles] = [
                FleetPart(self._feeds[name], _straight(rows), _straight(places))
                for name, (rows, places) in indices.items()
            ]
        return self.known[vehicles]

    def set_truth(self, vehicle: int) -> None:
        """Include the truth in its sensor data; nothing for a removed vehicle."""
        if self.sim.engine.applier.exists(self.names[vehicle]):
            feed, row = self._find(vehicle)
            feed.truth[row] = feed.any_truth = True

    def _find(self, vehicle: int) -> tuple[FleetFeed, int]:
        try:
            fleet, rows = self.sim.engine.world.find(self.names[vehicle])
        except PaddockError as error:
            raise AdapterError(f"vehicle {vehicle} is no longer in the world: {error}") from None
        if fleet.name not in self._feeds:
            program, origin = self.sim.engine.programs[fleet.name], Origin(*self.sim.scenario.world.origin)
            self._feeds[fleet.name] = FleetFeed(program, origin, 1e6 / self.sim.engine.world.clock.rate)
        return self._feeds[fleet.name], int(rows[0])


def _straight(numbers: Ints) -> Ints | slice:
    """Return consecutive numbers as a slice, which copies faster."""
    first, count = int(numbers[0]), len(numbers)
    return slice(first, first + count) if np.array_equal(numbers, np.arange(first, first + count)) else numbers
