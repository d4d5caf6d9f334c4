"""The shipped lightweight adapter and a user's adapter pass the checks; other objects are refused."""

import sys
from pathlib import Path
from typing import Any

import pytest

from paddock.errors import UnknownNameError
from paddock.plugins import forget_plugins
from paddock.sitl.adapter import find_adapter
from paddock.sitl.adapters.lightweight import LightweightAdapter
from paddock.sitl.bridge import Bridge
from paddock.testing import ConformanceError, ConformanceReport, check_adapter

THIRD_PARTY = '''
"""A whole adapter in one file: a cart on a rail that runs north; 1 motor, IMU only."""

from paddock.sitl.adapter import AdapterError, Capabilities, SimulatorAdapter
from paddock.autopilot.vehicle_data import SensorData


class Rail(SimulatorAdapter):
    adapter_type = "rail"

    def __init__(self, name=""):
        super().__init__(name)
        self.up, self.cart, self.time, self.speed, self.push, self.read = False, None, 0, 0.0, 0.0, -1

    def check(self, vehicle=None):
        if not self.up:
            raise AdapterError("the rail is not connected")
        if vehicle is not None and vehicle not in self.vehicles:
            raise AdapterError(f"the rail has no cart {vehicle}")

    def connect(self):
        self.up = True

    def disconnect(self):
        self.up, self.cart, self.time, self.speed, self.push, self.read = False, None, 0, 0.0, 0.0, -1

    @property
    def is_connected(self):
        return self.up

    @property
    def vehicles(self):
        return () if self.cart is None else (self.cart,)

    def add_vehicle(self, vehicle):
        self.check()
        if self.cart is not None:
            raise AdapterError(f"the rail carries one cart, and has {self.cart}")
        self.cart = vehicle.id

    def remove_vehicle(self, vehicle):
        self.check(vehicle)
        self.cart = None

    def reset(self):
        self.check()
        self.time, self.speed, self.push, self.read = 0, 0.0, 0.0, -1

    supports_lockstep = True
    capabilities = Capabilities(frozenset({"imu", "truth"}), 1000.0)

    @property
    def sim_time_us(self):
        return self.time

    def step(self, dt_us, timeout=1.0):
        with self.lock:
            self.check()
            self.time, self.speed = self.time + dt_us, self.speed + self.push * dt_us * 1e-6
        return True

    def receive_sensors(self, vehicle=1):
        with self.lock:
            self.check(vehicle)
            if self.time == self.read:
                return None
            self.read = self.time
            now = SensorData(time_us=self.time, imu_time_us=self.time, gyro=0.0, accel=(self.push, 0.0, -9.80665))
            now.row[-10:] = (0.0, 0.0, 0.0, self.speed, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
            return now

    def send_actuators(self, commands, vehicle=1):
        with self.lock:
            self.check(vehicle)
            if not (commands.row == commands.row).all():
                raise AdapterError("a command of the rail is NaN")
            self.push = 2.0 * min(max(commands.motors[0], -1.0), 1.0) * commands.armed


ADAPTER = Rail
'''


def test_the_lightweight_adapter_passes_every_check() -> None:
    report = check_adapter("lightweight")
    assert isinstance(report, ConformanceReport)
    assert len(report.details) == 17
    assert str(report).startswith("adapter 'lightweight': 17 checks passed")


def test_a_users_adapter_is_one_file_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "a_user"
    folder.mkdir()
    (folder / "rail.py").write_text(THIRD_PARTY)
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    try:
        report = check_adapter("a_user.rail")
        assert len(report.details) == 17
        assert report.details["capabilities"] == "2 kinds of sensor delivered, 6 absent as declared"
        with Bridge() as bridge:  # and flies on the bridge as any other does
            bridge.register(find_adapter("a_user.rail")("track"))
            assert bridge.links["track"].connected
    finally:
        for name in ("a_user.rail", "a_user"):
            sys.modules.pop(name, None)
        forget_plugins()


def test_an_unknown_type_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'lightweight'"):
        check_adapter("lightwieght")


@pytest.mark.parametrize(
    ("factory", "words"),
    [
        (dict, "'dict': declarations: is not a SimulatorAdapter"),
        (
            LightweightAdapter(),
            r"'lightweight': declarations: give the class .*\(LightweightAdapter\), not an instance",
        ),
        (5, "'int': declarations: give a class, a function that creates one, or a type's name, not 5"),
        (lambda: 1 / 0, "declarations: cannot be created without arguments: ZeroDivisionError"),
    ],
)
def test_an_invalid_factory_is_refused(factory: Any, words: str) -> None:
    with pytest.raises(ConformanceError, match=words):
        check_adapter(factory)
