"""A vehicle on the bench: the real autopilot with a stub vehicle type, fed with hand-made sensor rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.autopilot.contract import Mode, VehicleControl
from paddock.autopilot.estimate import ESTIMATE_COLUMN, LocalFrame
from paddock.autopilot.estimator import Estimator, Ints, SensorHealth
from paddock.autopilot.group import ARMED, control_step
from paddock.autopilot.parameters import Parameter
from paddock.autopilot.telemetry import Landed, StatusText
from paddock.autopilot.vehicle_data import Floats, SensorData

ORIGIN = (47.0, 8.0, 500.0)


class Idle(Mode):
    def update(self, dt: float) -> None:
        pass


def mode(name: str, number: int, needs_position: bool = True, can_arm: bool = True) -> type[Idle]:
    values = {"name": name, "number": number, "needs_position": needs_position, "can_arm": can_arm}
    return type(name, (Idle,), values)


FLYING = (
    mode("STABILIZE", 0, needs_position=False),
    mode("ALT_HOLD", 2, needs_position=False),
    mode("AUTO", 3),
    mode("GUIDED", 4),
    mode("LOITER", 5),
    mode("RTL", 6, can_arm=False),
    mode("LAND", 9, needs_position=False, can_arm=False),
)
DRIVING = (
    mode("MANUAL", 0, needs_position=False),
    mode("HOLD", 4, needs_position=False),
    mode("AUTO", 10),
    mode("RTL", 11),
    mode("SMARTRTL", 12),
    mode("GUIDED", 15),
)


STEPS: list[float] = []
"""s of each control period."""


def bench_control(
    which: Ints,
    period_us: float,
    status: Floats,
    setpoint: Floats,
    gains: Floats,
    memory: Floats,
    commands: Floats,
    estimate: Floats,
    sensors: Floats,
) -> None:
    """Half throttle while armed."""
    for row in which.tolist():
        if (dt := control_step(status[row], period_us)) > 0.0:
            STEPS.append(dt)
            commands[row, 0] = status[row, ARMED]
            commands[row, 1:5] = 0.5 * status[row, ARMED]


class BenchCopter(VehicleControl):
    kind = "copter"
    mav_type = 2
    modes: ClassVar[Mapping[int, type[Mode]]] = {m.number: m for m in FLYING}
    first_mode, return_mode, stop_mode, hold_mode = 0, 6, 9, 5
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("WPNAV_SPEED", 1000, 10, 2000),
        Parameter("WPNAV_SPEED_UP", 250, 10, 1000),
    )
    control_period_us = 4000
    kernel = staticmethod(bench_control)

    def __init__(self, autopilot: BuiltInAutopilot) -> None:
        super().__init__(autopilot)
        self.landed = Landed.ON_GROUND

    def reset_control(self) -> None:
        pass

    def update_landed(self, dt: float) -> None:
        self.autopilot.telemetry.landed = self.landed

    def outputs(self, commands: Floats) -> list[int]:
        return [int(1000 + 1000 * x) for x in commands[1:17]]


class BenchRover(BenchCopter):
    kind = "rover"
    mav_type = 10
    modes: ClassVar[Mapping[int, type[Mode]]] = {m.number: m for m in DRIVING}
    first_mode, return_mode, smart_mode, stop_mode, hold_mode = 0, 11, 12, 4, 4
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    control_period_us = 20000


def bench_filter(which: Ints, sensors: Floats, *arrays: Any) -> None:
    """Note the time of the sensor data; the test sets the rest of the estimate."""
    estimate = arrays[-2]
    estimate[which, 0] = sensors[which, 0]


class BenchEstimator(Estimator):
    """Returns the estimate that the test sets."""

    run = staticmethod(bench_filter)
    health = SensorHealth(True, True, True, True, True)  # type: ignore[assignment]
    baro_altitude = 0.0  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.frame = LocalFrame(*ORIGIN)
        self.standing = True
        self.believe(attitude_ok=1.0, position_ok=1.0, height_ok=1.0, horizontal_error=0.5)

    def believe(self, **values: float) -> None:
        for name, value in values.items():
            self.row[ESTIMATE_COLUMN[name]] = value

    def reset(self) -> None:
        if hasattr(self, "frame"):
            self.believe(north=0.0, east=0.0, down=0.0)
        else:
            super().reset()
            self.row[:] = 0.0


class Bench:
    def __init__(
        self, craft: type[VehicleControl] = BenchCopter, folder: Path | None = None, **parameters: float
    ) -> None:
        self.pilot = BuiltInAutopilot(7, craft, parameters, folder)
        self.estimator = BenchEstimator()
        self.pilot.estimator = self.estimator
        self.pilot._row = self.estimator.sensors
        self.sensors = SensorData(time_us=0, imu_time_us=0, gyro=(0, 0, 0), accel=(0, 0, -9.81))
        self.sense(gnss_time_us=0, gnss_fix=3, gnss_satellites=12, compass_time_us=0, baro_time_us=0)
        self.sense(battery_voltage=12.4, battery_current=0.0)
        self.now_us = 0
        self.run(0.1)

    def sense(self, **values: float) -> None:
        SensorData(self.sensors.row, **values)

    def believe(self, **values: float) -> None:
        self.estimator.believe(**values)

    def run(self, seconds: float, dt_us: int = 20_000) -> None:
        """Feed the same sensors for that long."""
        for _ in range(round(seconds * 1e6 / dt_us)):
            self.sensors.row[0] = self.sensors.row[1] = self.now_us
            self.pilot.offer(self.sensors)
            self.now_us += dt_us

    def texts(self) -> list[str]:
        """Return the status texts since the last call."""
        lines = [notice.text for notice in self.pilot.outbox if isinstance(notice, StatusText)]
        self.pilot.outbox.clear()
        return lines

    def fly(self, height: float = 10.0, mode: int = 4) -> None:
        """Armed, in the air."""
        assert self.pilot.set_mode(mode).accepted
        assert self.pilot.arm().accepted, self.pilot.arm().text
        assert isinstance(self.pilot.vehicle, BenchCopter)
        self.pilot.vehicle.landed = Landed.IN_AIR
        self.believe(down=-height)
        self.run(0.1)
        self.texts()


@pytest.fixture
def steps() -> list[float]:
    """The control periods of the vehicles on the bench from now on, s."""
    STEPS.clear()
    return STEPS


@pytest.fixture
def bench() -> Callable[..., Bench]:
    return Bench


@pytest.fixture
def copter() -> Bench:
    return Bench()


@pytest.fixture
def rover() -> Bench:
    return Bench(BenchRover)
