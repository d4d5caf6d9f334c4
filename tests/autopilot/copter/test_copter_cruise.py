"""Steady flight: a compiled loop goes on with what a mode has asked for, until the mode decides again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import paddock
from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.autopilot.control import copter as at
from paddock.autopilot.control import copter_cruise
from paddock.autopilot.control.copter_path import CopterHeading, CopterLegs, CopterTrack, LegLimits, MotionLimits
from paddock.autopilot.estimate import ESTIMATE_WIDTH, Ned
from paddock.autopilot.group import CHECK, DECIDED, MODE, NOW, STATUS_WIDTH
from paddock.autopilot.guided import GuidedTarget
from paddock.autopilot.vehicle_types import Copter
from paddock.sitl.from_scenario import quick_scenario
from paddock.sitl.host import SitlHost

Links = Callable[[int], dict[str, Any]]
LEVEL, SINK = MotionLimits(8.0, 2.5, 5.0), MotionLimits(2.0, 2.5, 5.0)
SLOT = 0.02  # s
GUIDED, TAKEOFF = 4, 22


def moving(seed: int) -> tuple[CopterTrack, CopterHeading]:
    random = np.random.default_rng(seed)
    row = np.zeros(copter_cruise.ROW_WIDTH)
    row[copter_cruise.TRACK : copter_cruise.HEADING] = random.uniform(-3.0, 3.0, 9)
    track, heading = CopterTrack(row), CopterHeading(row)
    heading.yaw, heading.rate = random.uniform(-3.0, 3.0), random.uniform(-0.5, 0.5)
    return track, heading


def fly(row: np.ndarray, slots: int, position: tuple[float, float] = (0.0, 0.0)) -> list[int]:
    """Run the compiled loop; return for what it asked in each slot."""
    status, estimate = np.zeros((1, STATUS_WIDTH)), np.zeros((1, ESTIMATE_WIDTH))
    estimate[0, at.E_NORTH], estimate[0, at.E_EAST] = position
    asked = []
    for k in range(slots):
        status[0, DECIDED], status[0, NOW] = k * 20_000.0, (k + 1) * 20_000.0
        requests = np.zeros(1, np.int64)
        copter_cruise.cruise(np.array([0]), status, row[None], estimate, requests)
        asked.append(int(requests[0]))
    return asked


def same_bits(first: Sequence[float], other: Sequence[float]) -> bool:
    return (np.array(first) + 0.0).tobytes() == (np.array(other) + 0.0).tobytes()  # -0.0 is 0.0


@given(seed=st.integers(0, 2**32 - 1), seeks=st.booleans(), near=st.sampled_from([1e-3, 1.0, 40.0]))
def test_the_loop_moves_track_and_heading_as_the_modes_do(seed: int, seeks: bool, near: float) -> None:
    random = np.random.default_rng(seed)
    velocity, yaw = random.uniform(-6.0, 6.0, 3).tolist(), random.uniform(-9.0, 9.0)
    track, heading = moving(seed)
    target = (np.array((track.north, track.east, track.down)) + random.uniform(-near, near, 3)).tolist()

    def ask(track: CopterTrack, heading: CopterHeading) -> None:
        if seeks:
            track.seek(target[0], target[1], LEVEL, SLOT)
            track.seek_height(target[2], 2.5, SINK, SLOT)
            heading.turn_to(yaw, 1.0, SLOT, ahead=0.1)
        else:
            track.steer(velocity[0], velocity[1], LEVEL, SLOT)
            track.climb(velocity[2], SINK, SLOT)
            heading.spin(yaw, SLOT)

    ask(track, heading)
    row = track.row.copy()
    assert copter_cruise.begin_cruise(row, 0.0, None)
    assert fly(row, 10) == [0, 0, 0, 0, CHECK, CHECK, CHECK, CHECK, CHECK, MODE]  # no check was noted
    for _ in range(9):
        ask(track, heading)
    expected = track.row[copter_cruise.TRACK : copter_cruise.LEVEL]
    assert same_bits(row[at.NORTH : at.AD + 1], expected[:9])
    assert same_bits((row[at.YAW], row[at.YAW_RATE]), expected[9:])
    assert same_bits(row[copter_cruise.TRACK : copter_cruise.LEVEL], expected)
    copter_cruise.end_cruise(row, None)
    assert row[copter_cruise.STEADY] == 0.0


@given(seed=st.integers(0, 2**32 - 1), elapsed=st.integers(1, 400), lag=st.sampled_from([0.0, 1.0, 3.1, 5.0]))
def test_the_loop_follows_legs_around_a_corner(seed: int, elapsed: int, lag: float) -> None:
    """From a moving start, with the next leg begun, and behind the track: up to three legs add up."""
    limits, random = LegLimits(LEVEL, MotionLimits(2.5, 2.5, 5.0), SINK), np.random.default_rng(seed)
    track, heading = moving(seed)
    legs = CopterLegs(track)
    corner: Ned = (random.uniform(10.0, 30.0), random.uniform(-9.0, 9.0), random.uniform(-15.0, -5.0))
    after: Ned = (random.uniform(10.0, 30.0), random.uniform(40.0, 60.0), -10.0)
    legs.add_leg(corner, limits)
    for _ in range(elapsed):
        legs.round_corner(after, 2.0, limits)
        legs.advance(SLOT, track)
        heading.spin(0.0, SLOT)
    row = track.row.copy()
    assert copter_cruise.begin_cruise(row, 0.0, legs)
    position, started = (track.north - lag, track.east), list(legs.running)
    fly(row, 3, position)
    for _ in range(3):  # as AUTO does
        behind = track.distance(*position)
        legs.advance(SLOT * max(0.0, min(1.0, 2.0 - behind / copter_cruise.MAX_LAG)), track)
    assert same_bits(row[at.NORTH : at.AD + 1], track.row[copter_cruise.TRACK : copter_cruise.HEADING])
    times = [leg.time for leg in started if leg in legs.running]  # the loop goes on with those that are over
    legs.running = started
    copter_cruise.end_cruise(row, legs)
    assert same_bits([leg.time for leg in started[len(started) - len(times) :]], times)


@contextmanager
def flight(links: dict[str, Any]) -> Iterator[tuple[Any, BuiltInAutopilot]]:
    """A copter in GUIDED, 4 s after its take-off."""
    with paddock.load(quick_scenario("copter", 1, mavlink=links)) as sim:
        host = next(o for c in sim.engine.listeners.close if isinstance(o := getattr(c, "__self__", None), SitlHost))
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
