"""Simulators that are late, lost, reconnected, or unreachable."""

from collections.abc import Callable
from time import monotonic, sleep
from typing import Any

import pytest

from paddock.sitl import adapter_link
from paddock.sitl.adapter import AdapterError, Placed
from paddock.sitl.adapter_link import BridgeStoppedError
from paddock.sitl.bridge import Bridge


def rover(number: int, north: float = 0.0) -> Placed:
    return Placed(number, f"r{number}", "rover", (north, 0.0, 0.0))


def until(condition: Callable[[], bool]) -> None:
    """Wait for another thread, or for something that needs wall time."""
    end = monotonic() + 60.0
    while not condition():
        assert monotonic() < end, "timed out"
        sleep(0.002)


def kinds(bridge: Any) -> list[str]:
    return [event.kind for event in bridge.events]


@pytest.fixture
def step_until(step: Any) -> Callable[[Bridge, Callable[[], bool]], None]:
    """Let time pass until something happens."""

    def run(bridge: Any, condition: Callable[[], bool]) -> None:
        def once() -> bool:
            step(bridge)
            return condition()

        until(once)

    return run


def test_a_simulator_that_does_not_step_is_skipped_until_it_recovers(
    bridge: Any, simulator: Any, autopilot: Any, step: Any
) -> None:
    slow, other = simulator("slow"), simulator("other")
    bridge.register(slow)
    bridge.register(other)
    bridge.spawn(rover(1), flown := autopilot(), "slow")
    bridge.spawn(rover(2), autopilot(), "other")
    step(bridge, 2)
    slow.answers = False
    step(bridge, 5)
    assert kinds(bridge) == ["timeout"]
    assert bridge.events[0].detail.startswith("did not step within 0.03 s: is the simulator running")
    assert bridge.status()[0].note == "adapter 'slow' does not answer"
    assert (slow.sim_time_us, other.sim_time_us) == (20_000, 120_000)
    slow.answers = True
    step(bridge, 2)
    assert kinds(bridge) == ["timeout", "recovered"] and bridge.status()[0].note == ""
    assert slow.steps == [20_000] * 3  # it does not catch up
    assert flown.times == [0, 20, 140, 160]  # but its sensors have bridge time


def test_with_hold_time_waits_for_a_simulator(
    bridge: Any, simulator: Any, autopilot: Any, step: Any, ticking: Any
) -> None:
    slow = simulator()
    bridge.register(slow, fallback="hold")
    bridge.spawn(rover(1), autopilot(), "sim")
    slow.unanswered = 4
    step(bridge, 3)
    assert kinds(bridge) == ["timeout", "recovered"] and slow.sim_time_us == 40_000
    slow.answers = False
    thread = ticking(bridge)
    until(lambda: bridge.counts()["timeout"] == 2)
    thread.stop()
    assert bridge.time_us == 40_000


def test_with_stop_a_silent_simulator_ends_the_run(bridge: Any, simulator: Any, step: Any) -> None:
    slow = simulator()
    bridge.register(slow, fallback="stop")
    step(bridge)
    slow.answers = False
    with pytest.raises(BridgeStoppedError, match=r"adapter 'sim' did not step within 0\.03 s"):
        step(bridge)


def test_a_simulator_can_start_late(bridge: Any, simulator: Any, autopilot: Any, step: Any, step_until: Any) -> None:
    late = simulator()
    late.reachable = False
    bridge.register(late, fallback="stop")  # an autopilot that never connected is not waited for
    bridge.spawn(rover(1), flown := autopilot(), "sim")
    step(bridge, 10)
    assert kinds(bridge) == ["unreachable"] and "connection refused" in bridge.events[0].detail
    assert bridge.status()[0].note == "adapter 'sim' is not connected: sim: connection refused"
    assert flown.offers == [] and bridge.time_us == 180_000
    late.reachable = True
    step_until(bridge, lambda: len(flown.offers) > 1)
    assert late.vehicles == (1,)
    assert flown.times[0] >= 200.0  # in bridge time


def test_a_lost_simulator_reconnects_with_its_vehicles(
    bridge: Any, simulator: Any, autopilot: Any, step: Any, step_until: Any
) -> None:
    sim = simulator()
    bridge.register(sim)
    bridge.spawn(rover(3), flown := autopilot(), "sim")
    step(bridge, 10)
    sim.crash()
    step(bridge, 10)
    assert kinds(bridge) == ["lost"] and bridge.events[0].detail == "connection lost: free_run"
    assert len(flown.offers) == 10
    sim.reachable = True
    step_until(bridge, lambda: len(flown.offers) > 12)
    assert kinds(bridge) == ["lost", "connected"] and sim.vehicles == (3,)
    assert flown.times == sorted(set(flown.times))  # its own time began at 0 again
    assert flown.offers[10].true_north == pytest.approx(0.0)


def test_a_lost_simulator_holds_or_stops_the_run(
    bridge: Any, simulator: Any, autopilot: Any, step: Any, ticking: Any
) -> None:
    waited, needed = simulator("waited"), simulator("needed")
    bridge.register(waited, fallback="hold")
    bridge.spawn(rover(1), autopilot(), "waited")
    step(bridge, 2)
    waited.crash()
    thread = ticking(bridge, 60_000)
    until(lambda: "lost" in kinds(bridge) and waited.connects > 1)
    assert bridge.time_us == 20_000
    waited.reachable = True
    thread.join()
    assert bridge.time_us == 60_000 and kinds(bridge)[-1] == "connected"
    bridge.register(needed, fallback="stop")
    step(bridge)
    needed.crash()
    with pytest.raises(BridgeStoppedError, match="adapter 'needed': connection lost; stopped as configured"):
        step(bridge)


def test_reconnect_intervals_double(simulator: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    wall, sim = [0.0], simulator()
    monkeypatch.setattr(adapter_link, "monotonic", lambda: wall[0])
    sim.reachable = False
    attempts, trying = [], adapter_link.Reconnect(sim)
    for tenth in range(200):
        wall[0] = tenth / 10.0
        before = trying.attempts
        assert not trying.poll()
        trying.give_up()
        assert not trying.poll()
        if trying.attempts > before:
            attempts.append(wall[0])
    assert attempts == [0.3, 0.8, 1.8, 3.8, 7.8, 15.8]  # pauses of 0.25 s, 0.5, 1, 2, 4, 8
    assert trying.problem == "sim: connection refused"


def test_a_restarted_simulator_continues_in_bridge_time(bridge: Any, simulator: Any, autopilot: Any, step: Any) -> None:
    sim = simulator()
    bridge.register(sim)
    bridge.spawn(rover(1), flown := autopilot(), "sim")
    step(bridge, 10)
    sim.reset()  # a user pressed its button
    step(bridge, 10)
    assert kinds(bridge) == ["restarted"]
    assert bridge.events[0].detail == "its time fell from 180000 us to 0 us"
    assert flown.times == sorted(set(flown.times)) and flown.times[-1] == 380


def test_a_failing_adapter_is_disconnected_and_retried(
    bridge: Any, simulator: Any, autopilot: Any, step: Any, step_until: Any
) -> None:
    class Fails(simulator):  # type: ignore[misc, valid-type]
        faulty = False

        def receive_block(self, vehicles: Any, block: Any) -> None:
            if self.faulty:
                raise AdapterError("garbage on the wire")
            super().receive_block(vehicles, block)

    bad, good = Fails("bad"), simulator("good")
    bridge.register(bad)
    bridge.register(good)
    bridge.spawn(rover(1), autopilot(), "bad")
    bridge.spawn(rover(2), well := autopilot(), "good")
    step(bridge, 3)
    bad.faulty = True
    step(bridge, 3)
    assert "lost" in kinds(bridge) and "garbage on the wire" in bridge.events[0].detail
    assert well.times == [0, 20, 40, 60, 80, 100]
    bad.faulty = False
    step_until(bridge, lambda: bridge.status()[0].note == "" and bad.is_connected)


def test_a_vehicle_refused_by_a_late_simulator_is_reported(
    bridge: Any, simulator: Any, autopilot: Any, step_until: Any
) -> None:
    late = simulator()
    late.reachable = False
    bridge.register(late)
    bridge.spawn(Placed(1, "c", "copter"), autopilot(), "sim")
    bridge.spawn(rover(2), flown := autopilot(), "sim")
    late.reachable = True
    step_until(bridge, lambda: len(flown.offers) > 2)
    assert late.vehicles == (2,)
    assert bridge.status()[0].note == "adapter 'sim' supports craft 'rover' only, not 'copter'"
    assert "rejected" in kinds(bridge)


def test_a_simulator_without_lockstep_is_followed(bridge: Any, simulator: Any, autopilot: Any, step: Any) -> None:
    class RealTime(simulator):  # type: ignore[misc, valid-type]
        supports_lockstep = False

        def step(self, dt_us: int, timeout: float = 1.0) -> bool:
            return bool(super().step(dt_us + 3_000, timeout))  # it was a little later than that

    sim = RealTime()
    bridge.register(sim)
    bridge.spawn(rover(1), flown := autopilot(), "sim")
    step(bridge, 4)
    assert sim.sim_time_us == 3 * 23_000
    assert flown.times == [0, 20, 40, 60]


def test_a_coarse_simulator_keeps_up_on_average(bridge: Any, simulator: Any, autopilot: Any, step: Any) -> None:
    class Frames(simulator):  # type: ignore[misc, valid-type]
        def step(self, dt_us: int, timeout: float = 1.0) -> bool:
            return bool(super().step(-(-dt_us // 8_333) * 8_333, timeout))  # whole frames of 120 Hz

    sim = Frames(rate=1000.0)
    bridge.register(sim)
    bridge.spawn(rover(1), autopilot(), "sim")
    step(bridge, 301)
    assert 0 <= sim.sim_time_us - 6_000_000 < 8_333
