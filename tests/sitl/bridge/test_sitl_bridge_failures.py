"""Code of others that raises whatever it likes: who raises is lost, nobody else; and callers' own mistakes."""

from typing import Any

import pytest

from paddock.errors import InvalidValueError, PaddockError
from paddock.sitl.adapter import AdapterError, Placed
from paddock.sitl.autopilot.autopilot import BuiltInAutopilot
from paddock.sitl.bridge import Bridge, BridgeStoppedError, EnginePartner


def rover(number: int) -> Placed:
    return Placed(number, f"r{number}", "rover")


def details(bridge: Bridge) -> list[tuple[str, str]]:
    return [(event.kind, event.detail) for event in bridge.events.last]


def faulty(simulator: Any, method: str, error: Exception) -> Any:
    """A simulator one of whose methods raises once it is told to."""

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
    ("error", "told"),
    [
        (OSError(111, "refused"), "ConnectionRefusedError: [Errno 111] refused"),
        (ZeroDivisionError(), "ZeroDivisionError"),
    ],
)
def test_whatever_an_adapter_raises_loses_it_alone(
    bridge: Bridge, simulator: Any, pilot: Any, method: str, error: Exception, told: str
) -> None:
    bad = faulty(simulator, method, error)
    bridge.register(bad)
    bridge.register(simulator("good"))
    bridge.spawn(rover(1), pilot(), "bad")
    bridge.spawn(rover(2), well := pilot(), "good")
    bridge.step(2)
    bad.broken = True
    bridge.step(1)
    assert details(bridge)[0] == ("lost", f"{told}: free_run")
    bad.broken = False
    bridge.step(2)
    assert well.times == [0, 20, 40, 60, 80]


def test_an_adapter_that_cannot_even_be_asked_is_told_of_once(bridge: Bridge, simulator: Any, pilot: Any) -> None:
    class Odd(simulator):  # type: ignore[misc]
        odd = False

        @property
        def is_connected(self) -> bool:
            if self.odd:
                raise RuntimeError("where am I?")
            return bool(super().is_connected)

    odd = Odd("odd")
    bridge.register(odd)
    bridge.spawn(rover(1), pilot(), "odd")
    bridge.step(1)
    odd.odd = True
    bridge.step(5)
    assert details(bridge) == [("lost", "RuntimeError: where am I?: free_run")]
    odd.odd = False


def test_an_adapter_that_cannot_take_a_vehicle_is_an_error_of_its_own(
    bridge: Bridge, simulator: Any, pilot: Any
) -> None:
    bad = faulty(simulator, "add_vehicle", ValueError("no such mesh"))
    bridge.register(bad)
    bad.broken = True
    with pytest.raises(AdapterError, match="adapter 'bad' cannot take vehicle 1 'r1': ValueError: no such mesh"):
        bridge.spawn(rover(1), pilot(), "bad")
    assert bridge.vehicles == ()


def test_an_interrupt_still_ends_the_run(bridge: Bridge, simulator: Any, pilot: Any) -> None:
    class Stopped(pilot):  # type: ignore[misc]
        def offer(self, sensors: Any) -> None:
            raise KeyboardInterrupt

    bridge.register(simulator())
    bridge.spawn(rover(1), Stopped(), "sim")
    with pytest.raises(KeyboardInterrupt):
        bridge.step(1)


@pytest.mark.parametrize("method", ["offer", "collect", "next_us"])
def test_whatever_a_pilot_raises_loses_it_alone(bridge: Bridge, simulator: Any, pilot: Any, method: str) -> None:
    class Bad(pilot):  # type: ignore[misc]
        broken = True

    def call(self: Any, *arguments: Any) -> Any:
        if self.broken:
            raise TypeError("a pilot of mine")
        return getattr(super(Bad, self), method)(*arguments)

    setattr(Bad, method, call)
    bridge.register(simulator())
    bridge.spawn(rover(1), bad := Bad(), "sim")
    bridge.spawn(rover(2), well := pilot(), "sim")
    bridge.step(3)
    assert well.times == [0, 20, 40]
    said = "stub pilot failed with TypeError: a pilot of mine; its actuators hold, a reset begins it anew"
    assert details(bridge) == [("lost", said)]
    assert bridge.status()[0].note == "its pilot is lost: TypeError: a pilot of mine"
    bad.broken = False
    bridge.reset()
    bridge.step(2)
    assert bridge.status()[0].note == "" and bad.times[-2:] == [0, 20]


def test_a_pilot_that_raises_stops_the_run_where_that_is_configured(bridge: Bridge, simulator: Any, pilot: Any) -> None:
    class Bad(pilot):  # type: ignore[misc]
        def offer(self, sensors: Any) -> None:
            raise OSError("gone")

    bridge.register(simulator())
    bridge.spawn(rover(1), Bad(), "sim", fallback="stop")
    with pytest.raises(BridgeStoppedError, match="stub pilot failed with OSError: gone; stopped as configured"):
        bridge.step(1)


def test_a_stop_leaves_an_event(bridge: Bridge, simulator: Any, pilot: Any) -> None:
    slow = simulator("slow")
    bridge.register(slow, fallback="stop")
    bridge.step(1)
    slow.answers = False
    with pytest.raises(BridgeStoppedError):
        bridge.step(1)
    assert [event.kind for event in bridge.events.last] == ["timeout"]
    slow.answers = True
    mute = pilot()
    bridge.spawn(rover(1), mute, "slow", fallback="stop")
    mute.silent = True
    with pytest.raises(BridgeStoppedError):
        bridge.step(1)
    assert bridge.events.last[-1].detail == "no answer within 0.03 s: the stub was told to be silent; stop"


def test_a_pilot_that_is_faster_than_its_simulator_is_told_of(bridge: Bridge, simulator: Any, pilot: Any) -> None:
    bridge.register(simulator("sim", rate=50.0))
    late = simulator("late", rate=50.0)
    late.reachable = False
    bridge.register(late)
    bridge.spawn(rover(1), pilot(period_us=20_000), "sim")
    bridge.spawn(rover(2), pilot(period_us=4_000), "sim")
    said = "its pilot wants sensors at 250 Hz, but adapter 'sim' has new ones at 50 Hz at most"
    assert tuple(bridge.events.last[-1]) == ("too_fast", "vehicle 2 'r2'", said)
    bridge.spawn(rover(3), pilot(period_us=4_000), "late")
    assert bridge.events.counts["too_fast"] == 1
    late.reachable = True
    while not late.is_connected:
        bridge.step(1)
    bridge.step(1)
    assert bridge.events.counts["too_fast"] == 2


def test_pilots_fly_what_they_are_made_for(bridge: Bridge, pilot: Any) -> None:
    bridge.spawn(rover(1), flown := pilot())
    with pytest.raises(PaddockError, match="vehicle 2 'r2': its pilot flies vehicle 1 'r1' already"):
        bridge.spawn(rover(2), flown)
    with pytest.raises(PaddockError, match="vehicle 3 'r3': its pilot is system 1; the ids must be the same"):
        bridge.spawn(rover(3), BuiltInAutopilot(1, "rover"))
    with pytest.raises(PaddockError, match="vehicle 3 'r3' is a rover: its pilot flies a copter"):
        bridge.spawn(rover(3), BuiltInAutopilot(3, "copter"))
    assert len(bridge.vehicles) == 1


def test_mistakes_of_callers_are_told_in_one_line(bridge: Bridge, simulator: Any, pilot: Any) -> None:
    for call, message in (
        (lambda: Bridge("scaled", "a"), "scale must be a positive factor of real time, not 'a'"),  # type: ignore[arg-type]
        (lambda: Bridge(timeout="a"), "timeout must be a positive number of seconds, not 'a'"),  # type: ignore[arg-type]
        (lambda: bridge.register(5), "a SimulatorAdapter is needed, not 5"),  # type: ignore[arg-type]
        (lambda: bridge.register(simulator), "a SimulatorAdapter is needed, not the class Simulator: make one first"),
        (lambda: bridge.spawn(rover(1), pilot), "a Pilot is needed, not the class StubPilot"),
        (lambda: bridge.spawn(1, pilot()), "a Placed is needed, not 1"),  # type: ignore[arg-type]
        (lambda: bridge.step(1.5), "step takes a whole number of exchanges from 0 on, not 1.5"),  # type: ignore[arg-type]
        (lambda: bridge.step(-3), "step takes a whole number of exchanges from 0 on, not -3"),
        (lambda: bridge.run("x"), "duration must be a number of seconds from 0 on, not 'x'"),  # type: ignore[arg-type]
        (lambda: EnginePartner(bridge, "x"), "tick rate must be a positive number of Hz, not 'x'"),  # type: ignore[arg-type]
    ):
        with pytest.raises(InvalidValueError) as caught:
            call()
        assert str(caught.value).startswith(message)


def test_a_closed_bridge_says_so(simulator: Any, pilot: Any) -> None:
    bridge = Bridge()
    bridge.close()
    bridge.close()
    for call in (
        bridge.run,
        bridge.step,
        lambda: bridge.exchange(0),
        lambda: bridge.register(simulator()),
        lambda: bridge.spawn(rover(1), pilot()),
    ):
        with pytest.raises(PaddockError, match="this bridge is closed: make another one"):
            call()
