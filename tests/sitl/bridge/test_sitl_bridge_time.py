"""Time: the bridge as a partner of the engine's barrier; lockstep, free-running and scaled."""

import threading
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.engine.pacing import LATE
from paddock.engine.pipeline import HaltedError
from paddock.engine.simulation import Simulation
from paddock.errors import UnknownNameError
from paddock.sitl.adapter import Placed
from paddock.sitl.adapter_link import Fallback, TimeoutPolicy
from paddock.sitl.bridge import Bridge

RATE = 1000


def rover(number: int, north: float = 0.0) -> Placed:
    return Placed(number, f"r{number}", "rover", (north, 0.0, 0.0))


def kinds(bridge: Any) -> list[str]:
    return [event.kind for event in bridge.events]


# beside an engine -----------------------------------------------------------------------------------------------------


@pytest.fixture
def flown(simulator: Any, make_bridge: Any) -> Iterator[Callable[..., tuple[Simulation, Bridge]]]:
    """`flown(autopilot, mode)`: a simulation at 1 kHz, and a bridge at its barrier with one rover in a simulator."""
    made: list[Any] = []

    def make(autopilot: Any, mode: str = "lockstep", **options: Any) -> tuple[Simulation, Bridge]:
        sim = paddock.load({"clock": {"rate": RATE}, "vehicles": []})
        bridge = make_bridge(
            mode,
            tick_rate=RATE,
            running=lambda: not sim.engine.thread.stopping,
            while_waiting=[sim.engine.thread.serve_reads],
            **options,
        )
        made.extend((bridge, sim))
        bridge.register(simulator(rate=1000.0))
        bridge.spawn(rover(1), autopilot, "sim")
        sim.vehicles.autopilots.join(bridge)
        return sim, bridge

    yield make
    for vehicle in made:
        vehicle.close()


def test_in_lockstep_no_tick_passes_an_unanswered_autopilot(autopilot: Any, flown: Any) -> None:
    offered, answered = [], []

    class Slow(autopilot):  # type: ignore[misc, valid-type]
        """Answers each offer at the fourth poll."""

        def offer(self, sensors: Any) -> None:
            super().offer(sensors)
            offered.append(sim.tick)
            self.silent_for = 3

        def collect(self, timeout: float) -> Any:
            commands = super().collect(0.0)
            if commands is not None:
                answered.append(sim.tick)
            return commands

    sim, bridge = flown(slow := Slow(), timeout=600.0)
    sim.step(1000)
    assert sim.tick == 1000 and offered == list(range(0, 1000, 20))
    assert answered == offered  # the tick did not move between the offer and the answer
    assert len(slow.waits) == 4 * len(offered) and len(bridge.events) == 0


def test_in_lockstep_the_tick_stands_still_until_another_thread_answers(autopilot: Any, flown: Any) -> None:
    polls = threading.Semaphore(0)

    class Elsewhere(autopilot):  # type: ignore[misc, valid-type]
        def collect(self, timeout: float) -> Any:
            commands = super().collect(0.0)
            polls.release()
            return commands

    held = Elsewhere()
    sim, _ = flown(held, timeout=600.0)
    held.silent = True
    stepping = threading.Thread(target=sim.step, args=(50,))
    stepping.start()
    for _ in range(20):  # however often it is polled
        assert polls.acquire(timeout=60.0) and sim.tick == 0
    held.silent = False
    stepping.join(60.0)
    assert sim.tick == 50 and held.times == [0, 20, 40]


def test_free_running_never_waits(autopilot: Any, flown: Any) -> None:
    mute = autopilot((1.0, 1.0))
    sim, bridge = flown(mute, "free", timeout=600.0)
    sim.step(1)
    mute.silent = True
    bridge.links["sim"].adapter.unanswered = 1
    sim.step(999)
    assert sim.tick == 1000 and len(mute.waits) == 50
    assert set(mute.waits) == {0.0} and len(bridge.events) == 0
    assert bridge.links["sim"].adapter.sim_time_us == 960_000  # one of 49 steps was not answered
    assert mute.times == [0, *range(40, 1000, 20)]  # without new sensors nothing is offered
    assert bridge.vehicles[0].sensors.true_north == pytest.approx(2.0 * 0.96)  # the last commands hold


@pytest.mark.parametrize("pace", [2.0, 20.0])
def test_scaled_time_keeps_the_ratio_that_the_engine_reports(autopilot: Any, flown: Any, pace: float) -> None:
    exchanges: list[tuple[float, float]] = []  # wall s, simulated s

    class Timed(autopilot):  # type: ignore[misc, valid-type]
        def offer(self, sensors: Any) -> None:
            super().offer(sensors)
            exchanges.append((monotonic(), sensors.time_us * 1e-6))

    seconds = 0.4 * pace
    sim, bridge = flown(timed := Timed(), "scaled", timeout=600.0)
    start = monotonic()
    sim.run(until=seconds, pace=pace)
    assert sim.tick == round(seconds * RATE) and timed.waits == [0.02] * len(exchanges)  # waited for, as in lockstep
    wall, simulated = np.array(exchanges).T
    late = wall - start - simulated / pace
    assert late.min() > -0.02  # never ahead of its pace, however busy the machine
    assert late[:-2].max() < LATE + 0.1 or sim.clock.slips > 0  # a run that cannot keep up reports it
    assert len(bridge.events) == 0


def test_an_autopilot_that_is_held_lets_the_engine_stop(autopilot: Any, flown: Any) -> None:
    mute = autopilot()
    sim, bridge = flown(mute, timeout=0.03, fallback="hold")
    mute.silent = True
    running = threading.Thread(target=sim.run, kwargs={"pace": 0.0})
    running.start()
    while not bridge.counts()["timeout"]:
        bridge.status()  # takes its turn with the thread that waits
    sim.clock.stop()
    running.join(60.0)
    assert not running.is_alive() and sim.tick == 0
    mute.silent = False
    sim.step(30)
    assert mute.times == [0, 20]  # offered once


def test_unknown_modes_and_fallbacks_are_refused(simulator: Any, bridge: Any) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown time mode 'freee'; did you mean 'free'\?$"):
        Bridge("freee")
    with pytest.raises(UnknownNameError, match=r"unknown fallback 'halt'; valid: free_run, hold, stop$"):
        Bridge(fallback="halt")
    with pytest.raises(UnknownNameError, match=r"unknown fallback 'holds'; did you mean 'hold'\?$"):
        bridge.register(simulator(), fallback="holds")
    assert bridge.links == {}


# without an engine ----------------------------------------------------------------------------------------------------


def test_ticks_are_due_when_an_autopilot_is(bridge: Any, simulator: Any, autopilot: Any) -> None:
    bridge.register(simulator(rate=1000.0))
    bridge.spawn(rover(1), autopilot(period_us=2_500), "sim")
    ticks, tick = [], 0
    while tick < 12:
        tick = bridge.due(tick)
        ticks.append(tick)
        bridge.exchange(tick)
        tick += 1
    assert ticks == [0, 3, 5, 8, 10, 13]  # 2.5 ms in ticks of 1 ms
    assert bridge.links["sim"].adapter.sim_time_us == 13_000  # a simulator that is not hosted follows the engine


def test_the_next_tick_is_asked_once_and_changes_with_the_vehicles(
    bridge: Any, simulator: Any, autopilot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bridge.register(simulator(rate=1000.0))
    bridge.spawn(rover(1), autopilot(period_us=20_000), "sim")
    bridge.exchange(0)
    with monkeypatch.context() as patch:
        asked: list[int] = []
        patch.setattr(bridge, "tick_time_us", lambda tick: asked.append(tick) or tick * 1000)
        assert [bridge.due(tick) for tick in (1, 1, 7, 20)] == [20] * 4
        assert set(asked) <= {1, 20}  # ticks in between need no look at the vehicles
    bridge.spawn(rover(2), autopilot(period_us=5_000), "sim")
    assert bridge.due(7) == 7  # a new vehicle is due at once
    bridge.exchange(7)
    assert bridge.due(8) == 10  # the next multiple of its period
    bridge.reset()
    assert bridge.due(8) == 8 and bridge.due(0) == 0


def test_tick_times_are_exact_where_a_tick_is_no_whole_number_of_us(make_bridge: Any) -> None:
    with make_bridge(tick_rate=1200.0) as bridge:
        bridge.exchange(0)
        assert [bridge.tick_time_us(tick) for tick in (1, 2, 3, 1200)] == [833, 1667, 2500, 1_000_000]
        assert bridge.due(1) == 24  # an idle period ends at 20 ms
        bridge.exchange(24)
        assert bridge.due(25) == 48


def test_a_hosted_world_is_not_stepped_and_may_go_back(simulator: Any, autopilot: Any, make_bridge: Any) -> None:
    class World(simulator):  # type: ignore[misc, valid-type]
        hosted = True

    with make_bridge(tick_rate=50.0) as bridge:
        bridge.register(world := World("world"))
        bridge.spawn(rover(1), flown := autopilot(), "world")
        for tick in range(5):
            bridge.exchange(tick)
            world.step(20_000)  # the engine moves it
        assert world.steps == [20_000] * 5 and flown.times == [0, 20, 40, 60, 80]
        world.reset()
        assert bridge.due(0) == 0
        bridge.exchange(0)
        assert flown.times[-1] == 0.0 and bridge.due(1) == 1


def test_an_engine_that_stops_interrupts_the_exchange(bridge: Any, simulator: Any, autopilot: Any) -> None:
    bridge.register(simulator())
    mute = autopilot()
    mute.silent = True
    bridge.spawn(rover(1), mute, "sim")
    bridge.policy = TimeoutPolicy(0.03, Fallback.HOLD)
    bridge.running = lambda: bridge.counts()["timeout"] == 0
    with pytest.raises(HaltedError):
        bridge.exchange(0)
    assert bridge.due(0) == 0
    bridge.running, mute.silent = (lambda: True), False
    bridge.exchange(0)
    assert bridge.due(1) == 20 and mute.times == [0]


def test_autopilots_are_offered_sensors_at_their_own_periods(
    bridge: Any, simulator: Any, autopilot: Any, step: Any
) -> None:
    bridge.register(simulator(rate=1000.0))
    quick, slow, odd = autopilot(period_us=10_000), autopilot(period_us=40_000), autopilot(period_us=25_000)
    for number, flown in enumerate((quick, slow, odd), 1):
        bridge.spawn(rover(number), flown, "sim")
    while bridge.time_us < 90_000:
        step(bridge)
    assert quick.times == [0, 10, 20, 30, 40, 50, 60, 70, 80, 90]
    assert slow.times == [0, 40, 80]
    assert odd.times == [0, 25, 50, 75]
    assert bridge.links["sim"].adapter.sim_time_us == 90_000


def test_offers_and_answers_are_ordered_by_id(bridge: Any, simulator: Any, autopilot: Any, step: Any) -> None:
    log: list[tuple[str, int]] = []

    class Logging(autopilot):  # type: ignore[misc, valid-type]
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
        bridge.spawn(rover(number), Logging(number), adapter)
    step(bridge)
    ids = [1, 3, 5, 9]  # all offers come first: other processes work in parallel
    assert log == [("offer", number) for number in ids] + [("collect", number) for number in ids]


def test_hooks_follow_every_exchange(bridge: Any, step: Any) -> None:
    times: list[int] = []
    bridge.after_exchange.append(times.append)
    bridge.exchange(0)
    step(bridge, 2)  # without vehicles too: a ground station may send something
    assert times == [0, 20_000, 40_000]


def test_nan_of_one_autopilot_holds_its_last_actuators_and_no_others(
    bridge: Any, simulator: Any, autopilot: Any, step: Any
) -> None:
    bridge.register(simulator())
    bad, good = autopilot((0.5, 0.5)), autopilot((0.5, 0.5))
    bridge.spawn(rover(1), bad, "sim")
    bridge.spawn(rover(2), good, "sim")
    step(bridge, 10)
    bad.commands.motors[0] = np.nan
    good.commands.motors[:2] = 1.0
    step(bridge, 25)
    assert kinds(bridge) == ["rejected"]  # reported once
    assert "vehicle 1 'r1'" in bridge.events[0].subject
    north = [vehicle.sensors.true_north for vehicle in bridge.vehicles]
    assert north == pytest.approx([34 * 0.02, 10 * 0.02 + 24 * 0.04])


def test_a_reset_repeats_the_run_bit_for_bit(bridge: Any, simulator: Any, autopilot: Any, step: Any) -> None:
    bridge.register(simulator(noise=True))
    bridge.spawn(rover(1), flown := autopilot((0.3, 0.7)), "sim")
    step(bridge, 40)
    first, flown.offers = flown.offers, []
    bridge.reset()
    assert bridge.time_us == 0 and flown.resets == 1 and bridge.status()[0].exchanges == 0
    step(bridge, 40)
    assert list(map(repr, flown.offers)) == list(map(repr, first))
    assert bridge.links["sim"].adapter.is_connected and bridge.links["sim"].adapter.connects == 1  # type: ignore[attr-defined]


def test_runs_do_not_depend_on_the_order_of_registration(
    simulator: Any, autopilot: Any, step: Any, make_bridge: Any
) -> None:
    seen = []
    for order in ((1, 2, 3, 4), (4, 2, 3, 1)):
        with make_bridge() as bridge:
            for name in ("odd", "even") if order[0] == 1 else ("even", "odd"):
                bridge.register(simulator(name, noise=True))
            autopilots = {number: autopilot((0.1 * number, 0.2)) for number in order}
            for number in order:
                bridge.spawn(rover(number), autopilots[number], "odd" if number % 2 else "even")
            step(bridge, 30)
            seen.append([list(map(repr, autopilots[number].offers)) for number in (1, 2, 3, 4)])
    assert seen[0] == seen[1]
