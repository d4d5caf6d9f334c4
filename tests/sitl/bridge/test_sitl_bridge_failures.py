"""Exceptions of adapters and autopilots affect only their own vehicles."""

from typing import Any

import pytest

from paddock.errors import PaddockError
from paddock.sitl.adapter import AdapterError, Placed
from paddock.sitl.adapter_link import BridgeStoppedError, Fallback, TimeoutPolicy


def rover(number: int) -> Placed:
    return Placed(number, f"r{number}", "rover")


def details(bridge: Any) -> list[tuple[str, str]]:
    return [(event.kind, event.detail) for event in bridge.events]


def faulty(simulator: Any, method: str, error: Exception) -> Any:
    """A simulator with a method that raises when `broken` is set."""

    class Faulty(simulator):  # type: ignore[misc]
        broken = False

    def call(self: Any, *arguments: Any) -> Any:
        if self.broken:
            raise error
        return getattr(super(Faulty, self), method)(*arguments)

    setattr(Faulty, method, call)
    return Faulty("bad")


@pytest.mark.parametrize("method", ["step", "receive_block", "send_block"])
@pytest.mark.parametrize(
    ("error", "detail"),
    [
        (OSError(111, "refused"), "ConnectionRefusedError: [Errno 111] refused"),
        (ZeroDivisionError(), "ZeroDivisionError"),
    ],
)
def test_an_exception_disconnects_only_its_adapter(
    bridge: Any, simulator: Any, autopilot: Any, method: str, error: Exception, detail: str, step: Any
) -> None:
    bad = faulty(simulator, method, error)
    bridge.register(bad)
    bridge.register(simulator("good"))
    bridge.spawn(rover(1), autopilot(), "bad")
    bridge.spawn(rover(2), well := autopilot(), "good")
    step(bridge, 2)
    bad.broken = True
    step(bridge)
    assert details(bridge)[0] == ("lost", f"{detail}: free_run")
    bad.broken = False
    step(bridge, 2)
    assert well.times == [0, 20, 40, 60, 80]


def test_an_adapter_that_always_raises_is_reported_once(bridge: Any, simulator: Any, autopilot: Any, step: Any) -> None:
    class Odd(simulator):  # type: ignore[misc]
        odd = False

        @property
        def is_connected(self) -> bool:
            if self.odd:
                raise RuntimeError("where am I?")
            return bool(super().is_connected)

    odd = Odd("odd")
    bridge.register(odd)
    bridge.spawn(rover(1), autopilot(), "odd")
    step(bridge)
    odd.odd = True
    step(bridge, 5)
    assert details(bridge) == [("lost", "RuntimeError: where am I?: free_run")]
    odd.odd = False


def test_an_exception_in_add_vehicle_is_an_adapter_error(bridge: Any, simulator: Any, autopilot: Any) -> None:
    bad = faulty(simulator, "add_vehicle", ValueError("no such mesh"))
    bridge.register(bad)
    bad.broken = True
    with pytest.raises(AdapterError, match="adapter 'bad' cannot add vehicle 1 'r1': ValueError: no such mesh"):
        bridge.spawn(rover(1), autopilot(), "bad")
    assert bridge.vehicles == ()


def test_keyboard_interrupt_ends_the_run(bridge: Any, simulator: Any, autopilot: Any, step: Any) -> None:
    class Stopped(autopilot):  # type: ignore[misc]
        def offer(self, sensors: Any) -> None:
            raise KeyboardInterrupt

    bridge.register(simulator())
    bridge.spawn(rover(1), Stopped(), "sim")
    with pytest.raises(KeyboardInterrupt):
        step(bridge)


@pytest.mark.parametrize("method", ["offer", "collect", "next_us"])
def test_an_exception_stops_only_its_autopilot(
    bridge: Any, simulator: Any, autopilot: Any, method: str, step: Any
) -> None:
    class Bad(autopilot):  # type: ignore[misc]
        broken = True

    def call(self: Any, *arguments: Any) -> Any:
        if self.broken:
            raise TypeError("my autopilot")
        return getattr(super(Bad, self), method)(*arguments)

    setattr(Bad, method, call)
    bridge.register(simulator())
    bridge.spawn(rover(1), bad := Bad(), "sim")
    bridge.spawn(rover(2), well := autopilot(), "sim")
    step(bridge, 3)
    assert well.times == [0, 20, 40]
    message = "stub autopilot failed with TypeError: my autopilot; its actuators hold until a reset"
    assert details(bridge) == [("lost", message)]
    assert bridge.status()[0].note == "its autopilot failed: TypeError: my autopilot"
    bad.broken = False
    bridge.reset()
    step(bridge, 2)
    assert bridge.status()[0].note == "" and bad.times[-2:] == [0, 20]


def test_an_exception_of_an_autopilot_stops_the_run_with_fallback_stop(
    bridge: Any, simulator: Any, autopilot: Any, step: Any
) -> None:
    class Bad(autopilot):  # type: ignore[misc]
        def offer(self, sensors: Any) -> None:
            raise OSError("gone")

    bridge.register(simulator())
    bridge.spawn(rover(1), Bad(), "sim")
    bridge.policy = TimeoutPolicy(0.03, Fallback.STOP)
    with pytest.raises(BridgeStoppedError, match="stub autopilot failed with OSError: gone; stopped as configured"):
        step(bridge)


def test_a_stop_logs_an_event(bridge: Any, simulator: Any, autopilot: Any, step: Any) -> None:
    slow = simulator("slow")
    bridge.register(slow, fallback="stop")
    step(bridge)
    slow.answers = False
    with pytest.raises(BridgeStoppedError):
        step(bridge)
    assert [event.kind for event in bridge.events] == ["timeout"]
    slow.answers = True
    mute = autopilot()
    bridge.spawn(rover(1), mute, "slow")
    bridge.policy = TimeoutPolicy(0.03, Fallback.STOP)
    mute.silent = True
    with pytest.raises(BridgeStoppedError):
        step(bridge)
    assert bridge.events[-1].detail == "no answer within 0.03 s: the stub is silent; stop"


def test_an_autopilot_faster_than_its_simulator_is_reported(
    bridge: Any, simulator: Any, autopilot: Any, step: Any
) -> None:
    bridge.register(simulator("sim", rate=50.0))
    late = simulator("late", rate=50.0)
    late.reachable = False
    bridge.register(late)
    bridge.spawn(rover(1), autopilot(period_us=20_000), "sim")
    bridge.spawn(rover(2), autopilot(period_us=4_000), "sim")
    message = "its autopilot wants sensors at 250 Hz, but adapter 'sim' measures at 50 Hz at most"
    assert tuple(bridge.events[-1]) == ("too_fast", "vehicle 2 'r2'", message)
    bridge.spawn(rover(3), autopilot(period_us=4_000), "late")
    assert bridge.counts()["too_fast"] == 1
    late.reachable = True
    while not late.is_connected:
        step(bridge)
    step(bridge)
    assert bridge.counts()["too_fast"] == 2


def test_an_autopilot_flies_one_vehicle(bridge: Any, simulator: Any, autopilot: Any) -> None:
    bridge.register(simulator())
    bridge.spawn(rover(1), flown := autopilot(), "sim")
    with pytest.raises(PaddockError, match="vehicle 2 'r2': its autopilot flies vehicle 1 'r1' already"):
        bridge.spawn(rover(2), flown, "sim")
    assert len(bridge.vehicles) == 1
