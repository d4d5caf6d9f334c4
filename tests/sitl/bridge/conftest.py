"""Pilots and simulators that do as they are told."""

from collections.abc import Iterator

import pytest

from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.adapter import AdapterError, Placed
from paddock.sitl.adapters.lightweight import LightweightAdapter
from paddock.sitl.autopilot_contract import Pilot
from paddock.sitl.bridge import Bridge, reconnect
from paddock.sitl.sensor_data import Columns, SensorData


class StubPilot(Pilot):
    """Wants the same motors for ever; answers unless it is silent."""

    kind = "stub"

    def __init__(self, motors: tuple[float, ...] = (0.5, 0.5), period_us: int = 20_000, live: bool = True) -> None:
        super().__init__()
        self.commands = ActuatorCommands(armed=True, motors=motors)
        self.period = period_us
        self.is_live = live
        self.silent = False
        self.silent_for = 0  # collects
        self.offers: list[Columns] = []
        self.waits: list[float] = []
        self.opened = self.closed = self.resets = 0
        self.log: list[tuple[str, str]] | None = None

    @property
    def live(self) -> bool:
        return self.is_live

    @property
    def period_us(self) -> int:
        return self.period

    def open(self) -> None:
        self.opened += 1

    def close(self) -> None:
        self.closed += 1

    def offer(self, sensors: SensorData) -> None:
        self.offers.append(sensors.values())

    def collect(self, timeout: float) -> ActuatorCommands | None:
        self.waits.append(timeout)
        if self.silent or self.silent_for > 0:
            self.silent_for -= 1
            return None
        return self.commands

    def reset(self) -> None:
        self.resets += 1

    def diagnosis(self) -> str:
        return "the stub was told to be silent"

    @property
    def times(self) -> list[float]:
        """ms of the sensor data that it was offered."""
        return [offer.time_us / 1000.0 for offer in self.offers]


class Simulator(LightweightAdapter):
    """Rovers without noise, in a simulator that can be switched off, paused and restarted."""

    def __init__(self, name: str = "sim", **options: object) -> None:
        given = {"noise": False, "truth": True, "speed_max": 2.0, "acceleration": float("inf"), **options}
        super().__init__(name, **given)  # type: ignore[arg-type]
        self.reachable = True
        self.answers = True
        self.unanswered = 0  # steps that are not answered yet
        self.steps: list[int] = []
        self.connects = 0

    def connect(self) -> None:
        self.connects += 1
        if not self.reachable:
            raise AdapterError(f"{self.name}: nobody listens")
        super().connect()

    def step(self, dt_us: int, timeout: float = 1.0) -> bool:
        if not self.answers or self.unanswered > 0:
            self.unanswered -= 1
            return False
        self.steps.append(dt_us)
        return super().step(dt_us, timeout)

    def crash(self) -> None:
        """The program behind it has gone, with everything in it."""
        self.reachable = False
        super().disconnect()


def rover(number: int, north: float = 0.0) -> Placed:
    return Placed(number, f"r{number}", "rover", (north, 0.0, 0.0))


@pytest.fixture
def pilot() -> type[StubPilot]:
    return StubPilot


@pytest.fixture
def simulator() -> type[Simulator]:
    return Simulator


@pytest.fixture
def bridge(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bridge]:
    """In lockstep, impatient, quick to try again."""
    monkeypatch.setattr(reconnect, "FIRST_PAUSE", 0.001)
    with Bridge(timeout=0.03) as made:
        yield made
