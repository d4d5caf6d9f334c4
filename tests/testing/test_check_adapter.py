"""The shipped lightweight adapter and a third party's keep the contract; adapters that break it are told how."""

import sys
import threading
from pathlib import Path
from time import sleep

import numpy as np
import pytest

from paddock.errors import UnknownNameError
from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.adapter import AdapterError, Capabilities, Placed
from paddock.sitl.adapters.lightweight import LightweightAdapter
from paddock.sitl.bridge import Bridge
from paddock.sitl.registry import find_adapter
from paddock.sitl.sensor_data import COLUMN, SensorData
from paddock.testing import ConformanceError, Report, check_adapter

THIRD_PARTY = '''
"""A whole adapter in one file: a cart on a rail that runs north; 1 motor, IMU only."""

from paddock.sitl.adapter import AdapterError, Capabilities, SimulatorAdapter
from paddock.sitl.sensor_data import SensorData


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
    assert isinstance(report, Report)
    assert len(report.details) == 17
    assert str(report).startswith("adapter 'lightweight': 17 checks passed")


def test_a_third_partys_adapter_is_one_file_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "somebody"
    folder.mkdir()
    (folder / "rail.py").write_text(THIRD_PARTY)
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    try:
        report = check_adapter("somebody.rail")
        assert len(report.details) == 17
        assert report.details["capabilities"] == "2 kinds of sensor delivered, 6 absent as declared"
        with Bridge() as bridge:  # and flies on the bridge as any other does
            bridge.register(find_adapter("somebody.rail")("track"))
            assert bridge.adapters == ("track",)
    finally:
        for name in ("somebody.rail", "somebody"):
            sys.modules.pop(name, None)
        find_adapter.cache_clear()


def test_an_unknown_type_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'lightweight'"):
        check_adapter("lightwieght")


# adapters that break the contract, each in one way


class Broken(LightweightAdapter):
    def __init__(self) -> None:
        super().__init__(noise=0, acceleration=float("inf"))


class BoastsAirspeed(Broken):
    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(frozenset({"imu", "gnss", "compass", "barometer", "airspeed"}), 50.0, 254)


class HidesCompass(Broken):
    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(frozenset({"imu", "gnss", "barometer"}), 50.0, 254)


class UnknownSensor(Broken):
    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(frozenset({"imu", "lidarr"}), 50.0, 254)


class StaysConnected(Broken):
    @property
    def is_connected(self) -> bool:
        return True


class SilentWhenUnconnected(Broken):
    def step(self, dt_us: int, timeout: float = 1.0) -> bool:
        return super().step(dt_us, timeout) if self._connected else False


class TakesDoubles(Broken):
    def add_vehicle(self, vehicle: Placed) -> None:
        if vehicle.id not in self.vehicles:
            super().add_vehicle(vehicle)


class StepsTooFar(Broken):
    def step(self, dt_us: int, timeout: float = 1.0) -> bool:
        return super().step(dt_us + 1, timeout)


class NeverAnswers(Broken):
    def step(self, dt_us: int, timeout: float = 1.0) -> bool:
        super().step(0)
        return False


class Altered(Broken):
    def change(self, row: np.ndarray) -> None:
        raise NotImplementedError

    def receive_sensors(self, vehicle: int = 1) -> SensorData | None:
        received = super().receive_sensors(vehicle)
        if received is not None:
            self.change(received.row)
        return received


class GravityUp(Altered):
    def change(self, row: np.ndarray) -> None:
        row[COLUMN["accel_z"]] *= -1.0


class Gauss(Altered):
    def change(self, row: np.ndarray) -> None:
        row[COLUMN["mag_x"] : COLUMN["mag_z"] + 1] *= 1e4


class Hectopascal(Altered):
    def change(self, row: np.ndarray) -> None:
        row[COLUMN["pressure"]] *= 0.01


class SamplesAhead(Altered):
    def change(self, row: np.ndarray) -> None:
        row[COLUMN["gnss_time_us"]] += 1e6


class SharesItsRow(Broken):
    def receive_sensors(self, vehicle: int = 1) -> SensorData | None:
        received = super().receive_sensors(vehicle)
        return None if received is None else SensorData(self._block[self._row(vehicle)])


class RepeatsItself(Broken):
    def receive_sensors(self, vehicle: int = 1) -> SensorData | None:
        with self.lock:
            return super().receive_sensors(vehicle) or SensorData(self._block[self._row(vehicle)].copy())


class SwallowsNan(Broken):
    def send_actuators(self, commands: ActuatorCommands, vehicle: int = 1) -> None:
        super().send_actuators(ActuatorCommands(np.nan_to_num(commands.row)), vehicle)


class DoesNotClip(Broken):
    def send_actuators(self, commands: ActuatorCommands, vehicle: int = 1) -> None:
        super().send_actuators(commands, vehicle)
        if commands.armed:
            self._targets[:, self._row(vehicle)] = np.minimum(commands.motors[:2], 100.0) * self.speed_max


class Deaf(Broken):
    def send_actuators(self, commands: ActuatorCommands, vehicle: int = 1) -> None:
        super().send_actuators(commands, vehicle)
        self._targets[:] = 0.0


class IgnoresArming(Broken):
    def send_actuators(self, commands: ActuatorCommands, vehicle: int = 1) -> None:
        if np.isfinite(commands.row[0]):
            commands = ActuatorCommands(commands.row.copy(), armed=True)
        super().send_actuators(commands, vehicle)


class MixesRows(Broken):
    def receive_block(self, vehicles: object, block: np.ndarray) -> None:
        super().receive_block(sorted(vehicles), block)  # type: ignore[call-overload]


class KeepsTime(Broken):
    def reset(self) -> None:
        before = self._time_us
        super().reset()
        self._time_us = before


class Diced(Broken):
    made = 0

    def __init__(self) -> None:
        super().__init__()
        Diced.made += 1
        self._instruments = LightweightAdapter(seed=Diced.made)._instruments
        self.seed = Diced.made


class NoLock(Broken):
    def step(self, dt_us: int, timeout: float = 1.0) -> bool:
        if not self._connected:
            raise AdapterError("not connected")
        before = self._time_us
        if threading.current_thread() is not threading.main_thread():
            sleep(1e-4)
            self._time_us = before + dt_us
            return True
        return super().step(dt_us, timeout)


@pytest.mark.parametrize(
    ("adapter", "check", "words"),
    [
        (UnknownSensor, "declarations", "unknown sensor 'lidarr'"),
        (StaysConnected, "declarations", "is_connected before connect"),
        (SilentWhenUnconnected, "unconnected", "step before connect.* is not refused"),
        (TakesDoubles, "vehicles", "a second vehicle 7 is not refused"),
        (StepsTooFar, "time", r"step\(20000\) advanced the time by 20001 us"),
        (NeverAnswers, "unconnected", "was not answered within 5 s"),
        (GravityUp, "at rest", r"\(.*0.00, .*0.00, 9.81\) m/s2, not \(0, 0, -9.81\)"),
        (Gauss, "sensors", "is it gauss"),
        (Hectopascal, "sensors", r"pressure is 1008.\d+, outside 5000 to 110000"),
        (SamplesAhead, "sensors", "gnss_time_us lies ahead of time_us"),
        (BoastsAirspeed, "capabilities", "airspeed is declared, but airspeed stays NaN"),
        (HidesCompass, "capabilities", "compass is not declared"),
        (SharesItsRow, "news", "changed with a later step"),
        (RepeatsItself, "news", "delivers the same data twice"),
        (SwallowsNan, "commands refused", "whose motor is NaN is not refused"),
        (DoesNotClip, "clipping", "motors beyond 1"),
        (Deaf, "effect", "shows no motion"),
        (IgnoresArming, "effect", "moves all the same"),
        (MixesRows, "blocks", "between a block and single rows"),
        (KeepsTime, "reset", r"sim_time_us is 1000000 after reset\(\)"),
        (Diced, "clipping|determinism", "differs"),
        (NoLock, "threads", "have passed: hold self.lock"),
    ],
)
def test_a_defect_is_found(adapter: type[LightweightAdapter], check: str, words: str) -> None:
    with pytest.raises(ConformanceError, match=words) as caught:
        check_adapter(adapter)
    assert caught.value.check in check.split("|")
    assert str(caught.value).startswith("adapter 'lightweight': ")


def test_what_is_not_an_adapter_is_refused() -> None:
    with pytest.raises(ConformanceError, match="'dict': declarations: is not a SimulatorAdapter"):
        check_adapter(dict)  # type: ignore[arg-type]


def test_an_adapter_that_crashes_is_told_in_one_line() -> None:
    class Crashes(Broken):
        def reset(self) -> None:
            if self._time_us:
                raise ZeroDivisionError("oh")
            super().reset()

    with pytest.raises(ConformanceError, match="reset: ZeroDivisionError: oh"):
        check_adapter(Crashes)


def test_what_cannot_be_repeated_is_not_compared_where_it_is_not_claimed() -> None:
    report = check_adapter(Diced, deterministic=False)
    assert report.details["determinism"] == "not claimed"


def test_commands_that_move_a_craft_can_be_given() -> None:
    motion = ActuatorCommands(armed=True, motors=[1.0, 0.0])
    report = check_adapter(Broken, motion=motion)
    assert report.details["effect"] == "moves at 1.5 m/s when armed, stays when disarmed"
