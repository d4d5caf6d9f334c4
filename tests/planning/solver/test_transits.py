"""Paths with climbs, and waiting circles in wind."""

from __future__ import annotations

from math import cos, hypot, pi, sin

import numpy as np
import pytest

from paddock.planning.geometry.dubins import dubins, raised, tilted
from paddock.planning.geometry.path import Path, Segment
from paddock.planning.geometry.shapes import InfeasibleError
from paddock.planning.geometry.zones import CircleZone
from paddock.planning.solver.problem import Problem, Vehicle
from paddock.planning.solver.transits import Transits

ORIGIN = (0.0, 0.0, 100.0, 0.0)


def aircraft(**fields: float) -> Vehicle:
    return Vehicle("a", ORIGIN, ORIGIN, 20.0, 80.0, **fields)  # type: ignore[arg-type]


def turn(radius: float) -> Path:
    return Path([Segment(0.0, 0.0, 0.0, 0.0, 2.0 * pi * radius, 1.0 / radius)])


def test_tilted_has_a_constant_slope() -> None:
    level = dubins((0.0, 0.0, 0.0), (500.0, 300.0, 1.0), 80.0)
    path = tilted(level, 50.0, 110.0)
    points = path.points(1.0)
    assert path.start[2] == 50.0 and path.end[2] == pytest.approx(110.0)
    assert path.length == pytest.approx(hypot(level.length, 60.0))
    run = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points[:, :2], axis=0).T))])
    assert np.allclose(points[:, 2], 50.0 + 60.0 * run / run[-1], atol=0.05)
    assert tilted(Path((), ORIGIN), 100.0, 100.0).length == 0.0


def test_raised_needs_no_turn_where_there_is_room() -> None:
    level = dubins((0.0, 0.0, 0.0), (1000.0, 0.0, 0.0), 80.0)
    path = raised(level, 0.0, 100.0, 0.1, turn(80.0))  # 10 % of 1,000 m: just so
    assert path.length == pytest.approx(hypot(1000.0, 100.0)) and path.end[2] == pytest.approx(100.0)


def test_raised_turns_until_it_is_not_too_steep() -> None:
    """150 m at 10 % take 1,500 m; one turn of 80 m is 503 m."""
    level = dubins((0.0, 0.0, 0.0), (1000.0, 0.0, 0.0), 80.0)
    path = raised(level, 0.0, 150.0, 0.1, turn(80.0))
    assert path.length == pytest.approx(hypot(1000.0 + 2.0 * pi * 80.0, 150.0))
    assert max(abs(segment.slope) for segment in path.segments) <= 0.1 + 1e-12
    assert path.end == pytest.approx((1000.0, 0.0, 150.0, 0.0))
    down = raised(level, 400.0, 0.0, 0.1, turn(80.0))  # 4,000 m: six turns
    assert down.length == pytest.approx(hypot(1000.0 + 6 * 2.0 * pi * 80.0, 400.0)) and down.end[2] == pytest.approx(
        0.0
    )


def test_a_climb_is_no_steeper_than_the_vehicle_allows() -> None:
    transits = Transits(Problem((), ()))
    path = transits.path(aircraft(slope=0.15), ORIGIN, (400.0, 0.0, 220.0, None))
    assert path.end[:3] == pytest.approx((400.0, 0.0, 220.0))
    assert path.length >= 120.0 / 0.15 and max(abs(s.slope) for s in path.segments) <= 0.15 + 1e-12


def test_the_radius_that_holds_in_wind() -> None:
    """The bank that turns through the air with 64 m at 20 m/s has to do at 25 m/s over the ground: 64 * 1.25^2."""
    still, windy = Transits(Problem((), ())), Transits(Problem((), (), wind=(3.0, 4.0)))
    assert still.held_radius(aircraft(tightest=64.0)) == 80.0
    assert windy.held_radius(aircraft(tightest=64.0)) == pytest.approx(64.0 * 1.25**2)
    assert windy.held_radius(aircraft()) == pytest.approx(80.0 * 1.25**2)
    assert windy.held_radius(aircraft(tightest=40.0)) == 80.0  # planned turns are wide enough
    rover = Vehicle("r", ORIGIN, ORIGIN, 2.0, 5.0, moves="ground")
    assert windy.held_radius(rover) == 5.0


def test_a_circle_in_wind_closes_over_the_ground() -> None:
    wind = (3.0, 4.0)
    path = Transits(Problem((), (), wind=wind)).circle(aircraft(tightest=64.0), (10.0, 20.0, 100.0, 1.0))
    assert path.end[:2] == pytest.approx((10.0, 20.0), abs=1e-6)
    assert path.length == pytest.approx(2.0 * pi * 100.0, rel=1e-3)
    places = path.points(2.0)[:, :2]
    centre = (10.0 - 100.0 * sin(1.0), 20.0 + 100.0 * cos(1.0))
    assert np.hypot(*(places - centre).T) == pytest.approx(np.full(len(places), 100.0), rel=1e-3)
    assert path.flown > 2.0 * pi * 100.0  # against the wind one loses more than one gains with it


TOWER = CircleZone("tower", 500.0, 0.0, 100.0)


def nearest(path: Path) -> float:
    """Metres between a path and the tower."""
    return float(np.hypot(*(path.points(1.0)[:, :2] - (500.0, 0.0)).T).min()) - 100.0


@pytest.mark.parametrize("wind", [(0.0, 0.0), (3.0, 4.0)])
def test_paths_keep_the_clearance(wind: tuple[float, float]) -> None:
    goal = (1000.0, 0.0, 100.0, None)
    wide = Transits(Problem((), (), (TOWER,), wind, clearance=10.0)).path(aircraft(), ORIGIN, goal)
    assert nearest(wide) > 9.9
    assert nearest(Transits(Problem((), (), (TOWER,), wind)).path(aircraft(), ORIGIN, goal)) < 5.0


def test_an_end_within_the_clearance_is_reached() -> None:
    """4 m from the zone, and from there on around it: the zone itself is never entered."""
    transits, beside = Transits(Problem((), (), (TOWER,), clearance=10.0)), (500.0, 104.0, 100.0, None)
    there = transits.path(aircraft(), ORIGIN, beside)
    assert there.end[:2] == pytest.approx(beside[:2], abs=1e-6) and nearest(there) > 0.0
    back = transits.path(aircraft(), (500.0, 104.0, 100.0, 0.0), (500.0, -300.0, 100.0, None))
    assert nearest(back) > 0.0


def test_a_line_too_near_to_a_zone_is_refused() -> None:
    line = Path([Segment(0.0, 105.0, 0.0, 0.0, 1000.0, 0.0)])
    with pytest.raises(InfeasibleError, match="nearer than 10 m to the no-fly zone 'tower'"):
        Transits(Problem((), (), (TOWER,), clearance=10.0)).over(line, aircraft())
    assert Transits(Problem((), (), (TOWER,), clearance=4.0)).over(line, aircraft()) is line


def test_a_point_on_a_border_is_reported() -> None:
    with pytest.raises(InfeasibleError, match="it lies on the border of the no-fly zone 'tower'"):
        Transits(Problem((), (), (TOWER,), clearance=10.0)).path(aircraft(), ORIGIN, (600.0, 0.0, 100.0, 0.0))
