"""A bridge in lockstep: which autopilots it waits for, and fallbacks on a timeout: free_run, hold, stop."""

from collections.abc import Callable
from time import monotonic, sleep
from typing import Any

import pytest

from paddock.sitl.adapter import Placed
from paddock.sitl.adapter_link import BridgeStoppedError, Fallback, TimeoutPolicy


def rover(number: int, north: float = 0.0) -> Placed:
    return Placed(number, f"r{number}", "rover", (north, 0.0, 0.0))


def until(condition: Callable[[], bool]) -> None:
    """Wait for another thread."""
    end = monotonic() + 10.0
    while not condition():
        assert monotonic() < end, "it did not happen"
        sleep(0.001)


def kinds(bridge: Any) -> list[str]:
    return [event.kind for event in bridge.events]


def test_in_lockstep_the_world_waits_for_the_answer(bridge: Any, simulator: Any, autopilot: Any, step: Any) -> None:
    bridge.register(simulator())
    late = autopilot((1.0, 1.0))
    late.silent_for = 1
    bridge.spawn(rover(1), late, "sim")
    bridge.policy = TimeoutPolicy(30.0)
    step(bridge, 2)
    assert late.times == [0, 20] and len(bridge.events) == 0
    assert bridge.vehicles[0].sensors.true_north == pytest.approx(0.04)  # driven from the first step on


def test_an_autopilot_that_never_connected_is_not_waited_for(
    bridge: Any, simulator: Any, autopilot: Any, step: Any
) -> None:
    bridge.register(simulator())
    absent = autopilot(live=False)
    absent.silent = True
    bridge.spawn(rover(1), absent, "sim")
    bridge.policy = TimeoutPolicy(30.0)
    bridge.spawn(rover(2), autopilot(), "sim")
    step(bridge, 5)
    assert set(absent.waits) == {0.0} and absent.times == [0, 20, 40, 60, 80]
    absent.is_live, absent.silent = True, False
    step(bridge)
    assert [tuple(event) for event in bridge.events] == [("connected", "vehicle 1 'r1'", "stub answers")]
    assert [row.exchanges for row in bridge.status()] == [1, 6]


def test_free_run_continues_with_held_actuators_until_it_answers_again(
    bridge: Any, simulator: Any, autopilot: Any, step: Any
) -> None:
    bridge.register(simulator())
    lost = autopilot((0.5, 0.5))
    bridge.spawn(rover(1), lost, "sim")
    bridge.policy = TimeoutPolicy(0.03, Fallback.FREE_RUN)
    bridge.spawn(rover(2), autopilot(), "sim")
    step(bridge, 5)
    lost.silent = True
    step(bridge, 50)
    detail = "no answer within 0.03 s: the stub is silent; free_run"
    assert bridge.events == [("timeout", "vehicle 1 'r1'", detail)]
    assert "not waited for: the stub" in bridge.status()[0].note
    assert lost.waits[-1] == 0.0
    assert bridge.vehicles[0].sensors.true_north == pytest.approx(bridge.vehicles[1].sensors.true_north)
    lost.silent = False
    step(bridge)
    assert bridge.events[1:] == [("recovered", "vehicle 1 'r1'", "its autopilot answers again")]
    lost.silent_for = 1
    step(bridge)  # it is waited for again
    assert bridge.counts() == {"timeout": 1, "recovered": 1}


def test_hold_stops_time_until_the_answer(bridge: Any, simulator: Any, autopilot: Any, step: Any, ticking: Any) -> None:
    bridge.register(simulator())
    held = autopilot()
    bridge.spawn(rover(1), held, "sim")
    bridge.policy = TimeoutPolicy(0.03, Fallback.HOLD)
    step(bridge, 3)
    held.silent = True
    thread = ticking(bridge, 80_000)
    until(lambda: "timeout" in kinds(bridge))
    assert bridge.time_us == 60_000 and bridge.status()[0].note == "simulation waits: the stub is silent"
    held.silent = False
    thread.join()
    assert bridge.time_us == 80_000 and kinds(bridge) == ["timeout", "recovered"]
    assert held.times == [0, 20, 40, 60, 80]  # offered once, however long it took


def test_a_waiting_run_can_be_stopped_and_continued(
    bridge: Any, simulator: Any, autopilot: Any, step: Any, ticking: Any
) -> None:
    bridge.register(simulator())
    held, other = autopilot(), autopilot()
    bridge.spawn(rover(1), held, "sim")
    bridge.policy = TimeoutPolicy(0.03, Fallback.HOLD)
    bridge.spawn(rover(2), other, "sim")
    held.silent = True
    thread = ticking(bridge)
    until(lambda: "timeout" in kinds(bridge))
    thread.stop()
    assert bridge.time_us == 0
    held.silent = False
    bridge.running = lambda: True
    step(bridge, 2)
    assert held.times == other.times == [0, 20]


def test_stop_ends_the_run_with_one_line(bridge: Any, simulator: Any, autopilot: Any, step: Any) -> None:
    bridge.register(simulator())
    mute = autopilot()
    mute.silent = True
    bridge.spawn(rover(1), mute, "sim")
    bridge.policy = TimeoutPolicy(0.03, Fallback.STOP)
    line = r"vehicle 1 'r1' \(stub\): no answer within 0.03 s: the stub is silent; stopped as configured"
    with pytest.raises(BridgeStoppedError, match=line):
        step(bridge)


def test_a_waiting_run_can_be_reset(bridge: Any, simulator: Any, autopilot: Any, step: Any, ticking: Any) -> None:
    bridge.register(simulator())
    held = autopilot()
    bridge.spawn(rover(1), held, "sim")
    bridge.policy = TimeoutPolicy(0.03, Fallback.HOLD)
    step(bridge, 10)
    held.silent = True
    thread = ticking(bridge, 300_000)
    until(lambda: "timeout" in kinds(bridge))
    bridge.reset()
    held.silent = False
    thread.join()
    assert bridge.time_us == 300_000 and bridge.links["sim"].adapter.sim_time_us == 300_000
    assert held.times == [*range(0, 220, 20), *range(0, 320, 20)]
