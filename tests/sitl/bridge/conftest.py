"""Autopilots and simulators with scripted behaviour, and a thread that ticks."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import pytest

from paddock.autopilot.contract import Autopilot
from paddock.autopilot.vehicle_data import ActuatorCommands, SensorColumns, SensorData
from paddock.engine.pipeline import HaltedError
from paddock.sitl import adapter_link
from paddock.sitl.adapter import AdapterError
from paddock.sitl.adapters.lightweight import LightweightAdapter
from paddock.sitl.bridge import Bridge


class StubAutopilot(Autopilot):
    """Constant motor commands; answers unless it is silent."""

    kind = "stub"

    def __init__(self, motors: tuple[float, ...] = (0.5, 0.5), period_us: int = 20_000, live: bool = True) -> None:
        super().__init__()
        self.commands = ActuatorCommands(armed=True, motors=motors)
        self.period = period_us
        self.is_live = live
        self.silent = False
        self.silent_for = 0  # collects
        self.offers: list[SensorColumns] = []
        self.waits: list[float] = []
        self.opened = self.closed = self.resets = 0

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
        return "the stub is silent"

    @property
    def times(self) -> list[float]:
        """ms of the sensor data that it was offered."""
        return [offer.time_us / 1000.0 for offer in self.offers]


class Simulator(LightweightAdapter):
    """Rovers without noise, in a simulator that can be switched off, paused and restarted."""

    def __init__(self, name: str = "sim", **options: object) -> None:
        settings = {"noise": False, "truth": True, "speed_max": 2.0, "acceleration": float("inf"), **options}
        super().__init__(name, **settings)  # type: ignore[arg-type]
        self.reachable = True
        self.answers = True
        self.unanswered = 0  # steps that are not answered yet
        self.steps: list[int] = []
        self.connects = 0

    def connect(self) -> None:
        self.connects += 1
        if not self.reachable:
            raise AdapterError(f"{self.name}: connection refused")
        super().connect()

    def step(self, dt_us: int, timeout: float = 1.0) -> bool:
        if not self.answers or self.unanswered > 0:
            self.unanswered -= 1
            return False
        self.steps.append(dt_us)
        return super().step(dt_us, timeout)

    def crash(self) -> None:
        """End the program behind it, with everything in it."""
        self.reachable = False
        super().disconnect()


class Ticking:
    """A thread that exchanges until a simulated time, or until it is stopped."""

    def __init__(self, bridge: Bridge, step: Callable[..., None], until_us: int = 1 << 60) -> None:
        self._stop = threading.Event()
        bridge.running = lambda: not self._stop.is_set()

        def work() -> None:
            while not self._stop.is_set() and bridge.time_us < until_us:
                with suppress(HaltedError):  # stopped, or reset: then it continues from the start
                    step(bridge)

        self.thread = threading.Thread(target=work)
        self.thread.start()

    def join(self) -> None:
        """Wait for the end, which must come."""
        self.thread.join(60.0)
        assert not self.thread.is_alive()

    def stop(self) -> None:
        """End the thread, even while it waits."""
        self._stop.set()
        self.join()


@pytest.fixture
def autopilot() -> type[StubAutopilot]:
    return StubAutopilot


@pytest.fixture
def simulator() -> type[Simulator]:
    return Simulator


@pytest.fixture
def ticking(step: Callable[..., None]) -> Iterator[Callable[..., Ticking]]:
    """`ticking(bridge, until_us)` starts a thread; all are stopped after the test."""
    started: list[Ticking] = []

    def start(bridge: Bridge, until_us: int = 1 << 60) -> Ticking:
        started.append(Ticking(bridge, step, until_us))
        return started[-1]

    yield start
    for thread in started:
        thread.stop()


class RecordedBridge(Bridge):
    """Keeps its events: (kind, subject, detail)."""

    def __init__(self, mode: str = "lockstep", **options: Any) -> None:
        self.events: list[Event] = []
        super().__init__(mode, report=lambda *event: self.events.append(Event(*event)), **options)

    def counts(self) -> Counter[str]:
        return Counter(event.kind for event in self.events)


class Event(NamedTuple):
    kind: str
    subject: str
    detail: str


@pytest.fixture
def make_bridge() -> type[RecordedBridge]:
    return RecordedBridge


@pytest.fixture
def bridge(monkeypatch: pytest.MonkeyPatch) -> Iterator[RecordedBridge]:
    """In lockstep, with short timeouts and retries."""
    monkeypatch.setattr(adapter_link, "FIRST_PAUSE", 0.001)
    with RecordedBridge(timeout=0.03) as made:
        yield made
