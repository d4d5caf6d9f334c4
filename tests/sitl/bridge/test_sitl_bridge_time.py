"""Lockstep, free and scaled time: who is waited for, when pilots are due, what a deadline does, how it ends."""

import threading
from collections.abc import Callable
from time import monotonic, sleep
from typing import Any

import numpy as np
import pytest

from paddock.engine.pipeline import HaltedError
from paddock.errors import InvalidValueError
from paddock.sitl.adapter import Placed
from paddock.sitl.bridge import Bridge, BridgeStoppedError, EnginePartner, timing
from paddock.sitl.bridge.timing import Pace, TimeMode


def rover(number: int, north: float = 0.0) -> Placed:
    return Placed(number, f"r{number}", "rover", (north, 0.0, 0.0))


def until(condition: Callable[[], bool]) -> None:
    """Wait for another thread."""
    end = monotonic() + 10.0
    while not condition():
        assert monotonic() < end, "it did not happen"
        sleep(0.001)


def kinds(bridge: Bridge) -> list[str]:
    return [event.kind for event in bridge.events.last]


def test_pilots_are_offered_sensors_at_their_own_periods(bridge: Bridge, simulator: Any, pilot: Any) -> None:
    bridge.register(simulator(rate=1000.0))
    quick, slow, odd = pilot(period_us=10_000), pilot(period_us=40_000), pilot(period_us=25_000)
    for number, flown in enumerate((quick, slow, odd), 1):
        bridge.spawn(rover(number), flown, "sim")
    bridge.run(until_us=100_000)
    assert quick.times == [0, 10, 20, 30, 40, 50, 60, 70, 80, 90]
    assert slow.times == [0, 40, 80]
    assert odd.times == [0, 25, 50, 75]
    assert bridge.time_us == 100_000 and bridge.adapter("sim").sim_time_us == 100_000


def test_offers_and_answers_go_by_id(bridge: Bridge, simulator: Any, pilot: Any) -> None:
    log: list[tuple[str, int]] = []

    class Told(pilot):  # type: ignore[misc, valid-type]
        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

        def offer(self, sensors: Any) -> None:
            log.append(("offer", self.number))

        def collect(self, timeout: float) -> Any:
            log.append(("collect", self.number))
            return self.commands

    bridge.register(simulator("b"))
    bridge.register(simulator("a"))
    for number, adapter in ((9, "a"), (1, "b"), (5, "a"), (3, "b")):
        bridge.spawn(rover(number), Told(number), adapter)
    bridge.step(1)
    ids = [1, 3, 5, 9]  # everybody is offered first: other processes work at the same time
    assert log == [("offer", number) for number in ids] + [("collect", number) for number in ids]


def test_in_lockstep_the_world_waits_for_the_answer(bridge: Bridge, simulator: Any, pilot: Any) -> None:
    bridge.register(simulator())
    late = pilot((1.0, 1.0))
    late.silent_for = 1
    bridge.spawn(rover(1), late, "sim", timeout=30.0)
    bridge.step(2)
    assert late.times == [0, 20] and bridge.events.counts.total() == 0
    assert bridge.vehicle(1).sensors.true_north == pytest.approx(0.04)  # driven from the first step on


def test_who_has_never_spoken_is_not_waited_for(bridge: Bridge, simulator: Any, pilot: Any) -> None:
    bridge.register(simulator())
    absent = pilot(live=False)
    absent.silent = True
    bridge.spawn(rover(1), absent, "sim", timeout=30.0)
    bridge.spawn(rover(2), pilot(), "sim")
    bridge.step(5)
    assert set(absent.waits) == {0.0} and absent.times == [0, 20, 40, 60, 80]
    absent.is_live, absent.silent = True, False
    bridge.step(1)
    assert [tuple(event) for event in bridge.events.last] == [("connected", "vehicle 1 'r1'", "stub answers")]
    assert [row.exchanges for row in bridge.status()] == [1, 6]


def test_free_run_goes_on_with_held_actuators_until_it_speaks_again(bridge: Bridge, simulator: Any, pilot: Any) -> None:
    told: list[tuple[str, str, str]] = []
    bridge.events.report = lambda *event: told.append(event)
    bridge.register(simulator())
    lost = pilot((0.5, 0.5))
    bridge.spawn(rover(1), lost, "sim", fallback="free_run")
    bridge.spawn(rover(2), pilot(), "sim")
    bridge.step(5)
    lost.silent = True
    bridge.step(50)
    detail = "no answer within 0.03 s: the stub was told to be silent; free_run"
    assert told == [("timeout", "vehicle 1 'r1'", detail)]
    assert "not waited for: the stub" in bridge.status()[0].note
    assert lost.waits[-1] == 0.0
    assert bridge.vehicle(1).sensors.true_north == pytest.approx(bridge.vehicle(2).sensors.true_north)
    lost.silent = False
    bridge.step(1)
    assert told[1:] == [("recovered", "vehicle 1 'r1'", "its pilot answers again")]
    lost.silent_for = 1
    bridge.step(1)  # it is waited for again
    assert bridge.events.counts == {"timeout": 1, "recovered": 1}


def test_hold_stands_still_until_the_answer_comes(bridge: Bridge, simulator: Any, pilot: Any) -> None:
    bridge.register(simulator())
    held = pilot()
    bridge.spawn(rover(1), held, "sim", fallback="hold")
    bridge.step(3)
    held.silent = True
    ticking = threading.Thread(target=bridge.step, args=(2,))
    ticking.start()
    until(lambda: "timeout" in kinds(bridge))
    assert bridge.time_us == 60_000 and bridge.status()[0].note.startswith("the world waits: ")
    held.silent = False
    ticking.join(10.0)
    assert bridge.time_us == 100_000 and kinds(bridge) == ["timeout", "recovered"]
    assert held.times == [0, 20, 40, 60, 80]  # offered once, however long it took


def test_a_world_that_waits_can_be_stopped_and_goes_on_with_the_same_question(
    bridge: Bridge, simulator: Any, pilot: Any
) -> None:
    bridge.register(simulator())
    held, other = pilot(), pilot()
    bridge.spawn(rover(1), held, "sim", fallback="hold")
    bridge.spawn(rover(2), other, "sim")
    held.silent = True
    ticking = threading.Thread(target=bridge.run)
    ticking.start()
    until(lambda: "timeout" in kinds(bridge))
    bridge.stop()
    ticking.join(10.0)
    assert not ticking.is_alive() and bridge.time_us == 0
    held.silent = False
    bridge.step(2)
    assert held.times == other.times == [0, 20]


def test_a_vehicle_that_the_world_waits_for_can_be_taken_away(bridge: Bridge, simulator: Any, pilot: Any) -> None:
    bridge.register(simulator())
    held = pilot()
    held.silent = True
    bridge.spawn(rover(1), held, "sim", fallback="hold")
    bridge.spawn(rover(2), pilot(), "sim")
    ticking = threading.Thread(target=bridge.step, args=(3,))
    ticking.start()
    until(lambda: "timeout" in kinds(bridge))
    bridge.despawn(1)
    ticking.join(10.0)
    assert bridge.time_us == 60_000


def test_stop_ends_the_run_with_one_line(bridge: Bridge, simulator: Any, pilot: Any) -> None:
    bridge.register(simulator())
    mute = pilot()
    mute.silent = True
    bridge.spawn(rover(1), mute, "sim", fallback="stop")
    line = r"vehicle 1 'r1' \(stub\): no answer within 0.03 s: the stub was told to be silent; stopped as configured"
    with pytest.raises(BridgeStoppedError, match=line):
        bridge.run(1.0)


def test_free_time_waits_for_nobody(simulator: Any, pilot: Any) -> None:
    with Bridge(mode="free") as bridge:
        sim = simulator()
        bridge.register(sim)
        mute, heard = pilot((1.0, 1.0)), pilot()
        bridge.spawn(rover(1), mute, "sim")
        bridge.spawn(rover(2), heard, "sim")
        bridge.step(1)
        mute.silent = True
        sim.unanswered = 1
        bridge.step(10)
        assert set(mute.waits) == set(heard.waits) == {0.0}
        assert bridge.events.counts.total() == 0
        assert sim.sim_time_us == 200_000  # one of eleven was not answered
        assert heard.times == [0, 20, *range(60, 220, 20)]  # and nothing new was shown then
        assert bridge.vehicle(1).sensors.true_north == pytest.approx(0.36, abs=1e-9)  # the last actuators count


def test_pacing_follows_the_wall(monkeypatch: pytest.MonkeyPatch) -> None:
    wall = [100.0]
    monkeypatch.setattr(timing, "monotonic", lambda: wall[0])
    scaled, free = Pace(TimeMode.SCALED, 4.0, 1_000_000), Pace(TimeMode.FREE, 4.0, 1_000_000)
    lockstep = Pace(TimeMode.LOCKSTEP, 4.0, 1_000_000)
    assert scaled.early(1_020_000) == pytest.approx(0.005)
    assert free.early(1_020_000) == pytest.approx(0.020)
    assert lockstep.early(9_000_000) == 0.0
    wall[0] = 100.9  # the paced ones are late: 0.25 s at most are caught up
    assert (scaled.early(1_020_000), scaled.slips) == (0.0, 1)
    assert scaled.early(1_040_000) == pytest.approx(0.005)
    assert free.early(1_800_000) == 0.0 and free.slips == 0


def test_a_scaled_run_covers_its_time_and_naps_in_between(
    simulator: Any, pilot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    naps: list[int] = []
    monkeypatch.setattr(timing, "monotonic", lambda: 0.005 * len(naps))  # only naps take time
    with Bridge(mode="scaled", scale=2.0) as bridge:
        bridge.meanwhile.append(lambda: naps.append(bridge.time_us))
        bridge.register(simulator())
        flown = pilot()
        bridge.spawn(rover(1), flown, "sim")
        bridge.run(duration=0.1)
        assert bridge.time_us == 100_000 and flown.times == [0, 20, 40, 60, 80]
        assert 10 <= len(naps) <= 12  # 0.1 s at twice the pace are 10 naps of 5 ms, but for rounding
        bridge.run(until_us=140_000)
        assert bridge.time_us == 140_000
        with pytest.raises(InvalidValueError, match="duration must be a number of seconds from 0 on, not nan"):
            bridge.run(duration=float("nan"))


def test_hooks_follow_every_exchange(bridge: Bridge) -> None:
    times: list[int] = []
    bridge.after_exchange.append(times.append)
    bridge.step(3)  # with nobody there time passes too: a ground station may ask
    assert times == [0, 20_000, 40_000]


def test_nan_of_one_pilot_holds_its_last_actuators_and_no_others(bridge: Bridge, simulator: Any, pilot: Any) -> None:
    bridge.register(simulator())
    mad, sane = pilot((0.5, 0.5)), pilot((0.5, 0.5))
    bridge.spawn(rover(1), mad, "sim")
    bridge.spawn(rover(2), sane, "sim")
    bridge.step(10)
    mad.commands.motors[0] = np.nan
    sane.commands.motors[:2] = 1.0
    bridge.step(25)
    assert kinds(bridge) == ["rejected"]  # told once
    assert "vehicle 1 'r1'" in bridge.events.last[0].subject
    north = [vehicle.sensors.true_north for vehicle in bridge.vehicles]
    assert north == pytest.approx([34 * 0.02, 10 * 0.02 + 24 * 0.04])


def test_a_reset_repeats_the_run_bit_for_bit(bridge: Bridge, simulator: Any, pilot: Any) -> None:
    bridge.register(simulator(noise=True))
    bridge.spawn(rover(1), flown := pilot((0.3, 0.7)), "sim")
    bridge.step(40)
    first, flown.offers = flown.offers, []
    bridge.reset()
    assert bridge.time_us == 0 and flown.resets == 1 and bridge.status()[0].exchanges == 0
    bridge.step(40)
    assert list(map(repr, flown.offers)) == list(map(repr, first))
    assert bridge.adapter("sim").is_connected and bridge.adapter("sim").connects == 1  # type: ignore[attr-defined]


def test_a_run_that_waits_can_be_reset_and_goes_on_from_the_beginning(
    bridge: Bridge, simulator: Any, pilot: Any
) -> None:
    bridge.register(simulator())
    held = pilot()
    bridge.spawn(rover(1), held, "sim", fallback="hold")
    bridge.step(10)
    held.silent = True
    ticking = threading.Thread(target=bridge.run, kwargs={"until_us": 300_000})
    ticking.start()
    until(lambda: "timeout" in kinds(bridge))
    bridge.reset()
    held.silent = False
    ticking.join(10.0)
    assert bridge.time_us == 300_000 and bridge.adapter("sim").sim_time_us == 300_000
    assert held.times == [*range(0, 220, 20), *range(0, 300, 20)]


def test_runs_do_not_depend_on_the_order_in_which_all_came(simulator: Any, pilot: Any) -> None:
    seen = []
    for order in ((1, 2, 3, 4), (4, 2, 3, 1)):
        with Bridge() as bridge:
            for name in ("odd", "even") if order[0] == 1 else ("even", "odd"):
                bridge.register(simulator(name, noise=True))
            pilots = {number: pilot((0.1 * number, 0.2)) for number in order}
            for number in order:
                bridge.spawn(rover(number), pilots[number], "odd" if number % 2 else "even")
            bridge.step(30)
            seen.append([list(map(repr, pilots[number].offers)) for number in (1, 2, 3, 4)])
    assert seen[0] == seen[1]


# beside an engine


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
