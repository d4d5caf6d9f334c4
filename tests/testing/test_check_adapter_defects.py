"""Adapters that break the contract in one way each, and the error that names it."""

import threading
from time import sleep

import numpy as np
import pytest

from paddock.autopilot.vehicle_data import COLUMN, ActuatorCommands, SensorData
from paddock.sitl.adapter import AdapterError, Capabilities, Placed
from paddock.sitl.adapters.lightweight import LightweightAdapter
from paddock.testing import ConformanceError, adapters, check_adapter


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


class Radians(Altered):
    def change(self, row: np.ndarray) -> None:
        row[[COLUMN["latitude"], COLUMN["longitude"]]] *= np.pi / 180.0


class LongitudeInRadians(Altered):
    def change(self, row: np.ndarray) -> None:
        row[COLUMN["longitude"]] *= np.pi / 180.0


class NoisyRadians(Radians):
    def __init__(self) -> None:
        LightweightAdapter.__init__(self)


class Mirrored(Altered):
    def change(self, row: np.ndarray) -> None:
        row[COLUMN["gnss_vn"]] *= -1.0


class SamplesAhead(Altered):
    def change(self, row: np.ndarray) -> None:
        row[COLUMN["gnss_time_us"]] += 1e6


class SharesItsRow(Broken):
    def receive_sensors(self, vehicle: int = 1) -> SensorData | None:
        received = super().receive_sensors(vehicle)
        return None if received is None else SensorData(self._block[self._row_of[vehicle]])


class RepeatsItself(Broken):
    def receive_sensors(self, vehicle: int = 1) -> SensorData | None:
        with self.lock:
            return super().receive_sensors(vehicle) or SensorData(self._block[self._row_of[vehicle]].copy())


class SwallowsNan(Broken):
    def send_actuators(self, commands: ActuatorCommands, vehicle: int = 1) -> None:
        super().send_actuators(ActuatorCommands(np.nan_to_num(commands.row)), vehicle)


class DoesNotClip(Broken):
    def send_actuators(self, commands: ActuatorCommands, vehicle: int = 1) -> None:
        super().send_actuators(commands, vehicle)
        if commands.armed:
            self._targets[:, self._row_of[vehicle]] = np.minimum(commands.motors[:2], 100.0) * self.speed_max


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
        after = self._time_us + dt_us
        sleep(1e-4)
        stepped = super().step(dt_us, timeout)
        self._time_us = after
        return stepped


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
        (SamplesAhead, "sensors", "gnss_time_us is later than time_us"),
        (BoastsAirspeed, "capabilities", "airspeed is declared, but airspeed stays NaN"),
        (HidesCompass, "capabilities", "compass is not declared"),
        (SharesItsRow, "news", "changed with a later step"),
        (RepeatsItself, "news", "delivers the same data twice"),
        (SwallowsNan, "commands refused", "whose motor is NaN is not refused"),
        (DoesNotClip, "clipping", "motors beyond 1"),
        (Deaf, "effect", "shows no motion"),
        (IgnoresArming, "effect", "still moves"),
        (Radians, "position", r"latitude changes 0\.0175 times as much as gnss_vn implies: it must be in degrees"),
        (LongitudeInRadians, "position", r"longitude changes 0\.017\d times as much as gnss_ve implies"),
        (NoisyRadians, "position", "latitude changes .* it must be in degrees"),
        (Mirrored, "position", "latitude changes -1 times as much as gnss_vn implies"),
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


def test_an_exception_of_the_adapter_is_one_line() -> None:
    class Crashes(Broken):
        def reset(self) -> None:
            if self._time_us:
                raise ZeroDivisionError("oh")
            super().reset()

    with pytest.raises(ConformanceError, match=r"reset: .*test_check_adapter_defects.py:\d+: ZeroDivisionError: oh"):
        check_adapter(Crashes)


def test_a_step_that_never_returns_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock is held meanwhile, so that it cannot be disconnected either."""
    monkeypatch.setattr(adapters, "PATIENCE", 0.3)
    over = threading.Event()

    class Hangs(Broken):
        def step(self, dt_us: int, timeout: float = 1.0) -> bool:
            with self.lock:
                stepped = super().step(dt_us, timeout)
                if self._time_us > 100_000:
                    over.wait(60.0)
            return stepped

    try:
        with pytest.raises(ConformanceError, match=r"time: step\(20000, 5.0\) has not returned after 0.3 s"):
            check_adapter(Hangs)
    finally:
        over.set()


def test_a_connect_that_never_returns_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapters, "PATIENCE", 0.3)
    over = threading.Event()

    class Hangs(Broken):
        def connect(self) -> None:
            over.wait(60.0)

    try:
        with pytest.raises(ConformanceError, match=r"life cycle: .* has not returned after 0.3 s"):
            check_adapter(Hangs)
    finally:
        over.set()


def test_nondeterministic_runs_are_not_compared() -> None:
    report = check_adapter(Diced, deterministic=False)
    assert report.details["determinism"] == "not claimed"


def test_commands_that_move_a_craft_can_be_given() -> None:
    motion = ActuatorCommands(armed=True, motors=[1.0, 0.0])
    report = check_adapter(Broken, motion=motion)
    assert report.details["effect"] == "moves at 1.5 m/s when armed, stays when disarmed"
