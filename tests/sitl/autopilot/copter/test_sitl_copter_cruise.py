"""Steady flight: a compiled loop goes on with what a mode has asked for, until the mode decides again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import nan
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.sitl.autopilot.autopilot import BuiltInAutopilot
from paddock.sitl.autopilot.control import copter as at
from paddock.sitl.autopilot.control import copter_cruise
from paddock.sitl.autopilot.control.copter_path import CopterHeading, CopterLegs, CopterTrack, LegLimits, MotionLimits
from paddock.sitl.autopilot.estimate import ESTIMATE_WIDTH, Ned
from paddock.sitl.autopilot.group import CHECK, DECIDED, MODE, NOW, STATUS_WIDTH
from paddock.sitl.autopilot.guided import GuidedTarget
from paddock.sitl.autopilot.vehicle_types import Copter
from paddock.sitl.from_scenario import quick_scenario
from paddock.sitl.host import SitlHost

Links = Callable[[int], dict[str, Any]]
LEVEL, SINK = MotionLimits(8.0, 2.5, 5.0), MotionLimits(2.0, 2.5, 5.0)
SLOT = 0.02  # s
GUIDED, TAKEOFF = 4, 22


def moving(seed: int) -> tuple[CopterTrack, CopterHeading]:
    random = np.random.default_rng(seed)
    track, heading = CopterTrack(), CopterHeading()
    track.set_values(random.uniform(-3.0, 3.0, 9).tolist())
    heading.yaw, heading.rate = random.uniform(-3.0, 3.0), random.uniform(-0.5, 0.5)
    return track, heading


def fly(row: np.ndarray, slots: int, place: tuple[float, float] = (0.0, 0.0)) -> list[int]:
    """Run the compiled loop; return for what it asked in each slot."""
    status, estimate = np.zeros((1, STATUS_WIDTH)), np.zeros((1, ESTIMATE_WIDTH))
    estimate[0, at.E_NORTH], estimate[0, at.E_EAST] = place
    asked = []
    for k in range(slots):
        status[0, DECIDED], status[0, NOW] = k * 20_000.0, (k + 1) * 20_000.0
        asks = np.zeros(1, np.int64)
        copter_cruise.cruise(np.array([0]), status, row[None], estimate, asks)
        asked.append(int(asks[0]))
    return asked


@pytest.mark.parametrize("seed", range(6))
def test_the_loop_moves_track_and_heading_as_the_modes_do(seed: int) -> None:
    random = np.random.default_rng(seed)
    target, yaw, velocity = random.uniform(-40.0, 40.0, 3), random.uniform(-9.0, 9.0), random.uniform(-6.0, 6.0, 3)

    def ask(track: CopterTrack, heading: CopterHeading) -> None:
        if seed % 2:
            track.seek(target[0], target[1], LEVEL, SLOT)
            track.seek_height(target[2], 2.5, SINK, SLOT)
            heading.turn_to(yaw, 1.0, SLOT)
        else:
            track.steer(velocity[0], velocity[1], LEVEL, SLOT)
            track.climb(velocity[2], SINK, SLOT)
            heading.spin(0.4, SLOT)

    track, heading = moving(seed)
    ask(track, heading)
    row = np.zeros(copter_cruise.ROW_WIDTH)
    assert copter_cruise.hand_over(row, track, heading, 0.0, None)
    assert fly(row, 10) == [0, 0, 0, 0, CHECK, CHECK, CHECK, CHECK, CHECK, MODE]  # no check was noted
    for _ in range(9):
        ask(track, heading)
    expected = (*track.values(), heading.yaw, heading.rate)
    np.testing.assert_allclose(row[at.NORTH : at.AD + 1], expected[:9], rtol=0.0, atol=1e-12)
    copter_cruise.take_back(row, track, heading, None)
    np.testing.assert_allclose((*track.values(), heading.yaw, heading.rate), expected, rtol=0.0, atol=1e-12)
    assert row[copter_cruise.STEADY] == 0.0


@pytest.mark.parametrize("elapsed", [0.0, 1.0, 3.0, 5.2])
def test_the_loop_follows_legs_around_a_corner(elapsed: float) -> None:
    """From a moving start, and with the next leg begun: two or three legs add up."""
    limits, corner = LegLimits(LEVEL, MotionLimits(2.5, 2.5, 5.0), SINK), (24.0, 2.0, -11.0)
    track, heading = moving(1)
    legs = CopterLegs(track)
    legs.go(corner, limits)
    after: Ned = (24.0, 60.0, -10.0)
    for _ in range(round(elapsed / SLOT) + 1):
        legs.round_corner(after, 2.0, limits)
        legs.advance(SLOT, track)
        heading.spin(0.0, SLOT)
    row = np.zeros(copter_cruise.ROW_WIDTH)
    assert copter_cruise.hand_over(row, track, heading, 0.0, legs)
    place = track.north, track.east
    fly(row, 3, place)
    times = [leg.time + 3 * SLOT for leg in legs.running]
    for _ in range(3):
        legs.advance(SLOT, track)
    np.testing.assert_allclose(row[at.NORTH : at.AD + 1], track.values(), rtol=0.0, atol=1e-9)
    copter_cruise.take_back(row, track, heading, legs)
    assert [leg.time for leg in legs.running] == pytest.approx(times[-len(legs.running) :])


@contextmanager
def flight(links: dict[str, Any]) -> Iterator[tuple[Any, BuiltInAutopilot]]:
    """A copter in GUIDED, 4 s after its take-off."""
    with paddock.load(quick_scenario("copter", 1, mavlink=links)) as sim:
        host = next(o for c in sim.engine.on_close if isinstance(o := getattr(c, "__self__", None), SitlHost))
        pilot = host.vehicles[0].autopilot
        assert isinstance(pilot, BuiltInAutopilot)
        sim.step(750)
        assert pilot.set_mode(GUIDED).accepted and pilot.arm().accepted
        assert pilot.command(TAKEOFF, (0, 0, 0, 0, 0, 0, 5)).accepted
        sim.step(1000)
        yield sim, pilot


def goes(pilot: BuiltInAutopilot, sim: Any) -> np.ndarray:
    here = pilot.estimate
    target = GuidedTarget(position=(here.north + 20.0, here.east, here.down), speed=nan)
    assert pilot.set_guided_target(target).accepted
    places = []
    for _ in range(20):
        sim.step(50)
        places.append(sim.snapshot()["copter"].position)
    return np.array(places)


def test_a_steady_flight_is_the_flight_of_the_mode(own_links: Links, monkeypatch: pytest.MonkeyPatch) -> None:
    links, decisions = own_links(1), []
    update = Copter.update_landed
    monkeypatch.setattr(Copter, "update_landed", lambda self, dt: (decisions.append(dt), update(self, dt))[1])
    with flight(links) as (sim, pilot):
        decisions.clear()
        steady = goes(pilot, sim)
        assert 40 <= len(decisions) <= 60 and pilot.cruising  # 4 s, checks at 10 Hz
        assert sum(decisions) == pytest.approx(4.0, abs=0.11)
    monkeypatch.setattr(Copter, "end_decision", lambda self: None)
    with flight(links) as (sim, pilot):
        decisions.clear()
        alone = goes(pilot, sim)
        assert len(decisions) == pytest.approx(200, abs=1)
    assert np.ptp(alone[:, 1]) > 10.0
    assert np.linalg.norm(steady - alone, axis=1).max() < 0.05


def test_an_input_reaches_the_mode_at_once_and_a_look_changes_nothing(own_links: Links) -> None:
    with flight(own_links(1)) as (sim, pilot):
        while not pilot.cruising:
            sim.step(1)
        before = sim.state_hash()
        seen = pilot.estimate.time_us, pilot.telemetry.relative_altitude
        assert seen[0] == pilot.now_us and sim.state_hash() == before and pilot.cruising
        here = pilot.estimate
        assert pilot.set_guided_target(GuidedTarget(position=(here.north, here.east + 30.0, here.down))).accepted
        assert not pilot.cruising
        sim.step(6)
        assert pilot.telemetry.target_distance == pytest.approx(30.0, abs=0.5)
