"""One fleet of this world as an adapter sees it: its sensors as rows of sensor data, its actuators as inputs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paddock.compute.routine import routine
from paddock.engine.actions import CommandAction
from paddock.engine.program import FleetProgram
from paddock.sensing.suite import FleetSensor
from paddock.sitl.airframe import Airframe, Inputs, find_airframe
from paddock.sitl.equipment.instruments import (
    LEAST_ERROR,
    SATELLITES,
    SHOWN,
    TIMES,
    copy_positions,
    copy_readings,
    copy_truth,
)
from paddock.sitl.sensor_data import COLUMN, RANGEFINDERS, TRUTH, Floats, empty_block
from paddock.world.columns import column_index
from paddock.world.fleet import NEVER, Ints
from paddock.world.frames import conversion
from paddock.world.geodesy import Origin, geodetic_to_ecef
from paddock.world.snapshot import ORIENTATION, POSITION, VELOCITY

TO_NED = conversion("enu", "ned")
QUATERNIONS: Floats = TO_NED.quaternion(np.eye(4))[:, [3, 0, 1, 2]].astype(np.float64)
"""An attitude (x, y, z, w) of ENU and FLU times this is the same one (w, x, y, z) of NED and FRD: it is linear."""
TRUE_ROWS = np.concatenate(
    [np.arange(13)[part][list(TO_NED.world.index)] for part in (POSITION, VELOCITY)] + [np.arange(13)[ORIENTATION]]
)
"""The rows of a pose that position and velocity in NED come from, each with a sign, then those of the attitude."""
TRUE_SIGNS = np.array(2 * TO_NED.world.sign, np.float64)
GNSS = slice(COLUMN["gnss_fix"], COLUMN["gnss_epv"] + 1)
BATTERY = slice(COLUMN["battery_voltage"], COLUMN["battery_remaining"] + 1)


class Shown:
    """Readings of one sensor on their way to their columns, when a new sample has arrived."""

    def __init__(self, kind: str, sensor: FleetSensor) -> None:
        rows = column_index(sensor.sensor.reading)
        self.sensor = sensor
        self.kind = kind
        self.time = COLUMN[TIMES[kind]]
        self.rows = np.array([rows[reading.lstrip("-")] for reading in SHOWN[kind].values()])
        self.signs = np.array([-1.0 if reading.startswith("-") else 1.0 for reading in SHOWN[kind].values()])
        self.columns = np.array([COLUMN[column] for column in SHOWN[kind]])
        self.tick = -1

    def news(self, tick: int) -> bool:
        """Whether a sample has arrived that has not been shown."""
        self.sensor.arrive(tick)
        if self.sensor.sample_tick == self.tick:
            return False
        self.tick = self.sensor.sample_tick
        return True


class FleetFeed:
    """A fleet's newest sensor data (n, WIDTH), kept up to date, and the way of actuator commands into it."""

    def __init__(self, program: FleetProgram, origin: Origin, tick_us: float) -> None:
        """`tick_us`: us in a tick."""
        self.program = program
        self.airframe: Airframe = find_airframe(program.model)(program)
        self.block = empty_block(program.fleet.n)
        self.truth = np.zeros(program.fleet.n, np.bool_)  # who is told it
        self.jammed = np.zeros(program.fleet.n, np.bool_)  # who has no GNSS
        self.posted_at = -1
        self._received = np.full(program.fleet.n, -1, np.int64)  # ticks
        self._tick_us = tick_us
        self._shown = [Shown(kind, program.sensors[kind]) for kind in TIMES if kind in program.sensors]
        self._ranges = _rangefinders(program)
        self._range_tick = -1
        self._airspeed = "airspeed" in column_index(program.model.state)
        self._origin = _origin(origin)
        self._tick = -1
        self._telling = False  # somebody is told the truth
        self._all = slice(0, program.fleet.n)

    # sensors ---------------------------------------------------------------------------------------------------------

    @property
    def carried(self) -> frozenset[str]:
        """What its vehicles perceive, by the names of an adapter's capabilities."""
        names = [shown.kind for shown in self._shown]
        names += ["rangefinder"] * bool(self._ranges) + ["airspeed"] * self._airspeed
        return frozenset(names + ["battery"] * (self.airframe.battery(self._all) is not None))

    def update(self, tick: int) -> Floats:
        """The rows as they are at this tick."""
        if tick != self._tick:
            self._tick = tick
            self.block[:, 0] = round(tick * self._tick_us)
            for shown in self._shown:
                if shown.news(tick):
                    self._show(shown)
            self._show_ranges(tick)
            self._show_power()
            if self._telling:
                self._show_truth(tick)
        return self.block

    def news(self, rows: Ints | slice) -> NDArray[np.bool_]:
        """Which of the rows have changed since this was last asked of them."""
        news = self._received[rows] != self._tick
        self._received[rows] = self._tick
        return np.asarray(news)

    def jam(self, row: int, jammed: bool) -> None:
        """Take satellite navigation from a vehicle, or give it back with the next sample."""
        self.jammed[row] = jammed
        if jammed:
            self._lose_gnss()

    def tell_truth(self, row: int, told: bool) -> None:
        """Whether a vehicle's rows have the ground truth."""
        self.truth[row] = told
        self._telling = bool(self.truth.any())
        self.block[row, TRUTH] = np.nan
        self._tick = -1

    def _show(self, shown: Shown) -> None:
        readings = shown.sensor.published()
        copy_readings(readings, shown.rows, shown.signs, shown.columns, self.block)
        self.block[:, shown.time] = round(shown.tick * self._tick_us)
        if shown.kind == "gnss":
            self._show_position(shown.sensor, readings)

    def _show_position(self, sensor: FleetSensor, readings: Floats) -> None:
        copy_positions(readings, *self._origin, COLUMN["latitude"], self.block)
        options = dict(zip(column_index(sensor.sensor.options), sensor.options.tolist(), strict=True))
        known = np.isfinite(readings[0])
        self.block[:, COLUMN["gnss_fix"]] = np.where(known, 3.0, 0.0)
        self.block[:, COLUMN["gnss_satellites"]] = np.where(known, SATELLITES, 0.0)
        self.block[:, COLUMN["gnss_eph"]] = max(options["noise_horizontal"], LEAST_ERROR)
        self.block[:, COLUMN["gnss_epv"]] = max(options["noise_vertical"], LEAST_ERROR)
        if self.jammed.any():
            self._lose_gnss()

    def _lose_gnss(self) -> None:
        """A receiver without satellites still reports, but nothing."""
        self.block[self.jammed, GNSS] = np.nan
        self.block[self.jammed, COLUMN["gnss_fix"]] = 0.0
        self.block[self.jammed, COLUMN["gnss_satellites"]] = 0.0

    def _show_ranges(self, tick: int) -> None:
        for k, (sensor, farthest) in enumerate(self._ranges):
            sensor.arrive(tick)
            if k == 0 and sensor.sample_tick == self._range_tick:
                return
            distance, valid = sensor.published()
            seen = (valid > 0.5) | (distance < farthest)  # too near is near; too far is nothing
            self.block[:, COLUMN["range_1"] + k] = np.where(seen, distance, np.nan)
            self._range_tick = sensor.sample_tick
            self.block[:, COLUMN["range_time_us"]] = round(self._range_tick * self._tick_us)

    def _show_power(self) -> None:
        power = self.airframe.battery(self._all)
        if power is not None:
            self.block[:, BATTERY.start], self.block[:, BATTERY.start + 1], self.block[:, BATTERY.start + 2] = power
        if self._airspeed:
            self.block[:, COLUMN["airspeed"]] = self.airframe.state("airspeed", self._all)

    def _show_truth(self, tick: int) -> None:
        poses = self.program.pose_block(tick)
        copy_truth(poses, self.truth, TRUE_ROWS, TRUE_SIGNS, QUATERNIONS, TRUTH.start, self.block)

    # actuators -------------------------------------------------------------------------------------------------------

    def control(self, block: Floats, rows: Ints | slice, tick: int) -> CommandAction | None:
        """The command for these rows (ascending); None if it is in force already and never expires."""
        inputs = self.airframe.commanded(block, rows)
        if self.posted_at != tick and self._in_force(inputs, rows):
            return None
        self.posted_at = tick
        fleet = self.program.fleet
        return CommandAction(fleet.name if len(block) == fleet.n else fleet.ids[rows].copy(), inputs)

    def _in_force(self, inputs: Inputs, rows: Ints | slice) -> bool:
        fleet, known = self.program.fleet, column_index(self.program.model.command)
        if self.program.timeout_ticks is not None or (fleet.tables["expires"][rows] != NEVER).any():
            return False
        commands = fleet.tables["command"]
        return all(_same(commands[known[name], rows], value) for name, value in inputs.items())


def _same(values: Floats, wanted: float | Floats) -> bool:
    return same_values(values, wanted) if isinstance(wanted, np.ndarray) else bool((values == wanted).all())


def all_same(values: Floats, wanted: Floats) -> bool:
    """Whether two arrays of one length hold the same numbers."""
    same = True
    for k in range(len(values)):
        same = same and bool(values[k] == wanted[k])
    return same


same_values = routine(all_same)


def _rangefinders(program: FleetProgram) -> list[tuple[FleetSensor, float]]:
    """Those that there are, with the farthest that each sees (m)."""
    found = [sensor for sensor in program.sensors.values() if sensor.sensor.name == "rangefinder"]
    return [
        (sensor, float(sensor.options[column_index(sensor.sensor.options)["range_max"]]))
        for sensor in found[:RANGEFINDERS]
    ]


def _origin(origin: Origin) -> tuple[Floats, Floats]:
    """In ECEF (3,), and sine and cosine of its latitude and longitude (4,)."""
    latitude, longitude = np.deg2rad(origin.latitude_deg), np.deg2rad(origin.longitude_deg)
    angles: NDArray[np.float64] = np.array([np.sin(latitude), np.cos(latitude), np.sin(longitude), np.cos(longitude)])
    return np.asarray(geodetic_to_ecef(origin.latitude_deg, origin.longitude_deg, origin.height_m)), angles
