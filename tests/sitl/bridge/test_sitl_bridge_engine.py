"""A bridge beside an engine: when a tick is due, what is stepped, and how an engine that waits is stopped."""

from typing import Any

import pytest

from paddock.engine.pipeline import HaltedError
from paddock.errors import InvalidValueError
from paddock.sitl.adapter import Placed
from paddock.sitl.bridge import Bridge, EnginePartner


def rover(number: int, north: float = 0.0) -> Placed:
    return Placed(number, f"r{number}", "rover", (north, 0.0, 0.0))


def test_ticks_are_due_when_a_pilot_is(bridge: Bridge, simulator: Any, pilot: Any) -> None:
    bridge.register(simulator(rate=1000.0))
    bridge.spawn(rover(1), pilot(period_us=2_500), "sim")
    partner = EnginePartner(bridge, 1000.0)
    ticks, tick = [], 0
    while tick < 12:
        tick = partner.due(tick)
        ticks.append(tick)
        partner.exchange(tick)
        tick += 1
    assert ticks == [0, 3, 5, 8, 10, 13]  # 2.5 ms in ticks of 1 ms
    assert bridge.adapter("sim").sim_time_us == 13_000  # what is not hosted follows the engine


def test_tick_times_are_exact_where_a_tick_is_no_whole_number_of_us() -> None:
    with Bridge() as bridge:
        partner = EnginePartner(bridge, 1200.0)
        bridge.step(1)
        assert [partner.time_us(tick) for tick in (1, 2, 3, 1200)] == [833, 1667, 2500, 1_000_000]
        assert partner.due(25) == 48  # the next idle period ends at 40 ms
        with pytest.raises(InvalidValueError, match="tick rate"):
            EnginePartner(bridge, 0.0)


def test_a_hosted_world_is_not_stepped_and_may_go_back(bridge: Bridge, simulator: Any, pilot: Any) -> None:
    class World(simulator):  # type: ignore[misc, valid-type]
        hosted = True

    world = World("world")
    bridge.register(world)
    bridge.spawn(rover(1), flown := pilot(), "world")
    partner = EnginePartner(bridge, 50.0)
    for tick in range(5):
        partner.exchange(tick)
        world.step(20_000)  # the engine moves it
    assert world.steps == [20_000] * 5 and flown.times == [0, 20, 40, 60, 80]
    world.reset()
    assert partner.due(0) == 0
    partner.exchange(0)
    assert flown.times[-1] == 0.0 and partner.due(1) == 1


def test_an_engine_that_is_to_stop_is_not_kept(bridge: Bridge, simulator: Any, pilot: Any) -> None:
    bridge.register(simulator())
    mute = pilot()
    mute.silent = True
    bridge.spawn(rover(1), mute, "sim", fallback="hold")
    bridge.go_on = lambda: bridge.events.counts["timeout"] == 0
    partner = EnginePartner(bridge, 1000.0)
    with pytest.raises(HaltedError):
        partner.exchange(0)
    assert partner.due(0) == 0
    bridge.go_on, mute.silent = (lambda: True), False
    partner.exchange(0)
    assert partner.due(1) == 20 and mute.times == [0]
