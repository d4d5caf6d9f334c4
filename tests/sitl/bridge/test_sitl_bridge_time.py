"""Lockstep, free and scaled time: when pilots are due, what is repeated, how a run ends."""

from typing import Any

import numpy as np
import pytest
from paddock.sitl.bridge.timing import Pace, TimeMode

from paddock.errors import InvalidValueError
from paddock.sitl.adapter import Placed
from paddock.sitl.bridge import Bridge, timing


def rover(number: int, north: float = 0.0) -> Placed:
    return Placed(number, f"r{number}", "rover", (north, 0.0, 0.0))


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
